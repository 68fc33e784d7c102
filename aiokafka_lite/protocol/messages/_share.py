"""The structs that ShareFetch and ShareAcknowledge have in common (KIP-932)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int8, Int32, Int64, field
from aiokafka_lite.schema.versioned_struct import Struct


class AcknowledgementBatch(Struct):
    """What became of consecutive records."""

    first_offset: Int64 = field(doc="Offset of the first record.")
    last_offset: Int64 = field(doc="Offset of the last record, which is included.")
    acknowledge_types: list[Int8] = field(
        doc="One type for all records, or one per record: 0 gap, 1 accept, 2 release, 3 reject, "
        "4 renew (KIP-1222)."
    )


class LeaderIdAndEpoch(Struct):
    """The leader to ask instead, named beside an error.

    Both numbers are 0 where no leader is meant, unlike in Fetch and Produce.
    """

    leader_id: Int32 = field(doc="Id of the leading broker, or -1 if it is not known.")
    leader_epoch: Int32 = field(doc="Epoch of that leader, or -1 if it is not known.")


__all__ = ["AcknowledgementBatch", "LeaderIdAndEpoch"]
