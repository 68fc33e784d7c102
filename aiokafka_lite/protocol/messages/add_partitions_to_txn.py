"""AddPartitionsToTxn (key 24): announces the partitions a transaction will write to (KIP-98).

v2 PRODUCER_FENCED (KIP-588); v3 flexible; v4 several transactions at once, and checks without
adding (KIP-890); v5 TRANSACTION_ABORTABLE. Only brokers use v4 and above among themselves; clients
use v3 and below. With transaction.version 2 a Produce request adds its partitions itself, and
clients send no AddPartitionsToTxn.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class AddPartitionsToTxnRequest(
    Request["AddPartitionsToTxnResponse"], api_key=24, versions="0-5", flexible="3+"
):
    """Adds partitions to one transaction or, from v4, to several."""

    fenced_since = 2
    """The first version that answers PRODUCER_FENCED (KIP-588)."""
    brokers_since = 4
    """The first version that has a list of transactions, and only brokers may send (KIP-890)."""

    transactions: list[AddPartitionsToTxnTransaction] = field(
        versions="4+", doc="The transactions and their partitions (KIP-890)."
    )
    v3_and_below_transactional_id: String = field(versions="0-3", doc="The transactional id.")
    v3_and_below_producer_id: Int64 = field(versions="0-3", doc="The producer id in use.")
    v3_and_below_producer_epoch: Int16 = field(versions="0-3", doc="The epoch in use.")
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(
        versions="0-3", doc="The partitions, by topic."
    )


class AddPartitionsToTxnTransaction(Struct):
    """One transaction, in a request from another broker (KIP-890)."""

    transactional_id: String = field(versions="4+", doc="The transactional id.")
    producer_id: Int64 = field(versions="4+", doc="The producer id in use.")
    producer_epoch: Int16 = field(versions="4+", doc="The epoch in use.")
    verify_only: Bool = field(
        versions="4+",
        doc="True to check whether they are part of the transaction, without adding them.",
    )
    topics: list[AddPartitionsToTxnTopic] = field(versions="4+", doc="The partitions, by topic.")


class AddPartitionsToTxnTopic(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[Int32] = field(doc="Indexes of the partitions.")


class AddPartitionsToTxnResponse(Response, api_key=24, versions="0-5", flexible="3+"):
    """The result of each partition: all are added, or none."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(
        versions="4+", ignorable=True, doc="0, or the error of the whole request."
    )
    results_by_transaction: list[AddPartitionsToTxnResult] = field(
        versions="4+", doc="The results, by transaction (KIP-890)."
    )
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(
        versions="0-3", doc="The results, by topic."
    )


class AddPartitionsToTxnResult(Struct):
    """The results of one transaction (KIP-890)."""

    transactional_id: String = field(versions="4+", doc="The transactional id.")
    topic_results: list[AddPartitionsToTxnTopicResult] = field(
        versions="4+", doc="The results, by topic."
    )


class AddPartitionsToTxnTopicResult(Struct):
    """The results of one topic."""

    name: String = field(doc="Name of the topic.")
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = field(
        doc="The results, by partition."
    )


class AddPartitionsToTxnPartitionResult(Struct):
    """The result of one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    partition_error_code: Int16 = field(
        doc="0, or why it was not added; OPERATION_NOT_ATTEMPTED when another partition failed."
    )


__all__ = [
    "AddPartitionsToTxnPartitionResult",
    "AddPartitionsToTxnRequest",
    "AddPartitionsToTxnResponse",
    "AddPartitionsToTxnResult",
    "AddPartitionsToTxnTopic",
    "AddPartitionsToTxnTopicResult",
    "AddPartitionsToTxnTransaction",
]
