"""DescribeQuorum (key 55): the nodes that agree on the metadata of the cluster (KIP-595).

v1 tells times of fetches (KIP-836). v2 tells directories and addresses, and errors in words
(KIP-853).
"""

from __future__ import annotations

from aiokafka_lite.protocol.messages._quorum import Node
from aiokafka_lite.protocol.messages._quorum import TopicData as DescribedTopic
from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeQuorumRequest(
    Request["DescribeQuorumResponse"], api_key=55, versions="0-2", flexible="0+"
):
    """Asks for the quorum of partitions; the one that exists is __cluster_metadata-0."""

    needs = "Kafka 3.3 with KRaft (KIP-836)"

    topics: list[TopicData] = field(doc="The topics to describe.")


class TopicData(Struct):
    """One topic."""

    topic_name: String = field(doc="Name of the topic.")
    partitions: list[PartitionData] = field(doc="The partitions to describe.")


class PartitionData(Struct):
    """One partition."""

    partition_index: Int32 = field(doc="The partition.")


class DescribeQuorumResponse(Response, api_key=55, versions="0-2", flexible="0+"):
    """The quorum of each partition."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        versions="2+", ignorable=True, doc="What went wrong, in the broker's words, or null."
    )
    topics: list[DescribedTopic] = field(doc="The results, by topic.")
    nodes: list[Node] = field(versions="2+", doc="Addresses of the voters (KIP-853).")


__all__ = ["DescribeQuorumRequest", "DescribeQuorumResponse", "PartitionData", "TopicData"]
