"""What every test has: both event loops, and a real Apache Kafka where this machine can run one."""

import asyncio
import gc
import importlib.util
import os
import re
import secrets
import signal
import warnings
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvloop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.java_runtime import (
    JavaNotFoundError,
    find_java,
    kafka_clients_jar,
    kafka_jars,
    release_of,
    tools_version,
)
from tests.support import real_kafka
from tests.support.room_times import print_room_times
from tests.support.spread import (
    ONE_SECURED_KAFKA,
    ONE_SESSION,
    OWN_CLUSTERS,
    SpreadByFile,
    group_of,
)
from tests.support.topics import create_topic
from tests.support.twins import outdated_extensions

# How long an example takes says more about the machine than about the code.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("long", settings.get_profile("suite"), max_examples=20_000)
settings.load_profile("suite")

NO_KAFKA = "no Java here: the tests against a real Apache Kafka are skipped"
NO_SPARK = "no Java or no PySpark here: the tests with Spark are skipped"
_ONLY_VERSION = os.environ.get("KAFKA_VERSION")
"""`make test-kafka-4.3.1` runs the tests on this release, and on no other."""
MAIN_VERSION = _ONLY_VERSION or DEFAULT_VERSION
"""What the tests run on that need one real Kafka."""
KAFKA_VERSIONS = (_ONLY_VERSION,) if _ONLY_VERSION else (DEFAULT_VERSION, "3.9.2")
"""What every test against a real Kafka runs on: the newest release and the oldest supported one."""
NEWEST_FIRST = tuple(
    pytest.param(
        version,
        marks=(pytest.mark.real_kafka, *([] if version == MAIN_VERSION else [pytest.mark.soak])),
    )
    for version in KAFKA_VERSIONS
)
"""The newest release, and by `make soak` the oldest: for what needs a node or a JVM for each."""
ON_NEWEST_FIRST = pytest.mark.parametrize("apache_kafka", NEWEST_FIRST, indirect=True)
VERSION_BETWEEN = _ONLY_VERSION or "4.3.1"
"""Has `tests/integration/test_acceptance.py`, and Java's tools."""
_MAKING_WAY = 5
_begun_files: set[Path] = set()
NEAR_THE_LOOP = (
    "tests/adversity/",
    "tests/concurrency/",
    "tests/fuzzing/test_tls_records.py",
    "tests/net/",
    "tests/producer/batch/",
    "tests/scenarios/consumer/rules/test_consumer_rules_cancellation.py",
    "tests/scenarios/test_event_loops.py",
    "tests/scenarios/test_loop_turns.py",
    "tests/security/test_matrix.py",
    "tests/security/test_sessions_under_trouble.py",
)
"""What sockets, TLS, futures, cancellation and turns of a loop decide."""
NIGHTLY = (
    "tests/packaging/",
    "tests/project/test_docs_site.py::test_the_site_builds_without_a_warning",
    "tests/spark/jobs/program/",
    "tests/spark/jobs/stream/",
    *(
        f"tests/spark/jobs/test_{job}.py"
        for job in ("aggregate", "archive", "audit", "decode", "dedupe", "mirror", "replay")
    ),
    "tests/spark/jobs/test_decode_with_a_real_registry.py",
    "tests/spark/jobs/test_round_trip.py",
    "tests/spark/scenarios/test_benchmark.py",
    "tests/spark/scenarios/test_pipeline_example.py",
    "tests/testing/broker/apache/",
)
"""What compares the embedded broker with Apache, builds packages or the site, or runs whole jobs of
Spark. Changes elsewhere hardly touch it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-loop", action="store_true", help="run all async tests on asyncio and on uvloop"
    )
    parser.addoption(
        "--soak-minutes", type=float, default=10.0, help="how long each state machine runs"
    )
    parser.addoption("--soak-seed", type=int, help="play what a state machine did by this seed")


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """An async test of what the loop decides runs twice, on asyncio's own event loop and on uvloop;
    any other on one of them, each always on the same.
    """
    loops = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    marker = item.get_closest_marker("asyncio")
    names_its_loop = marker is not None and "loop_factories" in marker.kwargs
    is_near = item.nodeid.startswith(NEAR_THE_LOOP) or names_its_loop
    if config.getoption("--every-loop") or is_near:
        return loops
    name = list(loops)[zlib.crc32(item.nodeid.partition("[")[0].encode()) % len(loops)]
    return {name: loops[name]}


def pytest_sessionstart() -> None:
    """Tests send these signals, also to processes of their own; a shell's job in the background
    begins without them. In CI, a download that a machine needs once is no part of the first test.

    An extension that is older than its `.py` would be tested in its place.
    """
    if os.environ.get("AIOKAFKA_LITE_PURE") != "1" and (outdated := outdated_extensions()):
        pytest.exit(
            f"newer than what was compiled from it: {', '.join(outdated)}; run `make test`, or"
            f" `python setup.py build_ext --inplace`, or set AIOKAFKA_LITE_PURE=1",
            returncode=pytest.ExitCode.USAGE_ERROR,
        )
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if os.environ.get("CI") == "true":
        with suppress(JavaNotFoundError):  # who needs the jars fails with it
            find_java()
            for version in (*KAFKA_VERSIONS, VERSION_BETWEEN):
                kafka_jars(version)


def pytest_itemcollected(item: pytest.Item) -> None:
    """What starts a real Kafka, and what runs by night, is marked before `-m` chooses."""
    real_kafka.mark_if_real(item)
    if item.nodeid.startswith(NIGHTLY):
        item.add_marker(pytest.mark.nightly)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first."""
    first = (OWN_CLUSTERS, ONE_SESSION, ONE_SECURED_KAFKA)
    items.sort(key=lambda item: group_of(item.nodeid) not in first)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What all tests are made of stays: the garbage collector need not look at it while it grows,
    nor afterwards (`leftovers` runs it after each scenario: half a second each, without this).
    """
    begin_hypothesis()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@settings(derandomize=True, database=None, max_examples=1)
@given(st.none())
def begin_hypothesis(_: None) -> None:
    """Hypothesis makes its random numbers in the first test that is the same in each run. It looks
    for what refers to them, which on Python 3.14 may be frozen by then. So they are made here.
    """


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Beside other processes, those without Spark make way: Spark gives a Python process of its own
    ten seconds to answer, and that cannot be set.

    Before the first test of a file, what earlier ones have left in memory is frozen, as above.
    """
    real_kafka.begins(item)
    real_kafka.require_marked_release(item, _ONLY_VERSION)
    if item.path not in _begun_files:
        _begun_files.add(item.path)
        gc.collect()
        gc.freeze()
    if group_of(item.nodeid) != ONE_SESSION and "PYTEST_XDIST_WORKER" in os.environ:
        os.nice(max(0, _MAKING_WAY - os.nice(0)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SpreadByFile:
    return SpreadByFile(config, log)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """All tests that a machine without Java or PySpark skips stand in one line of the summary. What
    a release of `make test-kafka-X` lacks skips, too, if the client says that it does.
    """
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    lacks = real_kafka.lacking(error, _ONLY_VERSION)
    if lacks is not None:
        report.outcome = "skipped"
        report.longrepr = ("tests/conftest.py", 0, f"Kafka {_ONLY_VERSION}: {lacks}")
    report.longrepr = in_one_line(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for files that cannot be imported without PySpark."""
    report = yield
    report.longrepr = in_one_line(report)
    return report


def in_one_line(report: pytest.TestReport | pytest.CollectReport) -> Any:
    """Say that a test was skipped for what the machine lacks from one place, for all of them."""
    if report.skipped and isinstance(report.longrepr, tuple):
        for reason in (NO_KAFKA, NO_SPARK):
            if reason in report.longrepr[2]:
                return ("tests/conftest.py", 0, reason)
    return report.longrepr


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print a table of the rooms: their cases, and the seconds that these took."""
    print_room_times(terminalreporter)


def require_kafka(version: str) -> None:
    """Skip the asking test, which starts a real Kafka, where that cannot be; in CI it fails.

    It fails anywhere without the marker `real_kafka`.
    """
    real_kafka.require_marker()
    require_jars(version)


def require_jars(version: str) -> None:
    """Skip the asking test where Java or the jars are not to be had; in CI that is a failure."""
    try:
        find_java()
        kafka_jars(version)
        kafka_jars(tools_version(version))
    except JavaNotFoundError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must run the tests against a real Apache Kafka: {error}")
        pytest.skip(NO_KAFKA)


def require_newer_kafka(version: str, lacks: str) -> None:
    """Skip the asking test on Kafka before 4.0, with what that release lacks."""
    if release_of(version) < (4, 0):
        pytest.skip(f"Kafka {version} has no {lacks}")


def require_spark() -> None:
    """Skip the asking test where there is no Java or no PySpark; in CI that is a failure."""
    missing = "PySpark" if importlib.util.find_spec("pyspark") is None else ""
    try:
        find_java()
    except JavaNotFoundError:
        missing = "Java"
    if missing and os.environ.get("CI") == "true":
        pytest.fail(f"CI must run the tests with Spark: there is no {missing}")
    if missing:
        pytest.skip(NO_SPARK)


@pytest.fixture
def others_may_leak() -> Iterator[None]:
    """For tests with other clients: sockets they leave open are collected here, in silence.

    A later test would fail for them, since every warning is an error.
    """
    yield
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()


@pytest.fixture(scope="session", name="kafka_clients_jar")
def _kafka_clients_jar() -> Path:
    """Apache's own jar, which carries the JSON schema of every message."""
    require_jars(DEFAULT_VERSION)
    return kafka_clients_jar(DEFAULT_VERSION)


@pytest.fixture(scope="session")
def running_kafka() -> Iterator[Callable[[str], ApacheKafka]]:
    """One real node per release, started when first asked for and shared by the session."""
    nodes: dict[str, ApacheKafka] = {}

    def start(version: str) -> ApacheKafka:
        require_kafka(version)
        if version not in nodes:
            nodes[version] = ApacheKafka(version).start()
        return nodes[version]

    yield start
    for node in nodes.values():
        node.stop()


@pytest.fixture(params=KAFKA_VERSIONS)
def apache_kafka(
    request: pytest.FixtureRequest, running_kafka: Callable[[str], ApacheKafka]
) -> ApacheKafka:
    """A real Apache Kafka of each tested release; tests use topics of their own."""
    return running_kafka(request.param)


@pytest.fixture(params=["embedded", *KAFKA_VERSIONS])
def any_kafka(
    request: pytest.FixtureRequest, running_kafka: Callable[[str], ApacheKafka]
) -> Iterator[str]:
    """The bootstrap address of the embedded broker and of each real one: the same test for all."""
    if request.param == "embedded":
        with EmbeddedBroker.threaded() as broker:
            yield broker.bootstrap_servers
    else:
        yield running_kafka(request.param).bootstrap_servers


@pytest.fixture
def topic_name(request: pytest.FixtureRequest) -> str:
    """A topic name nobody else uses: from the test's name, with a random end."""
    name = re.sub(r"[^a-zA-Z0-9]+", "-", request.node.name)[:80]
    return f"{name}-{secrets.token_hex(4)}"


@pytest.fixture
def new_topic(topic_name: str) -> Callable[[str], str]:
    """Makes a topic of one partition on the broker at an address, for sync tests."""

    def make(bootstrap_servers: str) -> str:
        asyncio.run(create_topic(bootstrap_servers, topic_name, partitions=1))
        return topic_name

    return make
