"""Owns the check of offsets that users give to be committed, by a consumer or within a transaction.

Plain functions; error texts are aiokafka's.
"""

from collections.abc import Callable, Mapping

from aiokafka_lite.model import OffsetAndMetadata, TopicPartition

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
    """Return a TopicPartition, or raise TypeError for anything else."""
    if not isinstance(tp, TopicPartition):
        raise TypeError("Key should be TopicPartition instance")
    return tp


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


__all__ = ["OffsetsToCommit", "checked_key", "checked_offsets"]
