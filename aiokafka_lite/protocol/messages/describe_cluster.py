"""DescribeCluster (key 60): cluster id, controller and brokers (KIP-700).

Flexible from its first version. v1 returns the controllers instead on request (KIP-919); v2 fenced
brokers (KIP-1073).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeClusterRequest(
    Request["DescribeClusterResponse"], api_key=60, versions="0-2", flexible="0+"
):
    """Asks for the cluster without its topics."""

    needs = "Kafka 2.8 (KIP-700)"

    include_cluster_authorized_operations: Bool = field(
        doc="Whether to list the operations this client may perform on the cluster (KIP-430)."
    )
    endpoint_type: Int8 = field(
        versions="1+",
        default=1,
        needs="describing controllers needs Kafka 3.7 (KIP-919)",
        doc="1 for brokers, 2 for controllers (KIP-919).",
    )
    include_fenced_brokers: Bool = field(
        versions="2+",
        needs="listing fenced brokers needs Kafka 4.0 (KIP-1073)",
        doc="Whether to list fenced brokers, too (KIP-1073).",
    )


class DescribeClusterResponse(Response, api_key=60, versions="0-2", flexible="0+"):
    """The cluster as the answering node knows it."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    endpoint_type: Int8 = field(
        versions="1+", default=1, doc="1 for brokers, 2 for controllers (KIP-919)."
    )
    cluster_id: String = field(doc="Id of the cluster.")
    controller_id: Int32 = field(
        default=-1,
        doc="The node to send controller requests to, or -1; a broker names any live broker.",
    )
    brokers: list[DescribeClusterBroker] = field(doc="The nodes.")
    cluster_authorized_operations: Int32 = field(
        default=-0x80000000,
        doc=(
            "Bits of the operations allowed on the cluster; the lowest int32 when not "
            "requested (KIP-430)."
        ),
    )


class DescribeClusterBroker(Struct):
    """One node of the requested kind."""

    broker_id: Int32 = field(doc="Id of the node.")
    host: String = field(doc="Host name or address to connect to.")
    port: Int32 = field(doc="Port to connect to.")
    rack: String | None = field(default=None, doc="Rack or availability zone of the node, or null.")
    is_fenced: Bool = field(
        versions="2+", doc="The broker is registered but takes no part (KIP-1073)."
    )


__all__ = ["DescribeClusterBroker", "DescribeClusterRequest", "DescribeClusterResponse"]
