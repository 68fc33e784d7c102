"""The settings of a topic, as Kafka 4.4 declares them.

Does not wait. Source: TopicConfig.java, LogConfig.java, ServerTopicConfigSynonyms.java.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from aiokafka_lite.errors import InvalidConfigurationError
from aiokafka_lite.testing.broker.state.settings.setting import (
    Setting,
    SettingType,
    at_least,
    between,
    between_or,
    by_name,
    one_of,
    parse_all,
    refuse,
)

RETENTION_MS: Final = "retention.ms"
UNLIMITED: Final = -1
"""What a smaller log.retention.ms of the brokers means, too. Source: logRetentionTimeMillis."""
_REPLICA = re.compile(r"\d+:\d+")


def _throttled(name: str, value: list[str]) -> None:
    if value != ["*"] and not all(_REPLICA.fullmatch(each) for each in value):
        refuse(
            name,
            f"[{', '.join(value)}]",
            f"{name} must be the literal '*' or a list of replicas in the following format: "
            "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
        )


TOPIC_SETTINGS: Final[Mapping[str, Setting]] = by_name(
    Setting(
        "segment.bytes",
        SettingType.INT,
        "1073741824",
        at_least(1048576),
        "Bytes of a segment of the log.",
        "log.segment.bytes",
    ),
    Setting(
        "segment.ms",
        SettingType.LONG,
        "604800000",
        at_least(1),
        "Milliseconds after which a new segment begins.",
        "log.roll.ms",
    ),
    Setting(
        "segment.jitter.ms",
        SettingType.LONG,
        "0",
        at_least(0),
        "Random milliseconds that are taken from segment.ms.",
        "log.roll.jitter.ms",
    ),
    Setting(
        "segment.index.bytes",
        SettingType.INT,
        "10485760",
        at_least(4),
        "Bytes of the index of a segment.",
        "log.index.size.max.bytes",
    ),
    Setting(
        "flush.messages",
        SettingType.LONG,
        "9223372036854775807",
        at_least(1),
        "Records after which the log is forced to disk.",
        "log.flush.interval.messages",
    ),
    Setting(
        "flush.ms",
        SettingType.LONG,
        "9223372036854775807",
        at_least(0),
        "Milliseconds after which the log is forced to disk.",
        "log.flush.interval.ms",
    ),
    Setting(
        "retention.bytes",
        SettingType.LONG,
        "-1",
        None,
        "Bytes that a partition keeps; -1 for no limit.",
        "log.retention.bytes",
    ),
    Setting(
        RETENTION_MS,
        SettingType.LONG,
        "604800000",
        at_least(UNLIMITED),
        "Milliseconds that records are kept; -1 for no limit.",
        "log.retention.ms",
    ),
    Setting(
        "max.message.bytes",
        SettingType.INT,
        "1048588",
        at_least(0),
        "Bytes of the largest batch that is written.",
        "message.max.bytes",
    ),
    Setting(
        "max.decompressed.message.bytes",
        SettingType.INT,
        "2147483639",
        between(1, 2147483639),
        "Bytes of the largest record after decompression.",
        "max.decompressed.message.bytes",
    ),
    Setting(
        "index.interval.bytes",
        SettingType.INT,
        "4096",
        at_least(0),
        "Bytes of the log between two entries of its index.",
        "log.index.interval.bytes",
    ),
    Setting(
        "delete.retention.ms",
        SettingType.LONG,
        "86400000",
        at_least(0),
        "Milliseconds that tombstones are kept in a compacted topic.",
        "log.cleaner.delete.retention.ms",
    ),
    Setting(
        "min.compaction.lag.ms",
        SettingType.LONG,
        "0",
        at_least(0),
        "Milliseconds during which a record is not compacted.",
        "log.cleaner.min.compaction.lag.ms",
    ),
    Setting(
        "max.compaction.lag.ms",
        SettingType.LONG,
        "9223372036854775807",
        at_least(1),
        "Milliseconds after which a record is compacted.",
        "log.cleaner.max.compaction.lag.ms",
    ),
    Setting(
        "file.delete.delay.ms",
        SettingType.LONG,
        "60000",
        at_least(0),
        "Milliseconds before a deleted segment leaves the disk.",
        "log.segment.delete.delay.ms",
    ),
    Setting(
        "min.cleanable.dirty.ratio",
        SettingType.DOUBLE,
        "0.5",
        between(0, 1),
        "Share of a log that is not compacted before it is cleaned.",
        "log.cleaner.min.cleanable.ratio",
    ),
    Setting(
        "cleanup.policy",
        SettingType.LIST,
        "delete",
        one_of("compact", "delete"),
        "Whether old segments are deleted, compacted, or both.",
        "log.cleanup.policy",
    ),
    Setting(
        "unclean.leader.election.enable",
        SettingType.BOOLEAN,
        "false",
        None,
        "Whether a replica that is not in sync may lead.",
        "unclean.leader.election.enable",
    ),
    Setting(
        "min.insync.replicas",
        SettingType.INT,
        "1",
        at_least(1),
        "Replicas in sync that a write with acks=all needs.",
        "min.insync.replicas",
    ),
    Setting(
        "compression.type",
        SettingType.STRING,
        "producer",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        "The codec of the stored batches; producer keeps that of the producer.",
        "compression.type",
    ),
    Setting(
        "compression.gzip.level",
        SettingType.INT,
        "-1",
        between_or(1, 9, -1),
        "Level of compression by gzip.",
        "compression.gzip.level",
    ),
    Setting(
        "compression.lz4.level",
        SettingType.INT,
        "9",
        between(1, 17),
        "Level of compression by lz4.",
        "compression.lz4.level",
    ),
    Setting(
        "compression.zstd.level",
        SettingType.INT,
        "3",
        between(-131072, 22),
        "Level of compression by zstd.",
        "compression.zstd.level",
    ),
    Setting(
        "preallocate",
        SettingType.BOOLEAN,
        "false",
        None,
        "Whether the file of a new segment is allocated at once.",
        "log.preallocate",
    ),
    Setting(
        "message.timestamp.type",
        SettingType.STRING,
        "CreateTime",
        one_of("CreateTime", "LogAppendTime"),
        "Whether a record has the time of its creation or of its write.",
        "log.message.timestamp.type",
    ),
    Setting(
        "message.timestamp.before.max.ms",
        SettingType.LONG,
        "9223372036854775807",
        at_least(0),
        "Milliseconds that a timestamp may lie before the broker's time.",
        "log.message.timestamp.before.max.ms",
    ),
    Setting(
        "message.timestamp.after.max.ms",
        SettingType.LONG,
        "3600000",
        at_least(0),
        "Milliseconds that a timestamp may lie after the broker's time.",
        "log.message.timestamp.after.max.ms",
    ),
    Setting(
        "leader.replication.throttled.replicas",
        SettingType.LIST,
        "",
        _throttled,
        "Replicas whose leaders send them less.",
    ),
    Setting(
        "follower.replication.throttled.replicas",
        SettingType.LIST,
        "",
        _throttled,
        "Replicas that fetch less.",
    ),
    Setting(
        "remote.storage.enable",
        SettingType.BOOLEAN,
        "false",
        None,
        "Whether segments are copied to remote storage.",
    ),
    Setting(
        "local.retention.ms",
        SettingType.LONG,
        "-2",
        at_least(-2),
        "Milliseconds that segments stay on local disks; -2: retention.ms.",
        "log.local.retention.ms",
    ),
    Setting(
        "local.retention.bytes",
        SettingType.LONG,
        "-2",
        at_least(-2),
        "Bytes that stay on local disks; -2: retention.bytes.",
        "log.local.retention.bytes",
    ),
    Setting(
        "remote.log.copy.disable",
        SettingType.BOOLEAN,
        "false",
        None,
        "Whether no more segments are copied to remote storage.",
    ),
    Setting(
        "remote.copy.lag.ms",
        SettingType.LONG,
        "0",
        at_least(-1),
        "Milliseconds before a segment is copied to remote storage.",
        "log.remote.copy.lag.ms",
    ),
    Setting(
        "remote.copy.lag.bytes",
        SettingType.LONG,
        "-1",
        at_least(-1),
        "Bytes before a segment is copied to remote storage.",
        "log.remote.copy.lag.bytes",
    ),
    Setting(
        "remote.log.delete.on.disable",
        SettingType.BOOLEAN,
        "false",
        None,
        "Whether remote segments are deleted with remote storage.",
    ),
    Setting(
        "errors.deadletterqueue.group.enable",
        SettingType.BOOLEAN,
        "false",
        None,
        "Whether share groups may write what they cannot deliver here.",
    ),
)
_HIDDEN: Final = {"internal.segment.bytes"}
"""Settings for Kafka's own tests: accepted and stored, never described."""


