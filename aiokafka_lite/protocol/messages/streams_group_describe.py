"""StreamsGroupDescribe (key 89): state, topology and members of streams groups (KIP-1071).

v1 adds the whole description of the topology (KIP-1331), and the assignor (KIP-1357).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, Int64, String, UInt16, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class StreamsGroupDescribeRequest(
    Request["StreamsGroupDescribeResponse"], api_key=89, versions="0-1", flexible="0+"
):
    """Asks for groups of one coordinator."""

    needs = "Kafka 4.2 (KIP-1071)"

    group_ids: list[String] = field(doc="The groups.")
    include_authorized_operations: Bool = field(
        doc="True to get the operations that the client may do (KIP-430)."
    )
    include_topology_description: Bool = field(
        versions="1+",
        needs="the description of a topology needs Kafka 4.4 (KIP-1331)",
        doc="True to get the whole description of the topology (KIP-1331).",
    )


class StreamsGroupDescribeResponse(Response, api_key=89, versions="0-1", flexible="0+"):
    """The groups."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    groups: list[DescribedGroup] = field(doc="One entry per group.")


class DescribedGroup(Struct):
    """One group, or why it could not be described."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(
        default=None, doc="What went wrong, in the broker's words, or null."
    )
    group_id: String = field(doc="The group.")
    group_state: String = field(doc="The state, such as Stable; may be empty.")
    group_epoch: Int32 = field(doc="The group's epoch.")
    assignment_epoch: Int32 = field(doc="The epoch of the assignment.")
    topology: Topology | None = field(
        default=None, doc="What the application computes, or null with an error."
    )
    members: list[Member] = field(doc="The members.")
    authorized_operations: Int32 = field(
        default=-(2**31),
        doc="A bit per operation that the client may do, or -2147483648 (KIP-430).",
    )
    topology_description: TopologyDescription | None = field(
        versions="1+", default=None, doc="The whole topology if the status is 3, otherwise null."
    )
    topology_description_status: Int8 = field(
        versions="1+", doc="0 not asked for; 1 not stored; 2 the broker failed; 3 it is here."
    )
    assignor_name: String | None = field(
        versions="1+",
        default=None,
        ignorable=True,
        doc="The assignor of the next assignment; null with an error (KIP-1357).",
    )


class Topology(Struct):
    """The parts of an application."""

    epoch: Int32 = field(doc="The epoch of the topology.")
    subtopologies: list[Subtopology] | None = field(
        default=None, doc="Its parts; null while source topics are missing."
    )


class Subtopology(Struct):
    """A part of the application that shares no topic in memory with the others."""

    subtopology_id: String = field(doc="Its id.")
    source_topics: list[String] = field(doc="The topics that it reads.")
    repartition_sink_topics: list[String] = field(doc="The internal topics that it writes.")
    state_changelog_topics: list[TopicInfo] = field(doc="The changelogs of its state.")
    repartition_source_topics: list[TopicInfo] = field(doc="The internal topics that it reads.")


class TopicInfo(Struct):
    """An internal topic, which the brokers create."""

    name: String = field(doc="Name of the topic.")
    partitions: Int32 = field(doc="The number of its partitions, or 0.")
    replication_factor: Int16 = field(doc="Replicas of each partition; 0: the default.")
    topic_configs: list[KeyValue] = field(doc="Its settings.")


class KeyValue(Struct):
    """A name and its value."""

    key: String = field(doc="The name.")
    value: String = field(doc="The value.")


class Member(Struct):
    """One member."""

    member_id: String = field(doc="The member's id.")
    member_epoch: Int32 = field(doc="The member's epoch.")
    instance_id: String | None = field(
        default=None, doc="The user's name of a static member, or null for a dynamic one."
    )
    rack_id: String | None = field(default=None, doc="The member's rack, or null.")
    client_id: String = field(doc="The client's id.")
    client_host: String = field(doc="The client's address, after a slash.")
    topology_epoch: Int32 = field(doc="The epoch of the topology that the member has.")
    process_id: String = field(doc="The process, which may have several members.")
    user_endpoint: Endpoint | None = field(
        default=None, doc="Where the process answers interactive queries, or null."
    )
    client_tags: list[KeyValue] = field(doc="Tags for the placement of standby tasks.")
    task_offsets: list[TaskOffset] = field(doc="How far changelogs were restored, by task.")
    task_end_offsets: list[TaskOffset] = field(doc="The ends of changelogs, by task.")
    assignment: Assignment = field(doc="The tasks that the member has.")
    target_assignment: Assignment = field(doc="The tasks that the member is to have.")
    is_classic: Bool = field(doc="The member has not moved to the streams protocol yet.")


class Endpoint(Struct):
    """An address."""

    host: String = field(doc="The host.")
    port: UInt16 = field(doc="The port.")


class TaskOffset(Struct):
    """An offset of one task."""

    subtopology_id: String = field(doc="The subtopology.")
    partition: Int32 = field(doc="The partition.")
    offset: Int64 = field(doc="The sum of the offsets of its changelogs.")


class Assignment(Struct):
    """Tasks by their kind."""

    active_tasks: list[TaskIds] = field(doc="Tasks that compute.")
    standby_tasks: list[TaskIds] = field(doc="Tasks that keep a copy of a state.")
    warmup_tasks: list[TaskIds] = field(doc="Tasks that restore a state, to become active.")


class TaskIds(Struct):
    """Tasks of one subtopology."""

    subtopology_id: String = field(doc="The subtopology.")
    partitions: list[Int32] = field(doc="The partitions of its source topics, one a task.")


class TopologyDescription(Struct):
    """The whole topology (KIP-1331)."""

    subtopologies: list[TopologyDescriptionSubtopology] = field(versions="1+", doc="The parts.")
    global_stores: list[TopologyDescriptionGlobalStore] = field(
        versions="1+", doc="The stores that each process fills for itself."
    )


class TopologyDescriptionSubtopology(Struct):
    """A part with its nodes."""

    subtopology_id: String = field(versions="1+", doc="Its id.")
    nodes: list[TopologyDescriptionNode] = field(versions="1+", doc="Its nodes.")


class TopologyDescriptionNode(Struct):
    """A node of the processing graph."""

    name: String = field(versions="1+", doc="Such as KSTREAM-SOURCE-0000000000.")
    node_type: Int8 = field(versions="1+", doc="1 a source, 2 a processor, 3 a sink.")
    source_topics: list[String] = field(versions="1+", doc="The topics that a source reads.")
    sink_topic: String | None = field(
        versions="1+", default=None, doc="The topic that a sink writes, or null."
    )
    stores: list[String] = field(versions="1+", doc="The stores that a processor uses.")
    successors: list[String] = field(versions="1+", doc="The nodes that follow.")


class TopologyDescriptionGlobalStore(Struct):
    """A store that each process fills for itself."""

    source: TopologyDescriptionNode = field(versions="1+", doc="The node that reads for it.")
    processor: TopologyDescriptionNode = field(versions="1+", doc="The node that fills it.")


__all__ = [
    "Assignment",
    "DescribedGroup",
    "Endpoint",
    "KeyValue",
    "Member",
    "StreamsGroupDescribeRequest",
    "StreamsGroupDescribeResponse",
    "Subtopology",
    "TaskIds",
    "TaskOffset",
    "TopicInfo",
    "Topology",
    "TopologyDescription",
    "TopologyDescriptionGlobalStore",
    "TopologyDescriptionNode",
    "TopologyDescriptionSubtopology",
]
