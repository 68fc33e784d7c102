"""Changes of settings: set, delete, append, subtract; all or none."""

import pytest

from aiokafka_lite.errors import InvalidConfigurationError, InvalidRequestError, UnknownError
from aiokafka_lite.testing.broker.state.config_changes import (
    APPEND,
    DELETE,
    SET,
    SUBTRACT,
    Change,
    change,
    replace,
)
from aiokafka_lite.testing.broker.state.config_resources import (
    TOPIC,
    SettingsOwner,
    resource_of,
)
from tests.testing.broker.bench import Bench


@pytest.fixture
def topic() -> SettingsOwner:
    bench = Bench()
    bench.topic(retention_ms="7")
    return resource_of(bench.cluster, bench.cluster.nodes[1], TOPIC, "t")


def test_single_changes(topic: SettingsOwner) -> None:
    change(topic, [("segment.ms", SET, "8"), ("cleanup.policy", APPEND, "compact")])
    assert topic.current() == {
        "retention.ms": "7",
        "segment.ms": "8",
        "cleanup.policy": "delete,compact",
    }
    change(topic, [("cleanup.policy", APPEND, "delete"), ("retention.ms", DELETE, None)])
    change(topic, [("cleanup.policy", SUBTRACT, "delete"), ("nothing", DELETE, None)])
    assert topic.current() == {"segment.ms": "8", "cleanup.policy": "compact"}


def test_replacing(topic: SettingsOwner) -> None:
    replace(topic, [("segment.ms", "9")], validate_only=True)
    assert topic.current() == {"retention.ms": "7"}
    replace(topic, [("segment.ms", "9")])
    assert topic.current() == {"segment.ms": "9"}
    for settings in ([("segment.ms", None)], [("segment.ms", "1"), ("segment.ms", "2")]):
        with pytest.raises(InvalidRequestError):
            replace(topic, settings)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ([("retention.ms", APPEND, "1")], InvalidConfigurationError),
        ([("retention.ms", 9, "1")], UnknownError),
        ([("segment.ms", SET, "1"), ("nothing", SET, "1")], InvalidConfigurationError),
        ([("segment.ms", SET, "1"), ("segment.ms", DELETE, None)], InvalidRequestError),
        ([("segment.ms", SET, None)], InvalidRequestError),
    ],
)
def test_what_is_refused_changes_nothing(
    topic: SettingsOwner, changes: list[Change], error: type[Exception]
) -> None:
    with pytest.raises(error):
        change(topic, changes)
    assert topic.current() == {"retention.ms": "7"}
