"""The structs in which Fetch and Produce responses name the new leader of a partition (KIP-951)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int32, String, field
from aiokafka_lite.schema.versioned_struct import Struct


class LeaderIdAndEpoch(Struct):
    """The leader to ask instead, named beside an error (KIP-595, KIP-951)."""

    leader_id: Int32 = field(default=-1, doc="Id of the leading broker, or -1 if it is not known.")
    leader_epoch: Int32 = field(default=-1, doc="Epoch of that leader, or -1 if it is not known.")


class NodeEndpoint(Struct):
    """The address of a broker that the response names as a leader (KIP-951)."""

    node_id: Int32 = field(doc="Id of the broker.")
    host: String = field(doc="Host name or address to connect to.")
    port: Int32 = field(doc="Port to connect to.")
    rack: String | None = field(default=None, doc="Rack or availability zone of the node, or null.")


__all__ = ["LeaderIdAndEpoch", "NodeEndpoint"]
