"""Each package runs on compat as on aiokafka: the same program, the same output.

`make test-dropin` runs all of them on a real Kafka, and writes the table of docs/moving.md. CI runs
those that are installed for the tests, on the embedded broker.
"""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.compat.dropin.packages import AIOKAFKA, PACKAGES, Package
from tests.support.documents import MOVING

ROOT = Path(__file__).parents[3]
PROGRAMS = Path(__file__).parent / "programs"
ENVIRONMENTS = ROOT / "build" / "dropin"
OUR_DEPENDENCIES = ("anyio>=4.6", "cramjam>=2.8", "fastcrc>=0.5")
TIMEOUT_S = 120
HEAD = "| package | what runs | aiokafka | here |\n|---|---|---|---|\n"
INSTALLED = {"faststream_uses.py": "faststream", "opentelemetry_spans.py": "opentelemetry.sdk"}
"""What CI has, and the module without which it is skipped."""

rows: dict[str, tuple[str, str]] = {}
"""Package -> the results of the run on aiokafka, and of that on compat."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[str]:
    """The address of one real Kafka for all packages, whose new topics have two partitions."""
    with ApacheKafka(DEFAULT_VERSION, properties={"num.partitions": "2"}) as cluster:
        yield cluster.bootstrap_servers


@pytest.fixture(scope="module", autouse=True)
def table() -> Iterator[None]:
    """Writes the table after a run of all packages, where `DROPIN_TABLE` asks for it."""
    yield
    if os.environ.get("DROPIN_TABLE") and len(rows) == len(PACKAGES):
        page = MOVING.read_text()
        begin = page.index("The last run was on ")
        end = page.index("\n\n", page.index(HEAD))
        lines = "".join(
            f"| {each.name} | {each.what} | {rows[each.name][0]} | {rows[each.name][1]} |\n"
            for each in PACKAGES
        )
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        when = datetime.now(UTC).date()
        said = f"The last run was on {when}, with {AIOKAFKA.replace('==', ' ')}, Python {python} "
        said += f"and Apache Kafka {DEFAULT_VERSION}.\n\n"
        MOVING.write_text(page[:begin] + said + HEAD + lines.rstrip("\n") + page[end:])


def interpreter(package: Package) -> str:
    """The interpreter of an environment that has the package, made if there is none yet."""
    wanted = (AIOKAFKA, *OUR_DEPENDENCIES, *package.requirements)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    mark = hashlib.sha256(" ".join((version, *wanted)).encode()).hexdigest()[:8]
    folder = ENVIRONMENTS / f"{package.program.removesuffix('.py')}-{mark}"
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", "--prefer-binary", *wanted]
        subprocess.run(install, check=True, timeout=900)
        done.touch()
    return str(python)


def run(python: str, package: Package, address: str, *options: str) -> tuple[int, str, str]:
    """Its exit code, what it printed, and what it wrote to standard error."""
    mark = f"{time.time_ns():x}"
    environment = {**os.environ, **dict(package.environment)}
    if options:
        environment["PYTHONPATH"] = str(ROOT)
    program = str(PROGRAMS / package.program)
    try:
        done = subprocess.run(
            [python, *options, program, address, mark, *package.arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        return -1, str(error.stdout), f"no end after {TIMEOUT_S} s: {error.stderr!r}"
    return done.returncode, done.stdout.replace(mark, "MARK"), done.stderr


def result(code: int, errors: str) -> str:
    last = errors.strip().rpartition("\n")[2].replace("|", "/")[:80]
    return "works" if code == 0 else f"fails: {last}"


@pytest.mark.real_kafka
@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_package_works_as_on_aiokafka(package: Package, kafka: str) -> None:
    python = interpreter(package)
    code, theirs, their_errors = run(python, package, kafka)
    our_code, ours, our_errors = run(python, package, kafka, "-m", "aiokafka_lite.compat")
    here = result(our_code, our_errors)
    if here == "works" and ours != theirs:
        here = "works otherwise"
    rows[package.name] = (result(code, their_errors), here)
    assert code == 0, their_errors
    assert our_code == 0, our_errors
    assert ours == theirs, our_errors


@pytest.mark.parametrize(
    "package",
    [package for package in PACKAGES if package.program in INSTALLED],
    ids=lambda package: package.name,
)
def test_an_installed_package_works_on_the_embedded_broker(package: Package) -> None:
    if find_spec(INSTALLED[package.program].partition(".")[0]) is None:
        pytest.skip(f"{package.name} is not installed")
    with EmbeddedBroker.threaded(num_partitions=2) as broker:
        address = broker.bootstrap_servers
        code, theirs, their_errors = run(sys.executable, package, address)
        our_code, ours, our_errors = run(
            sys.executable, package, address, "-m", "aiokafka_lite.compat"
        )
    assert (code, our_code) == (0, 0), their_errors + our_errors
    assert ours == theirs, our_errors


def test_the_table_has_each_package() -> None:
    page = MOVING.read_text()
    table = page[page.index(HEAD) :].partition("\n\n")[0].splitlines()[2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in table] == [
        package.name for package in PACKAGES
    ]
