"""A streams group as a call returns it: its topology, and the tasks of its members (KIP-1071).

Does not wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from aiokafka_lite.admin.calls.outcomes import broker_error
from aiokafka_lite.admin.groups.group_values import GroupDescription, MemberDescription
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages import streams_group_describe as message


class StreamsTask(NamedTuple):
    """The work of a subtopology on one partition of its source topics."""

    subtopology_id: str
    partition: int


class InternalTopic(NamedTuple):
    """A topic that the brokers create for an application."""

    name: str
    partitions: int | None
    """None: as many as the application needs."""
    replication_factor: int | None
    """None: the brokers' default."""
    configs: Mapping[str, str]


class Subtopology(NamedTuple):
    """A part of an application, whose tasks run by themselves."""

    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_sink_topics: tuple[str, ...]
    repartition_source_topics: tuple[InternalTopic, ...]
    state_changelog_topics: tuple[InternalTopic, ...]


class TopologyNode(NamedTuple):
    """A step of an application, by the name that the application gave it."""

    name: str
    kind: Literal["source", "processor", "sink"]
    source_topics: tuple[str, ...] = ()
    """What a source reads."""
    sink_topic: str | None = None
    """What a sink writes; None if it chooses the topic by the record."""
    stores: tuple[str, ...] = ()
    """The states that a processor uses."""
    successors: tuple[str, ...] = ()
    """Where its records go."""


class GlobalStore(NamedTuple):
    """A state that each process fills for itself from a whole topic."""

    source: TopologyNode
    processor: TopologyNode


class StreamsTopology(NamedTuple):
    """All that an application computes, as Java's `Topology.describe()` tells it (KIP-1331)."""

    nodes: Mapping[str, tuple[TopologyNode, ...]]
    """The nodes of each subtopology, by its id."""
    global_stores: tuple[GlobalStore, ...]


class StreamsTasks(NamedTuple):
    """The tasks of a member."""

    active: frozenset[StreamsTask] = frozenset()
    standby: frozenset[StreamsTask] = frozenset()
    """Tasks that keep a copy of a state."""
    warmup: frozenset[StreamsTask] = frozenset()
    """Tasks that restore a state, and become active then."""


_STATUSES: Final[dict[int, Literal["not_requested", "not_stored", "available"]]] = {
    0: "not_requested",
    1: "not_stored",
    3: "available",
}
_KINDS: Final[dict[int, Literal["source", "sink"]]] = {1: "source", 3: "sink"}
_NO_TASKS: Final = StreamsTasks()


@dataclass(frozen=True)
class StreamsMemberDescription(MemberDescription):
    """One member of a streams group. `assignment` is what its active tasks read."""

    process_id: str = ""
    """The process, which may have several members."""
    topology_epoch: int = 0
    tasks: StreamsTasks = _NO_TASKS
    target_tasks: StreamsTasks = _NO_TASKS
    user_endpoint: tuple[str, int] | None = None
    """Where the process answers interactive queries."""
    client_tags: Mapping[str, str] = field(default_factory=dict)
    task_offsets: Mapping[StreamsTask, int] = field(default_factory=dict)
    """How far the changelogs of tasks were restored."""
    task_end_offsets: Mapping[StreamsTask, int] = field(default_factory=dict)
    is_classic: bool = False
    """Whether the member has not moved to the streams protocol yet."""


@dataclass(frozen=True)
class StreamsGroupDescription(GroupDescription):
    """One streams group with its topology. Its members are `StreamsMemberDescription`s."""

    assignment_epoch: int = 0
    topology_epoch: int | None = None
    """None: no member has told its topology."""
    subtopologies: tuple[Subtopology, ...] | None = None
    """None: the group is not ready, because source topics are missing or do not fit together."""
    topology: StreamsTopology | None = None
    """Its nodes; None unless `topology_status` is "available"."""
    topology_status: Literal["not_requested", "not_stored", "error", "available"] = "not_requested"
    """Whether `topology` was asked for, and the brokers have it. They need a plugin to store it."""


