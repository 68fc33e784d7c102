"""Settings of topics: their defaults are good, and some values do not go together."""

import pytest

from aiokafka_lite.errors import InvalidConfigurationError
from aiokafka_lite.testing.broker.state.settings.topic_settings import (
    TOPIC_SETTINGS,
    check_topic_settings,
    parse_topic_settings,
)


def test_every_default_is_a_good_value() -> None:
    defaults = {name: each.default or "" for name, each in TOPIC_SETTINGS.items()}
    assert parse_topic_settings(defaults)["cleanup.policy"] == ["delete"]
    check_topic_settings(defaults, {})


def test_a_setting_for_kafkas_own_tests_is_accepted() -> None:
    assert parse_topic_settings({"internal.segment.bytes": "10"}) == {}


@pytest.mark.parametrize("replicas", ["*", "0:1,1:2", ""])
def test_throttled_replicas(replicas: str) -> None:
    check_topic_settings({"leader.replication.throttled.replicas": replicas}, {})


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "8"}, r"\(9\) > .* \(8\)"),
        ({"remote.storage.enable": "true"}, "Tiered Storage functionality is disabled"),
        ({"follower.replication.throttled.replicas": "a"}, "Invalid value .a. for"),
        ({"nothing": "1"}, "Unknown topic config name: nothing"),
    ],
)
def test_what_is_refused(given: dict[str, str], text: str) -> None:
    with pytest.raises(InvalidConfigurationError, match=text):
        check_topic_settings(given, {})
