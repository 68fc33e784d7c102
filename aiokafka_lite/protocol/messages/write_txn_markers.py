"""WriteTxnMarkers (key 27): markers that end transactions in their partitions (KIP-98).

Transaction coordinators send it, and admin clients that abort a hanging transaction (KIP-664). v1
is the lowest version since Kafka 4.0 (KIP-896), and flexible; v2 the version of transactions
(KIP-1228).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class WriteTxnMarkersRequest(
    Request["WriteTxnMarkersResponse"], api_key=27, versions="1-2", flexible="1+"
):
    """Asks a node to write markers into partitions that it leads."""

    needs = "Kafka 2.8 (KIP-664)"

    markers: list[WritableTxnMarker] = field(doc="The markers, one for each producer.")


class WritableTxnMarker(Struct):
    """The marker of one transaction."""

    producer_id: Int64 = field(doc="Id of the transaction's producer.")
    producer_epoch: Int16 = field(doc="Epoch of the transaction's producer.")
    transaction_result: Bool = field(doc="True for a commit, false for an abort.")
    topics: list[WritableTxnMarkerTopic] = field(doc="The partitions, by topic.")
    coordinator_epoch: Int32 = field(
        doc="Leader epoch of the coordinator's partition of the transaction log."
    )
    transaction_version: Int8 = field(
        versions="2+",
        ignorable=True,
        default=0,
        doc="The version of the transaction; from 2 on its marker has an epoch of its own.",
    )


class WritableTxnMarkerTopic(Struct):
    """The partitions of one topic."""

    name: String = field(doc="Name of the topic.")
    partition_indexes: list[Int32] = field(doc="Indexes of the partitions.")


class WriteTxnMarkersResponse(Response, api_key=27, versions="1-2", flexible="1+"):
    """The results of the markers."""

    markers: list[WritableTxnMarkerResult] = field(doc="The results, by producer.")


class WritableTxnMarkerResult(Struct):
    """The results of one marker."""

    producer_id: Int64 = field(doc="Id of the transaction's producer.")
    topics: list[WritableTxnMarkerTopicResult] = field(doc="The results, by topic.")


class WritableTxnMarkerTopicResult(Struct):
    """The results in one topic."""

    name: String = field(doc="Name of the topic.")
    partitions: list[WritableTxnMarkerPartitionResult] = field(doc="The results, by partition.")


class WritableTxnMarkerPartitionResult(Struct):
    """The result in one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    error_code: Int16 = field(doc="0, or an error code.")


__all__ = [
    "WritableTxnMarker",
    "WritableTxnMarkerPartitionResult",
    "WritableTxnMarkerResult",
    "WritableTxnMarkerTopic",
    "WritableTxnMarkerTopicResult",
    "WriteTxnMarkersRequest",
    "WriteTxnMarkersResponse",
]
