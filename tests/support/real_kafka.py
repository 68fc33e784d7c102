"""Says which tests start a real Apache Kafka: they have the marker `real_kafka`.

`make test-kafka-X` runs them on a release that may lack what some of them are about. Those skip:
by the marker `needs_kafka`, or because the client has said which release a call needs.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

import pytest

from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.testing.java_runtime import release_of
from aiokafka_lite.testing.zookeeper import needs_zookeeper

_FIXTURES: Final = {
    "cluster_of_the_session",
    "real_secured_cluster",
    "running_kafka",
    "running_secured_kafka",
    "transactional_nodes",
}
"""Fixtures that start one. Those with a broker as their parameter ask them."""

UNMARKED: Final = (
    "{} asks for a real Kafka, and has no marker real_kafka. Set the marker, or name the fixture"
    " that starts it in tests/support/real_kafka.py"
)
_running: list[pytest.Item] = []


def starts_a_real_kafka(fixtures: Collection[str], parameters: Mapping[str, object]) -> bool:
    """Return whether a test with these fixtures and parameters starts one.

    With the embedded broker as a parameter it does not, though the fixture could.
    """
    on_embedded = any(str(value).startswith("embedded") for value in parameters.values())
    return not on_embedded and not _FIXTURES.isdisjoint(fixtures)


def mark_if_real(item: pytest.Item) -> None:
    """Set the marker on a test that starts a real Kafka by one of the suite's fixtures."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if starts_a_real_kafka(getattr(item, "fixturenames", ()), parameters):
        item.add_marker(pytest.mark.real_kafka)


_NEEDED: Final = re.compile(r"needs? Kafka (\d+\.\d+)(?:, or (\d+\.\d+))?( with KRaft)?")


def require_marked_release(item: pytest.Item, only_version: str | None) -> None:
    """Skip a test that is marked `needs_kafka("2.6", "types of settings")`, on an older release."""
    marker = item.get_closest_marker("needs_kafka")
    if marker is None:
        return
    needed, what = marker.args
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    version = next((str(each) for each in parameters.values() if _is_version(each)), only_version)
    on_embedded = any(str(value).startswith("embedded") for value in parameters.values())
    if version is not None and not on_embedded and release_of(version) < release_of(needed):
        pytest.skip(f"Kafka {version} has no {what}, which came with {needed}")


def _is_version(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"\d+\.\d+\.\d+", value) is not None


def lacking(error: BaseException | None, version: str | None) -> str | None:
    """Return what that release lacks, if the error says so in the client's words."""
    if error is None or version is None:
        return None
    for leaf in _leaves(error):
        found = _NEEDED.search(str(leaf))
        if isinstance(leaf, UnsupportedVersionError) and found is not None:
            with_any, with_kraft, is_for_kraft = found.groups()
            lowest = with_any if needs_zookeeper(version) else with_kraft or with_any
            is_for_others = needs_zookeeper(version) and is_for_kraft and not with_kraft
            if is_for_others or release_of(lowest) > release_of(version):
                return str(leaf)
    return None


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


def begins(item: pytest.Item) -> None:
    """Note the test that runs from here on."""
    _running[:] = [item]


def require_marker() -> None:
    """Fail the running test if it has no marker: `-m "not real_kafka"` would not leave it out."""
    for item in _running:
        if item.get_closest_marker("real_kafka") is None:
            pytest.fail(UNMARKED.format(item.nodeid))
