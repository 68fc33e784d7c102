"""CreateTopics (key 19), answered by the controller.

v2 is the lowest version since Kafka 4.0 (KIP-896). v4 the broker's defaults for partitions and
replication (KIP-464); v5 flexible, configurations in the response (KIP-525); v6 quota errors
(KIP-599); v7 topic ids (KIP-516).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class CreateTopicsRequest(
    Request["CreateTopicsResponse"], api_key=19, versions="2-7", flexible="5+"
):
    """Asks for new topics."""

    defaults_since = 4
    """The first version that may leave the partition count to the broker (KIP-464)."""

    topics: list[CreatableTopic] = field(doc="The topics to create.")
    timeout_ms: Int32 = field(default=60000, doc="Milliseconds to wait until the topics exist.")
    validate_only: Bool = field(doc="Only check, change nothing.")


class CreatableTopic(Struct):
    """One topic to create."""

    name: String = field(doc="Name of the topic.")
    num_partitions: Int32 = field(
        doc="Number of partitions; -1 for the broker's default or with assignments (KIP-464)."
    )
    replication_factor: Int16 = field(
        doc="Copies of each partition; -1 for the broker's default or with assignments (KIP-464)."
    )
    assignments: list[CreatableReplicaAssignment] = field(
        doc="Replicas chosen by hand, or empty to leave it to the broker."
    )
    configs: list[CreatableTopicConfig] = field(doc="Configuration values.")


class CreatableReplicaAssignment(Struct):
    """The brokers chosen by hand for one partition."""

    partition_index: Int32 = field(doc="Index of the partition.")
    broker_ids: list[Int32] = field(doc="The brokers, the preferred leader first.")


class CreatableTopicConfig(Struct):
    """One configuration value that differs from the broker's default."""

    name: String = field(doc="Name of the configuration.")
    value: String | None = field(doc="Its value, or null for the default.")


class CreateTopicsResponse(Response, api_key=19, versions="2-7", flexible="5+"):
    """The result of each topic."""

    throttle_time_ms: Int32 = field(
        ignorable=True,
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219).",
    )
    topics: list[CreatableTopicResult] = field(doc="The results, by topic.")


class CreateTopicsSummary(CreateTopicsResponse):
    """The result of each topic, without its configuration: some forty values a topic."""

    unread = ("topics.configs",)


class CreateTopicsForSummary(CreateTopicsRequest):
    """Asks for new topics, and reads the response without their configurations."""

    response_type = CreateTopicsSummary


class CreatableTopicResult(Struct):
    """The result for one topic."""

    name: String = field(doc="Name of the topic.")
    topic_id: Uuid = field(versions="7+", ignorable=True, doc="Id of the new topic (KIP-516).")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        ignorable=True, doc="What went wrong, in the broker's words, or null."
    )
    topic_config_error_code: Int16 = field(
        versions="5+",
        tag=0,
        ignorable=True,
        doc="0, or why the configuration is withheld (KIP-525).",
    )
    num_partitions: Int32 = field(
        versions="5+", default=-1, ignorable=True, doc="Number of partitions it got (KIP-525)."
    )
    replication_factor: Int16 = field(
        versions="5+", default=-1, ignorable=True, doc="Copies it got (KIP-525)."
    )
    configs: list[CreatableTopicConfigs] | None = field(
        versions="5+",
        ignorable=True,
        doc="Its configuration, or null when the client may not see it (KIP-525).",
    )


class CreatableTopicConfigs(Struct):
    """One configuration value of the new topic (KIP-525)."""

    name: String = field(doc="Name of the configuration.")
    value: String | None = field(doc="Its value; null when it is sensitive.")
    read_only: Bool = field(doc="It cannot be changed.")
    config_source: Int8 = field(
        default=-1,
        ignorable=True,
        doc="Where the value comes from, as numbered by DescribeConfigs.",
    )
    is_sensitive: Bool = field(doc="It is a secret.")


__all__ = [
    "CreatableReplicaAssignment",
    "CreatableTopic",
    "CreatableTopicConfig",
    "CreatableTopicConfigs",
    "CreatableTopicResult",
    "CreateTopicsForSummary",
    "CreateTopicsRequest",
    "CreateTopicsResponse",
    "CreateTopicsSummary",
]