def parse_topic_settings(given: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a topic's settings.

    Raises: InvalidConfigurationError for an unknown name or a bad value.
    """
    return parse_all(
        TOPIC_SETTINGS, {name: text for name, text in given.items() if name not in _HIDDEN}, "topic"
    )


def check_topic_settings(given: Mapping[str, str], of_brokers: Mapping[str, Any]) -> None:
    """Check the settings of a topic. `of_brokers` has the values altered for all brokers, by the
    names of topics. They stand in for what is not given, as in Kafka, and are not checked alone.

    Raises: InvalidConfigurationError. Source: LogConfig.validate.
    """
    values = {**of_brokers, **parse_topic_settings(given)}
    lowest = values.get("min.compaction.lag.ms", 0)
    highest = values.get("max.compaction.lag.ms", 2**63 - 1)
    if lowest > highest:
        raise InvalidConfigurationError(
            f"conflict topic config setting min.compaction.lag.ms ({lowest}) > "
            f"max.compaction.lag.ms ({highest})"
        )
    if values.get("remote.storage.enable"):
        raise InvalidConfigurationError(
            "Tiered Storage functionality is disabled in the broker. Topic cannot be configured "
            "with remote log storage."
        )


__all__ = [
    "RETENTION_MS",
    "TOPIC_SETTINGS",
    "UNLIMITED",
    "check_topic_settings",
    "parse_topic_settings",
]
