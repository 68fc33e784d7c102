"""Owns the check of offsets that users give to be committed, by a consumer or within a transaction.

Plain functions; error texts are aiokafka's.
"""

from collections.abc import Callable, Mapping

from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.topic_name import check_topic_name

_MAX_PARTITION = 2**31 - 1

OffsetsToCommit = Mapping[TopicPartition, int | tuple[int, str] | OffsetAndMetadata]
CommitListener = Callable[[dict[TopicPartition, OffsetAndMetadata], Exception | None], object]


def checked_offsets(offsets: object) -> dict[TopicPartition, OffsetAndMetadata]:
    """Return offsets to commit, given as int, (int, str) or OffsetAndMetadata by partition.

    Raises: ValueError for an empty mapping, anything but a mapping, or a value of another shape;
    TypeError for keys that are no TopicPartition and metadata that is no str.
    """
    if not offsets or not isinstance(offsets, Mapping):
        raise ValueError(f"offsets={offsets!r}: give a dict of TopicPartition to offset")
    return {checked_key(tp): _checked_offset(tp, value) for tp, value in offsets.items()}


def checked_key(tp: object) -> TopicPartition:
    """Return a TopicPartition, or raise TypeError for anything else. Raises also: as
    `check_topic_partition`."""
    if not isinstance(tp, TopicPartition):
        raise TypeError("Key should be TopicPartition instance")
    check_topic_partition(tp)
    return tp


def check_topic_partition(tp: TopicPartition) -> None:
    """Raise for a partition that cannot exist, and that requests therefore cannot be about.

    Raises: InvalidTopicError for the topic's name; IllegalArgumentError for the number, naming the
    limits.
    """
    topic: object = tp.topic  # nobody checks what users make TopicPartitions of
    partition: object = tp.partition
    if not isinstance(topic, str):
        raise IllegalArgumentError(f"{tp!r}: the topic is no str; give its name")
    check_topic_name(topic)
    if not isinstance(partition, int) or not 0 <= partition <= _MAX_PARTITION:
        raise IllegalArgumentError(
            f"{tp!r}: the partition is no int from 0 to {_MAX_PARTITION}; give its number"
        )


def _checked_offset(tp: object, value: object) -> OffsetAndMetadata:
    if isinstance(value, int):
        value = (value, "")
    if not isinstance(value, tuple) or len(value) != 2 or not _is_offset(value[0]):
        raise ValueError(
            f"{tp}: {value!r} is no offset; give an int from 0 on, (offset, metadata) or "
            f"OffsetAndMetadata"
        )
    offset, metadata = value
    if not isinstance(metadata, str):
        raise TypeError("Metadata should be a string")
    return OffsetAndMetadata(offset, metadata, getattr(value, "leader_epoch", -1))


def _is_offset(value: object) -> bool:
    return isinstance(value, int) and value >= 0


__all__ = ["OffsetsToCommit", "check_topic_partition", "checked_key", "checked_offsets"]