def streams_group(
    group: message.DescribedGroup, coordinator: int
) -> StreamsGroupDescription | KafkaError:
    """Return a streams group, or its error."""
    error = broker_error(group.error_code, group.error_message, f"group {quoted(group.group_id)}")
    if error is not None:
        return error
    parts = None if group.topology is None else group.topology.subtopologies
    subtopologies = None if parts is None else tuple(_subtopology(each) for each in parts)
    return StreamsGroupDescription(
        group_id=group.group_id,
        type="streams",
        state=group.group_state,
        members=tuple(_member(each, subtopologies or ()) for each in group.members),
        assignor=group.assignor_name or None,
        coordinator=coordinator,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology_epoch=None if group.topology is None else group.topology.epoch,
        subtopologies=subtopologies,
        topology=_topology(group.topology_description),
        topology_status=_STATUSES.get(group.topology_description_status, "error"),
    )


def _topology(described: message.TopologyDescription | None) -> StreamsTopology | None:
    if described is None:
        return None
    return StreamsTopology(
        {
            each.subtopology_id: tuple(_node(node) for node in each.nodes)
            for each in described.subtopologies
        },
        tuple(
            GlobalStore(_node(each.source), _node(each.processor))
            for each in described.global_stores
        ),
    )


def _node(node: message.TopologyDescriptionNode) -> TopologyNode:
    return TopologyNode(
        node.name,
        _KINDS.get(node.node_type, "processor"),
        tuple(node.source_topics),
        node.sink_topic,
        tuple(node.stores),
        tuple(node.successors),
    )


def _subtopology(part: message.Subtopology) -> Subtopology:
    return Subtopology(
        part.subtopology_id,
        tuple(part.source_topics),
        tuple(part.repartition_sink_topics),
        tuple(_internal(each) for each in part.repartition_source_topics),
        tuple(_internal(each) for each in part.state_changelog_topics),
    )


def _internal(topic: message.TopicInfo) -> InternalTopic:
    return InternalTopic(
        topic.name,
        topic.partitions or None,
        topic.replication_factor or None,
        {each.key: each.value for each in topic.topic_configs},
    )


def _member(member: message.Member, parts: Sequence[Subtopology]) -> StreamsMemberDescription:
    tasks, target = _tasks(member.assignment), _tasks(member.target_assignment)
    endpoint = member.user_endpoint
    return StreamsMemberDescription(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        assignment=_read_by(tasks.active, parts),
        member_epoch=member.member_epoch,
        target_assignment=_read_by(target.active, parts),
        process_id=member.process_id,
        rack_id=member.rack_id,
        topology_epoch=member.topology_epoch,
        tasks=tasks,
        target_tasks=target,
        user_endpoint=None if endpoint is None else (endpoint.host, endpoint.port),
        client_tags={each.key: each.value for each in member.client_tags},
        task_offsets=_offsets(member.task_offsets),
        task_end_offsets=_offsets(member.task_end_offsets),
        is_classic=member.is_classic,
    )


def _tasks(assignment: message.Assignment) -> StreamsTasks:
    kinds = (assignment.active_tasks, assignment.standby_tasks, assignment.warmup_tasks)
    return StreamsTasks(*(_ids(each) for each in kinds))


def _ids(tasks: Iterable[message.TaskIds]) -> frozenset[StreamsTask]:
    return frozenset(
        StreamsTask(each.subtopology_id, partition)
        for each in tasks
        for partition in each.partitions
    )


def _offsets(offsets: Iterable[message.TaskOffset]) -> dict[StreamsTask, int]:
    return {StreamsTask(each.subtopology_id, each.partition): each.offset for each in offsets}


def _read_by(
    tasks: Iterable[StreamsTask], parts: Sequence[Subtopology]
) -> frozenset[TopicPartition]:
    """Return what tasks read: their partition of each source topic of the subtopology."""
    topics = {
        part.subtopology_id: (
            *part.source_topics,
            *(each.name for each in part.repartition_source_topics),
        )
        for part in parts
    }
    return frozenset(
        TopicPartition(topic, task.partition)
        for task in tasks
        for topic in topics.get(task.subtopology_id, ())
    )


__all__ = [
    "GlobalStore",
    "InternalTopic",
    "StreamsGroupDescription",
    "StreamsMemberDescription",
    "StreamsTask",
    "StreamsTasks",
    "StreamsTopology",
    "Subtopology",
    "TopologyNode",
    "streams_group",
]
