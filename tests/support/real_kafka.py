"""Says which tests start a real Apache Kafka: they have the marker `real_kafka`."""

from collections.abc import Collection, Mapping
from typing import Final

import pytest

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


def begins(item: pytest.Item) -> None:
    """Note the test that runs from here on."""
    _running[:] = [item]


def require_marker() -> None:
    """Fail the running test if it has no marker: `-m "not real_kafka"` would not leave it out."""
    for item in _running:
        if item.get_closest_marker("real_kafka") is None:
            pytest.fail(UNMARKED.format(item.nodeid))
