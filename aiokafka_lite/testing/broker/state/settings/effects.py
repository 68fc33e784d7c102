"""What comes of a setting on the embedded broker: it acts, or it is stored and described.

A setting that is only stored says so in the log, once in a process. Does not wait.
"""

import logging
from collections.abc import Iterable
from typing import Final

logger = logging.getLogger(__name__)

ACTING_TOPIC_SETTINGS: Final = frozenset(
    {
        "cleanup.policy",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.type",
        "compression.zstd.level",
        "delete.retention.ms",
        "errors.deadletterqueue.group.enable",
        "max.decompressed.message.bytes",
        "max.message.bytes",
        "message.timestamp.after.max.ms",
        "message.timestamp.before.max.ms",
        "message.timestamp.type",
        "min.compaction.lag.ms",
        "min.insync.replicas",
        "retention.bytes",
        "retention.ms",
        "segment.bytes",
        "segment.ms",
    }
)
"""All the others are stored. They are about disks, replication or remote storage."""
ACTING_GROUP_SETTINGS: Final = frozenset(
    {
        "consumer.assignment.interval.ms",
        "consumer.heartbeat.interval.ms",
        "consumer.session.timeout.ms",
        "errors.deadletterqueue.copy.record.enable",
        "errors.deadletterqueue.topic.name",
        "share.assignment.interval.ms",
        "share.auto.offset.reset",
        "share.delivery.count.limit",
        "share.heartbeat.interval.ms",
        "share.isolation.level",
        "share.partition.max.record.locks",
        "share.record.lock.duration.ms",
        "share.renew.acknowledge.enable",
        "share.session.timeout.ms",
    }
)
"""The others are those of streams groups, whose members the embedded broker does not serve, and of
the threads in which brokers make assignments.
"""
ACTING_BROKER_SETTINGS: Final = frozenset(
    {
        "cordoned.log.dirs",
        "errors.deadletterqueue.auto.create.topics.enable",
        "errors.deadletterqueue.topic.name.prefix",
    }
)
"""Besides these, what is the default of an acting setting of topics acts, if it is set for all
brokers."""

_told: set[str] = set()


def tell_stored(kind: str, names: Iterable[str], acting: frozenset[str]) -> None:
    """Log the settings that only are stored, each once."""
    for name in names:
        if name not in acting and name not in _told:
            _told.add(name)
            logger.warning(
                "the setting %s of a %s is stored and described, and does nothing on this embedded "
                "broker; docs/guides/testing.md lists those that act",
                name,
                kind,
            )


__all__ = [
    "ACTING_BROKER_SETTINGS",
    "ACTING_GROUP_SETTINGS",
    "ACTING_TOPIC_SETTINGS",
    "tell_stored",
]
