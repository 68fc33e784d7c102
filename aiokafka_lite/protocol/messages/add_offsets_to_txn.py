"""AddOffsetsToTxn (key 25): announces that a transaction will commit offsets of a group (KIP-98).

v2 PRODUCER_FENCED (KIP-588); v3 flexible; v4 TRANSACTION_ABORTABLE (KIP-890). With
transaction.version 2, TxnOffsetCommit announces this itself.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response


class AddOffsetsToTxnRequest(
    Request["AddOffsetsToTxnResponse"], api_key=25, versions="0-4", flexible="3+"
):
    """Adds the partition of a group's offsets to a transaction."""

    fenced_since = 2
    """The first version that answers PRODUCER_FENCED (KIP-588)."""

    transactional_id: String = field(doc="The transactional id.")
    producer_id: Int64 = field(doc="The producer id in use.")
    producer_epoch: Int16 = field(doc="The epoch in use.")
    group_id: String = field(doc="The group whose offsets will be committed.")


class AddOffsetsToTxnResponse(Response, api_key=25, versions="0-4", flexible="3+"):
    """The result: 0 if the group's offsets are now part of the transaction."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or why it was not added.")


__all__ = ["AddOffsetsToTxnRequest", "AddOffsetsToTxnResponse"]
