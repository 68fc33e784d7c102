"""The site of the documentation: it builds without a warning, and its links lead somewhere."""

import subprocess
import sys
from pathlib import Path

from aiokafka_lite import errors
from aiokafka_lite.errors import CommitFailedError, KafkaConnectionError
from aiokafka_lite.kafka_error import Fault
from tests.support.documents import ROOT
from tools.docs_site import errors_page, turned
from tools.error_remedies import REMEDIES, remedy_of


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """A link without a target is a warning, and so is a name of the API that does not exist."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(
        [*command, "--site-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    api = (tmp_path / "api" / "index.html").read_text()
    for name in ("AIOKafkaProducer.send_many", "AIOKafkaConsumer.getmany_arrow"):
        assert name.split(".")[1] in api, name
    first = (tmp_path / "index.html").read_text()
    assert 'href="inside/' in first
    assert 'href="options/' in first


def test_links_of_the_repository_become_links_of_the_site() -> None:
    text = "[a](../README.md#b) [c](../examples/quickstart.py) ![d](../benchmarks/speed.svg)"
    assert turned(text, "admin.md") == "[a](index.md#b) [c](examples/quickstart.md) ![d](speed.svg)"
    assert turned("[e](docs/admin.md)", "index.md") == "[e](admin.md)"
    assert turned("[f](../options.md)", "guides/tuning.md") == "[f](../options.md)"


def test_a_link_to_a_file_without_a_page_becomes_text() -> None:
    assert turned("see [`net/`](aiokafka_lite/net) [x](#y)", "inside.md") == "see `net/` [x](#y)"


def test_a_dead_link_stays_for_the_build_to_tell() -> None:
    assert turned("[a](missing.md)", "admin.md") == "[a](missing.md)"


def test_the_page_of_errors_has_each_error_once() -> None:
    page = errors_page()
    kinds = [getattr(errors, name) for name in errors.__all__]
    named = [kind.__name__ for kind in kinds if isinstance(kind, type)]
    rows = [line for line in page.splitlines() if line.startswith("| `") and "Error" in line]
    assert len(rows) == len(set(rows)) > 100
    for kind in (CommitFailedError, KafkaConnectionError):
        assert page.count(f"| `{kind.__name__}` |") == 1
        assert kind.__name__ in named


def test_each_error_says_what_to_do() -> None:
    """The table names no class that is gone, and has a sentence for each error of the user."""
    kinds = [getattr(errors, name) for name in errors.__all__]
    classes = {kind.__name__: kind for kind in kinds if isinstance(kind, type)}
    assert set(REMEDIES) - set(classes) == set()
    users = {name for name, kind in classes.items() if getattr(kind, "fault", None) is Fault.USER}
    assert users - set(REMEDIES) == set()
    page = errors_page()
    for kind in (errors.CommitFailedError, errors.NotCoordinatorForGroupError, errors.UnknownError):
        assert f"| {remedy_of(kind)} |" in page
    assert "retries" in remedy_of(errors.NotCoordinatorForGroupError)
    assert "broker" in remedy_of(errors.UnknownError)
    assert "report" in remedy_of(errors.InvalidRequestError)
