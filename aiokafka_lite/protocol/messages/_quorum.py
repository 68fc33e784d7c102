"""The parts of a DescribeQuorum response: partitions, replicas and nodes.

They have a file of their own because the request has parts of the same names.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, UInt16, Uuid, field
from aiokafka_lite.schema.versioned_struct import Struct


class TopicData(Struct):
    """One topic."""

    topic_name: String = field(doc="Name of the topic.")
    partitions: list[PartitionData] = field(doc="The partitions.")


class PartitionData(Struct):
    """The quorum of one partition."""

    partition_index: Int32 = field(doc="The partition.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        versions="2+", ignorable=True, doc="What went wrong, in the broker's words, or null."
    )
    leader_id: Int32 = field(doc="Id of the leader, or -1 if it is not known.")
    leader_epoch: Int32 = field(doc="Number of the leadership.")
    high_watermark: Int64 = field(doc="Offset up to which the quorum agrees.")
    current_voters: list[ReplicaState] = field(doc="The nodes that vote.")
    observers: list[ReplicaState] = field(doc="The nodes that only read.")


class ReplicaState(Struct):
    """How far one node is."""

    replica_id: Int32 = field(doc="Id of the node.")
    replica_directory_id: Uuid = field(
        versions="2+", doc="Id of the directory with its metadata log (KIP-853)."
    )
    log_end_offset: Int64 = field(doc="End of its log, or -1 if it is not known.")
    last_fetch_timestamp: Int64 = field(
        versions="1+",
        default=-1,
        ignorable=True,
        doc="Leader's time of its last fetch in milliseconds; -1: the leader, or not known.",
    )
    last_caught_up_timestamp: Int64 = field(
        versions="1+",
        default=-1,
        ignorable=True,
        doc="Leader's time in milliseconds up to which it had read all; -1: not known.",
    )


class Node(Struct):
    """A voter and its addresses (KIP-853)."""

    node_id: Int32 = field(versions="2+", doc="Id of the node.")
    listeners: list[Listener] = field(versions="2+", doc="Its addresses.")


class Listener(Struct):
    """One address of a voter."""

    name: String = field(versions="2+", doc="Name of the listener.")
    host: String = field(versions="2+", doc="Host name or address.")
    port: UInt16 = field(versions="2+", doc="Port.")


__all__ = ["Listener", "Node", "PartitionData", "ReplicaState", "TopicData"]
