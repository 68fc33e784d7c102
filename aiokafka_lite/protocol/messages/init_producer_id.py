"""InitProducerId (key 22): a producer id and epoch, for idempotence and transactions (KIP-98).

v2 flexible; v3 the current id and epoch, to continue after an epoch error (KIP-360); v4
PRODUCER_FENCED (KIP-588); v5 TRANSACTION_ABORTABLE (KIP-890). v6 (two-phase commit, KIP-939) is not
stable at the broker.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response


class InitProducerIdRequest(
    Request["InitProducerIdResponse"], api_key=22, versions="0-5", flexible="2+"
):
    """Asks for a producer id, or for a new epoch of the present one."""

    fenced_since = 4
    """The first version that answers PRODUCER_FENCED (KIP-588)."""

    transactional_id: String | None = field(
        doc="The transactional id, or null for idempotence alone."
    )
    transaction_timeout_ms: Int32 = field(
        doc="Milliseconds after which the broker aborts an idle transaction."
    )
    producer_id: Int64 = field(
        versions="3+",
        default=-1,
        needs="going on with the same producer id needs Kafka 2.5 (KIP-360)",
        doc="The id in use, to keep it, or -1 (KIP-360).",
    )
    producer_epoch: Int16 = field(
        versions="3+",
        default=-1,
        needs="going on with the same producer id needs Kafka 2.5 (KIP-360)",
        doc="The epoch in use, which must be the broker's, or -1 (KIP-360).",
    )


class InitProducerIdResponse(Response, api_key=22, versions="0-5", flexible="2+"):
    """The producer id and epoch to stamp on batches."""

    throttle_time_ms: Int32 = field(
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    error_code: Int16 = field(doc="0, or an error code.")
    producer_id: Int64 = field(default=-1, doc="The producer id to use.")
    producer_epoch: Int16 = field(doc="The epoch to use.")


__all__ = ["InitProducerIdRequest", "InitProducerIdResponse"]
