"""The site of the documentation: it builds without a warning, and its links lead somewhere."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import aiokafka_lite
from aiokafka_lite import errors
from aiokafka_lite.errors import CommitFailedError, KafkaConnectionError
from aiokafka_lite.kafka_error import Fault
from tests.support.documents import (
    ADMIN,
    GUIDES,
    MOVING,
    OBSERVABILITY,
    README,
    ROOT,
    SCHEMAS,
    SECURITY,
    SPARK,
)
from tools.docs_site import errors_page, turned, unescaped
from tools.error_remedies import REMEDIES, remedy_of
from tools.other_errors import INSIDE, other_errors
from tools.other_errors import REMEDIES as OTHER_REMEDIES

API = ROOT / "docs" / "api.md"


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
    """The table names no class that is gone, and has a sentence for each that is not retried."""
    kinds = [getattr(errors, name) for name in errors.__all__]
    classes = {kind.__name__: kind for kind in kinds if isinstance(kind, type)}
    assert set(REMEDIES) - set(classes) == set()
    mine = {name for name, kind in classes.items() if getattr(kind, "fault", None) is Fault.USER}
    assert mine - set(REMEDIES) == set()
    page = errors_page()
    for kind in (errors.CommitFailedError, errors.NotCoordinatorForGroupError, errors.UnknownError):
        assert f"| {remedy_of(kind)} |" in page
    for name, kind in vars(errors).items():
        assert f"| `{name}` |" in page or not is_error(name, kind), name
    assert "retries" in remedy_of(errors.NotCoordinatorForGroupError)
    assert "broker" in remedy_of(errors.UnknownError)
    assert "report" in remedy_of(errors.InvalidRequestError)


def is_error(name: str, value: object) -> bool:
    return name in errors.__all__ and isinstance(value, type) and issubclass(value, Exception)


def test_the_page_of_errors_has_those_of_other_modules() -> None:
    """Each can be imported as the page says, and none that a program can get is left out."""
    others = other_errors(set(errors.__all__))
    assert {each.name for each in others} == set(OTHER_REMEDIES)
    for each in others:
        assert each.meaning, each
        if ".spark." not in each.module:  # needs PySpark
            assert issubclass(getattr(import_module(each.module), each.name), Exception), each


def test_errors_that_the_page_leaves_out_exist() -> None:
    source = "".join(path.read_text() for path in (ROOT / "aiokafka_lite").rglob("*.py"))
    assert [name for name in INSIDE if f"class {name}(" not in source] == []


def test_bars_in_code_lose_the_backslash_of_github() -> None:
    assert unescaped("| `str \\| None` | a \\| b |") == "| `str | None` | a \\| b |"


def test_every_page_is_in_the_contents() -> None:
    """With this setting the strict build above refuses a page that nobody can find."""
    assert "nav: {omitted_files: warn}" in (ROOT / "mkdocs.yml").read_text()


def test_each_page_with_programs_is_run_by_a_test() -> None:
    """A page that is new stands in `tests/support/documents.py`, and in the test of its folder."""
    run = {README, ADMIN, MOVING, OBSERVABILITY, SCHEMAS, SECURITY, SPARK, *GUIDES}
    pages = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "benchmarks").glob("*.md"),
    ]
    assert {page for page in pages if "```python" in page.read_text()} == run


def test_a_block_without_a_test_is_no_block_of_python() -> None:
    """Such as `py`, or no language at all, which no test would find."""
    for page in (ROOT / "docs").rglob("*.md"):
        languages = re.findall(r"^```(.*)$", page.read_text(), re.MULTILINE)[::2]
        assert set(languages) <= {"console", "python", "sh", "sql", "text", "toml"}, page


def test_the_page_of_the_api_has_each_public_name() -> None:
    """Under `::: module.name`, or as a member of a module that is there as a whole."""
    shown = re.findall(r"^::: ([\w.]+)$", API.read_text(), re.MULTILINE)
    objects = {path: find(path) for path in shown}
    modules = [each for each in objects.values() if inspect.ismodule(each)]
    for name in sorted({*aiokafka_lite.__all__} - {*errors.__all__, "__version__"}):
        public = getattr(aiokafka_lite, name)
        at_home = any(public is each for each in objects.values())
        assert at_home or any(getattr(module, name, None) is public for module in modules), name


def find(path: str) -> Any:
    """Import a module, or a name of one."""
    try:
        return import_module(path)
    except ImportError:
        module, _, name = path.rpartition(".")
        return getattr(import_module(module), name)
