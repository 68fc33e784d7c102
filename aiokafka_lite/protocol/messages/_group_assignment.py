"""The assignment of a member, as both describing APIs of the newer groups return it."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int32, String, Uuid, field
from aiokafka_lite.schema.versioned_struct import Struct


class TopicPartitions(Struct):
    """Partitions of one topic."""

    topic_id: Uuid = field(doc="Id of the topic.")
    topic_name: String = field(doc="Name of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


class Assignment(Struct):
    """Partitions by topic."""

    topic_partitions: list[TopicPartitions] = field(doc="The assigned partitions, by topic.")


__all__ = ["Assignment", "TopicPartitions"]
