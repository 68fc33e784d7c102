"""DescribeTransactions (key 65): what coordinators know of transactional ids (KIP-664)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeTransactionsRequest(
    Request["DescribeTransactionsResponse"], api_key=65, versions="0", flexible="0+"
):
    """Asks a coordinator for transactional ids."""

    needs = "Kafka 3.0 (KIP-664)"

    transactional_ids: list[String] = field(doc="The transactional ids.")


class DescribeTransactionsResponse(Response, api_key=65, versions="0", flexible="0+"):
    """The state of each transactional id."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    transaction_states: list[TransactionState] = field(doc="The results, by transactional id.")


class TransactionState(Struct):
    """One transactional id."""

    error_code: Int16 = field(doc="0, or an error code.")
    transactional_id: String = field(doc="The transactional id.")
    transaction_state: String = field(doc="The state by its name, such as Ongoing.")
    transaction_timeout_ms: Int32 = field(
        doc="Milliseconds after which the coordinator aborts a transaction."
    )
    transaction_start_time_ms: Int64 = field(
        doc="When the transaction began, in milliseconds since 1970, or -1."
    )
    producer_id: Int64 = field(doc="The producer id in use.")
    producer_epoch: Int16 = field(doc="The epoch in use.")
    topics: list[TopicData] = field(
        doc="The partitions of the transaction that have no marker yet, by topic."
    )


class TopicData(Struct):
    """The partitions of one topic."""

    topic: String = field(doc="Name of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


__all__ = [
    "DescribeTransactionsRequest",
    "DescribeTransactionsResponse",
    "TopicData",
    "TransactionState",
]
