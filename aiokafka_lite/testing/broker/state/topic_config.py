"""The settings of a topic that the broker uses, made of its own and of those of all brokers.

All other settings are stored. Does not wait. Source: TopicConfig.java, LogConfig.java.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from aiokafka_lite.testing.broker.state.settings.topic_settings import check_topic_settings

TIMESTAMP_TYPE = "message.timestamp.type"
MAX_MESSAGE_BYTES = "max.message.bytes"
RETENTION_BYTES = "retention.bytes"
MIN_INSYNC_REPLICAS = "min.insync.replicas"
LOG_APPEND_TIME = "LogAppendTime"
USED_SETTINGS = (TIMESTAMP_TYPE, MAX_MESSAGE_BYTES, RETENTION_BYTES, MIN_INSYNC_REPLICAS)
"""The settings that change what the broker does."""


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """A topic's settings: those the broker uses, as numbers, and all of them as given."""

    log_append_time: bool
    max_message_bytes: int
    retention_bytes: int
    """The smaller of the topic's setting and the broker's own limit."""
    min_insync_replicas: int
    settings: Mapping[str, str]


def parse_topic_config(
    settings: Mapping[str, str],
    *,
    max_message_bytes: int,
    log_retention_bytes: int,
    defaults: Mapping[str, str] | None = None,
) -> TopicConfig:
    """Return the settings of a topic. The two numbers are the broker's own values; `defaults` has
    what was altered for all brokers, by the names of topics.

    Raises: InvalidConfigurationError for an unknown setting, or a value out of its range.
    """
    values = check_topic_settings(defaults or {}) | check_topic_settings(settings)
    retention_bytes: int = values.get(RETENTION_BYTES, -1)
    if not 0 <= retention_bytes < log_retention_bytes:
        retention_bytes = log_retention_bytes
    return TopicConfig(
        log_append_time=values.get(TIMESTAMP_TYPE) == LOG_APPEND_TIME,
        max_message_bytes=values.get(MAX_MESSAGE_BYTES, max_message_bytes),
        retention_bytes=retention_bytes,
        min_insync_replicas=values.get(MIN_INSYNC_REPLICAS, 1),
        settings=dict(settings),
    )


__all__ = ["USED_SETTINGS", "TopicConfig", "parse_topic_config"]
