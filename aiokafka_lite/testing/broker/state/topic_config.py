"""The settings of a topic that the broker uses, made of its own and of those of all brokers.

All other settings are stored. Does not wait. Source: TopicConfig.java, LogConfig.java.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.testing.broker.state.settings.topic_settings import (
    TOPIC_SETTINGS,
    parse_topic_settings,
)

_CODECS: Final = {
    "producer": None,
    "uncompressed": CompressionType.NONE,
    **{codec.name.lower(): codec for codec in CompressionType if codec},
}


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """A topic's settings: those the broker uses, as numbers, and all of them as given."""

    log_append_time: bool
    max_message_bytes: int
    max_decompressed_bytes: int
    timestamp_before_ms: int
    timestamp_after_ms: int
    codec: CompressionType | None
    """The codec of stored batches; None keeps that of the producer."""
    codec_level: int | None
    is_compacted: bool
    is_deleted: bool
    """Whether retention applies."""
    retention_bytes: int
    """The smaller of the topic's setting and the broker's own limit."""
    retention_ms: int
    segment_ms: int
    segment_bytes: int
    delete_retention_ms: int
    min_compaction_lag_ms: int
    min_insync_replicas: int
    takes_dead_letters: bool
    settings: Mapping[str, str]


_DEFAULTS: Final[Mapping[str, Any]] = {
    name: setting.parse(setting.default or "") for name, setting in TOPIC_SETTINGS.items()
}


def parse_topic_config(
    settings: Mapping[str, str],
    *,
    max_message_bytes: int,
    log_retention_bytes: int,
    of_brokers: Mapping[str, Any] | None = None,
) -> TopicConfig:
    """Return the settings of a topic. The two numbers are the broker's own values; `of_brokers` has
    the values altered for all brokers, by the names of topics.

    Raises: InvalidConfigurationError for an unknown setting, or a value out of its range.
    """
    values = {
        **_DEFAULTS,
        "max.message.bytes": max_message_bytes,
        **(of_brokers or {}),
        **parse_topic_settings(settings),
    }
    retention_bytes: int = values["retention.bytes"]
    if not 0 <= retention_bytes < log_retention_bytes:
        retention_bytes = log_retention_bytes
    codec = _CODECS[values["compression.type"]]
    level = values.get(f"compression.{values['compression.type']}.level")
    return TopicConfig(
        log_append_time=values["message.timestamp.type"] == "LogAppendTime",
        max_message_bytes=values["max.message.bytes"],
        max_decompressed_bytes=values["max.decompressed.message.bytes"],
        timestamp_before_ms=values["message.timestamp.before.max.ms"],
        timestamp_after_ms=values["message.timestamp.after.max.ms"],
        codec=codec,
        codec_level=None if codec is CompressionType.GZIP and level == -1 else level,
        is_compacted="compact" in values["cleanup.policy"],
        is_deleted="delete" in values["cleanup.policy"],
        retention_bytes=retention_bytes,
        retention_ms=values["retention.ms"],
        segment_ms=values["segment.ms"],
        segment_bytes=values["segment.bytes"],
        delete_retention_ms=values["delete.retention.ms"],
        min_compaction_lag_ms=values["min.compaction.lag.ms"],
        min_insync_replicas=values["min.insync.replicas"],
        takes_dead_letters=values["errors.deadletterqueue.group.enable"],
        settings=dict(settings),
    )


__all__ = ["TopicConfig", "parse_topic_config"]
