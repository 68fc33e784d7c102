"""Topic settings: defaults, bounds, and values that are refused."""

import pytest

from aiokafka_lite.errors import InvalidConfigurationError
from aiokafka_lite.testing.broker.state.topic_config import TopicConfig, parse_topic_config


def parse(**settings: str) -> TopicConfig:
    return parse_topic_config(
        {name.replace("_", "."): value for name, value in settings.items()},
        max_message_bytes=1000,
        log_retention_bytes=5000,
    )


def test_a_topic_without_settings_has_the_brokers() -> None:
    config = parse()
    assert not config.log_append_time
    assert config.max_message_bytes == 1000
    assert config.retention_bytes == 5000
    assert config.min_insync_replicas == 1


def test_settings_of_the_topic_go_first() -> None:
    config = parse(
        message_timestamp_type="LogAppendTime",
        max_message_bytes="10",
        retention_bytes="4000",
        min_insync_replicas="2",
    )
    assert config.log_append_time
    assert (config.max_message_bytes, config.retention_bytes) == (10, 4000)
    assert config.min_insync_replicas == 2


@pytest.mark.parametrize("asked", ["-1", "5001", "999999999"])
def test_memory_stays_bounded_whatever_a_topic_asks_for(asked: str) -> None:
    assert parse(retention_bytes=asked).retention_bytes == 5000


def test_other_settings_are_stored_as_they_are() -> None:
    assert parse(cleanup_policy="compact").settings == {"cleanup.policy": "compact"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("message_timestamp_type", "Sometime"),
        ("max_message_bytes", "-1"),
        ("max_message_bytes", "many"),
        ("retention_ms", "-2"),
        ("min_insync_replicas", "0"),
    ],
)
def test_impossible_values_are_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(InvalidConfigurationError, match=f"{value}.*{name.replace('_', '.')}"):
        parse(**{name: value})
