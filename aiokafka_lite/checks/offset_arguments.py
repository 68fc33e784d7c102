"""Checks the offsets that users pass to a commit, of a consumer or within a transaction.

Error texts are aiokafka's. Does not wait.
"""

from collections.abc import Callable, Mapping

from aiokafka_lite.checks.quoted import kind_of, number, quoted
from aiokafka_lite.checks.sendable_text import sendable
from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.checks.value_checks import whole
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.model import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

_MAX_PARTITION = 2**31 - 1
_MAX_OFFSET = 2**63 - 1

OffsetsToCommit = Mapping[TopicPartition, int | tuple[int, str] | OffsetAndMetadata]
CommitListener = Callable[[dict[TopicPartition, OffsetAndMetadata], Exception | None], object]


def checked_offsets(offsets: object) -> dict[TopicPartition, OffsetAndMetadata]:
    """Return offsets to commit, given as int, (int, str) or OffsetAndMetadata by partition.

    Raises: ValueError for an empty mapping, anything but a mapping, or a value of another shape;
    TypeError for a key that is not a TopicPartition, or metadata that is not a str;
    IllegalArgumentError for values that no request can carry; as `checked_topic_partition`.
    """
    if not offsets or not isinstance(offsets, Mapping):
        raise ValueError(f"offsets={kind_of(offsets)}: give a dict of TopicPartition to offset")
    return {checked_key(tp): _checked_offset(tp, value) for tp, value in offsets.items()}


def checked_key(tp: object) -> TopicPartition:
    """Return `tp`, a TopicPartition.

    Raises: TypeError for anything else; as `checked_topic_partition`.
    """
    partition = as_topic_partition(tp)
    if partition is None:
        raise TypeError(
            f"Key should be TopicPartition instance, not {kind_of(tp)}; give "
            "TopicPartition(topic, partition)"
        )
    return checked_topic_partition(partition)


def as_topic_partition(value: object) -> TopicPartition | None:
    """Return the TopicPartition that the value is, or is equal to; None if it is none.

    Faust has a named tuple of its own with the same fields.
    """
    if isinstance(value, TopicPartition):
        return value
    if isinstance(value, tuple) and getattr(value, "_fields", None) == TopicPartition._fields:
        return TopicPartition(*value)
    return None


def checked_topic_partition(tp: TopicPartition) -> TopicPartition:
    """Return the partition, its number as an int; raise for one that no request can name.

    Raises: InvalidTopicError for the topic's name; IllegalArgumentError for the number, naming the
    limits.
    """
    topic: object = tp.topic  # users may build a TopicPartition from anything
    partition: object = tp.partition
    if partition.__class__ is not int:
        partition = whole(partition)
    if not isinstance(topic, str):
        raise IllegalArgumentError(f"{quoted(tp)}: the topic is not a str; give its name")
    check_topic_name(topic)
    if not isinstance(partition, int) or not 0 <= partition <= _MAX_PARTITION:
        raise IllegalArgumentError(
            f"{quoted(tp)}: the partition is not an int from 0 to {_MAX_PARTITION}; give its number"
        )
    return tp if partition is tp.partition else TopicPartition(topic, partition)


def _checked_offset(tp: object, value: object) -> OffsetAndMetadata:
    if value.__class__ is int and 0 <= value <= _MAX_OFFSET:  # as most are
        return OffsetAndMetadata(value, "", -1)
    value = whole(value)
    if isinstance(value, int):
        value = (value, "")
    offset: object = None
    if isinstance(value, tuple) and len(value) == 2:
        offset = whole(value[0])
    if not isinstance(value, tuple) or not isinstance(offset, int) or offset < 0:
        raise ValueError(
            f"{tp}: {_shown(value)} is not an offset; give an int from 0 on, (offset, metadata) or "
            f"OffsetAndMetadata"
        )
    metadata: object = value[1]
    if not isinstance(metadata, str):
        raise TypeError(f"Metadata should be a string, not {kind_of(metadata)}")
    if metadata:
        _check_sendable(f"{tp}: metadata", metadata)
    epoch = whole(getattr(value, "leader_epoch", -1))
    if offset > _MAX_OFFSET or not -1 <= epoch <= _MAX_PARTITION:
        raise IllegalArgumentError(
            f"{tp}: {_shown(value)} is beyond what Kafka can store: offsets end at {_MAX_OFFSET}, "
            f"leader epochs go from -1 to {_MAX_PARTITION}"
        )
    return OffsetAndMetadata(offset, metadata, epoch)


def _check_sendable(name: str, text: object) -> None:
    for fault in sendable(name, text):
        raise IllegalArgumentError(fault)


def checked_group(group_id: object) -> ConsumerGroupMetadata:
    """Return a group given by its name, or as ConsumerGroupMetadata.

    Raises: ValueError for anything else and for an empty name; IllegalArgumentError for a name or
    member id that no request can carry.
    """
    group = ConsumerGroupMetadata(group_id) if isinstance(group_id, str) else group_id
    name: object = group.group_id if isinstance(group, ConsumerGroupMetadata) else None
    if not isinstance(group, ConsumerGroupMetadata) or not isinstance(name, str) or not name:
        raise ValueError(
            f"group_id={quoted(group_id)}: give the group's name, or the consumer's "
            "group_metadata()"
        )
    for field in ("group_id", "member_id", "group_instance_id"):
        _check_sendable(field, getattr(group, field))
    return group


def _shown(value: object) -> str:
    """Return a wrong offset as errors show it: it may be a record."""
    return quoted(value) if isinstance(value, OffsetAndMetadata) else number(value)


__all__ = [
    "CommitListener",
    "OffsetsToCommit",
    "as_topic_partition",
    "checked_group",
    "checked_key",
    "checked_offsets",
    "checked_topic_partition",
]
