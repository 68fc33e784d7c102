"""Metadata (key 3): brokers, controller, topics and partition leaders.

v4 may forbid auto-creation; v5 offline replicas; v7 leader epochs (KIP-320); v8 authorized
operations (KIP-430); v9 flexible; v10 topic ids (KIP-516), usable in requests from v12. v13 adds an
error code for the whole response, with which a broker can order a re-bootstrap (KIP-1102).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class MetadataRequest(Request["MetadataResponse"], api_key=3, versions="1-13", flexible="9+"):
    """Asks for the cluster, and for some, all or none of its topics."""

    topic_ids_since = 10
    """The first version that answers with the ids of topics (KIP-516)."""
    reliable_epochs_since = 9
    """The first version that never answers with a stale leader epoch (KAFKA-9212)."""
    ask_by_id_since = 12
    """The first version that can ask for topics by id (KIP-516)."""

    topics: list[MetadataRequestTopic] | None = field(
        doc="The requested topics; null for all of them, an empty list for none."
    )
    allow_auto_topic_creation: Bool = field(
        versions="4+",
        default=True,
        doc="Whether the broker may create a missing topic, if its configuration lets it.",
    )
    include_cluster_authorized_operations: Bool = field(
        versions="8-10",
        needs="the authorized operations of the cluster need Kafka 2.3 (KIP-430)",
        doc="Whether to list the operations this client may perform on the cluster (KIP-430).",
    )
    include_topic_authorized_operations: Bool = field(
        versions="8+",
        needs="the authorized operations of topics need Kafka 2.3 (KIP-430)",
        doc="Whether to list the operations this client may perform on each topic (KIP-430).",
    )


class MetadataRequestTopic(Struct):
    """One topic, by name or, from v12, by id."""

    topic_id: Uuid = field(
        versions="10+",
        ignorable=True,
        doc="Id of the topic; brokers read it from v12 on (KIP-516).",
    )
    name: String | None = field(nullable="10+", doc="Name of the topic; null in a request by id.")


class MetadataResponse(Response, api_key=3, versions="1-13", flexible="9+"):
    """The cluster as the answering broker knows it, which may be out of date."""

    throttle_time_ms: Int32 = field(
        versions="3+",
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    brokers: list[MetadataResponseBroker] = field(doc="The brokers that are up.")
    cluster_id: String | None = field(
        versions="2+",
        default=None,
        ignorable=True,
        doc="Id of the cluster, or null when it has none.",
    )
    controller_id: Int32 = field(
        default=-1, ignorable=True, doc="The broker to send controller requests to, or -1."
    )
    topics: list[MetadataResponseTopic] = field(doc="The requested topics.")
    cluster_authorized_operations: Int32 = field(
        versions="8-10",
        default=-0x80000000,
        doc=(
            "Bits of the operations allowed on the cluster; the lowest int32 when not "
            "requested (KIP-430)."
        ),
    )
    error_code: Int16 = field(
        versions="13+",
        ignorable=True,
        doc="0, or an error of the whole response, such as REBOOTSTRAP_REQUIRED (KIP-1102).",
    )


class MetadataResponseBroker(Struct):
    """A broker and the address under which it listens."""

    node_id: Int32 = field(doc="Id of the broker.")
    host: String = field(doc="Host name or address to connect to.")
    port: Int32 = field(doc="Port to connect to.")
    rack: String | None = field(
        default=None, ignorable=True, doc="Rack or availability zone of the node, or null."
    )


class MetadataResponseTopic(Struct):
    """One topic, or its error."""

    error_code: Int16 = field(doc="0, or why the broker cannot describe this topic.")
    name: String | None = field(
        nullable="12+", doc="Name of the topic; null if the request had an unknown id."
    )
    topic_id: Uuid = field(
        versions="10+",
        ignorable=True,
        doc="Id of the topic; zero if the request had an unknown name (KIP-516).",
    )
    is_internal: Bool = field(ignorable=True, doc="Kafka keeps its own state in this topic.")
    partitions: list[MetadataResponsePartition] = field(doc="The partitions, in no promised order.")
    topic_authorized_operations: Int32 = field(
        versions="8+",
        default=-0x80000000,
        doc=(
            "Bits of the operations allowed on the topic; the lowest int32 when not requested"
            " (KIP-430)."
        ),
    )


class MetadataResponsePartition(Struct):
    """One partition, with its leader and replicas."""

    error_code: Int16 = field(doc="0, or why the partition cannot be used in full.")
    partition_index: Int32 = field(doc="Index of the partition.")
    leader_id: Int32 = field(doc="The leading broker, or -1 while no broker leads.")
    leader_epoch: Int32 = field(
        versions="7+",
        default=-1,
        ignorable=True,
        doc="Grows with each change of leader; an older epoch is out of date (KIP-320).",
    )
    replica_nodes: list[Int32] = field(doc="Brokers with a copy, the preferred leader first.")
    isr_nodes: list[Int32] = field(doc="Brokers whose copy is up to date.")
    offline_replicas: list[Int32] = field(
        versions="5+",
        ignorable=True,
        doc="Brokers with a copy that is not available now (KIP-112).",
    )


__all__ = [
    "MetadataRequest",
    "MetadataRequestTopic",
    "MetadataResponse",
    "MetadataResponseBroker",
    "MetadataResponsePartition",
    "MetadataResponseTopic",
]
