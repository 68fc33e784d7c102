"""EndTxn (key 26): a producer commits or aborts its transaction (KIP-98).

v2 PRODUCER_FENCED (KIP-588); v3 flexible; v4 TRANSACTION_ABORTABLE (KIP-890). v5 returns the
producer id and epoch of the next transaction, because each transaction has an epoch of its own
(KIP-890).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response


class EndTxnRequest(Request["EndTxnResponse"], api_key=26, versions="0-5", flexible="3+"):
    """Ends the current transaction."""

    fenced_since = 2
    """The first version that answers PRODUCER_FENCED (KIP-588)."""
    transactions_v2_since = 5
    """The first version that answers with the epoch of the next transaction (KIP-890)."""

    transactional_id: String = field(doc="The transactional id.")
    producer_id: Int64 = field(doc="The producer id in use.")
    producer_epoch: Int16 = field(doc="The epoch in use.")
    committed: Bool = field(doc="True to commit, false to abort.")


class EndTxnResponse(Response, api_key=26, versions="0-5", flexible="3+"):
    """The result: 0 if the transaction ends as requested. The markers in the logs follow later."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    producer_id: Int64 = field(
        versions="5+",
        default=-1,
        ignorable=True,
        doc="The producer id to use from now on; it changes once its epochs are used up (KIP-890).",
    )
    producer_epoch: Int16 = field(
        versions="5+", default=-1, ignorable=True, doc="The epoch to use from now on (KIP-890)."
    )


__all__ = ["EndTxnRequest", "EndTxnResponse"]
