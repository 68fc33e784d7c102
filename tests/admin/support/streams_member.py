"""A member of a streams group, by bare requests: no client in Python is one (KIP-1071).

The messages stand here, because the package neither sends nor serves them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from aiokafka_lite.protocol.messages.streams_group_describe import KeyValue, TaskIds, TopicInfo
from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct
from tests.testing.broker.bench import WireClient

PATIENCE_S = 60
_NOT_YET = (14, 15, 16)
"""Errors of a node that loads its first group, or does not coordinate any yet."""


class StreamsGroupHeartbeatRequest(
    Request["StreamsGroupHeartbeatResponse"], api_key=88, versions="0", flexible="0+"
):
    """Joins a group, stays in it, or leaves it."""

    group_id: String = field(doc="The group.")
    member_id: String = field(doc="The member, which has chosen its id.")
    member_epoch: Int32 = field(doc="0 to join, -1 to leave.")
    endpoint_information_epoch: Int32 = field(doc="The newest one that the member knows.")
    instance_id: String | None = field(default=None, doc="The id of a static member.")
    rack_id: String | None = field(default=None, doc="Where the member is.")
    rebalance_timeout_ms: Int32 = field(default=-1, doc="How long it may take to give up tasks.")
    topology: Topology | None = field(default=None, doc="What the application computes.")
    active_tasks: list[TaskIds] | None = field(default=None, doc="What the member has.")
    standby_tasks: list[TaskIds] | None = field(default=None, doc="What it keeps as a copy.")
    warmup_tasks: list[TaskIds] | None = field(default=None, doc="What it prepares.")
    process_id: String | None = field(default=None, doc="The process of the member.")
    user_endpoint: KeyValue | None = field(default=None, doc="Not used here.")
    client_tags: list[KeyValue] | None = field(default=None, doc="For assignments by racks.")
    task_offsets: list[TaskIds] | None = field(default=None, doc="Not used here.")
    task_end_offsets: list[TaskIds] | None = field(default=None, doc="Not used here.")
    shutdown_application: Bool = field(doc="Whether all members shall stop.")


class Topology(Struct):
    """What an application computes."""

    epoch: Int32 = field(doc="Grows with each change.")
    subtopologies: list[Subtopology] = field(doc="Its parts.")


class Subtopology(Struct):
    """A part that shares no state with others."""

    subtopology_id: String = field(doc="Its name.")
    source_topics: list[String] = field(doc="What it reads.")
    source_topic_regex: list[String] = field(doc="What it reads, by expressions.")
    state_changelog_topics: list[TopicInfo] = field(doc="Where its state is kept.")
    repartition_sink_topics: list[String] = field(doc="Where it writes to.")
    repartition_source_topics: list[TopicInfo] = field(doc="What is made for it to read.")
    copartition_groups: list[CopartitionGroup] = field(doc="Topics that go together.")


class CopartitionGroup(Struct):
    """Topics whose partitions must be as many."""

    source_topics: list[Int16] = field(doc="Places in the list of topics.")
    source_topic_regex: list[Int16] = field(doc="Places in the list of expressions.")
    repartition_source_topics: list[Int16] = field(doc="Places in the list of made topics.")


class StreamsGroupHeartbeatResponse(Response, api_key=88, versions="0", flexible="0+"):
    """The member's epoch and tasks."""

    throttle_time_ms: Int32 = field(doc="Milliseconds to pause.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(default=None, doc="What went wrong.")
    member_id: String = field(doc="The member.")
    member_epoch: Int32 = field(doc="Its epoch.")
    heartbeat_interval_ms: Int32 = field(doc="How often to ask.")
    acceptable_recovery_lag: Int32 = field(doc="How far behind a warm copy may be.")
    task_offset_interval_ms: Int32 = field(doc="How often to tell offsets.")
    status: list[Status] | None = field(default=None, doc="What keeps the group from working.")
    active_tasks: list[TaskIds] | None = field(default=None, doc="What the member gets.")
    standby_tasks: list[TaskIds] | None = field(default=None, doc="What it keeps as a copy.")
    warmup_tasks: list[TaskIds] | None = field(default=None, doc="What it prepares.")
    endpoint_information_epoch: Int32 = field(doc="The newest one.")
    partitions_by_user_endpoint: list[KeyValue] | None = field(default=None, doc="Not used here.")


class Status(Struct):
    """What keeps the group from working."""

    status_code: Int8 = field(doc="Its number.")
    status_detail: String = field(doc="Its text.")


@asynccontextmanager
async def streams_member(
    address: str, topic: str, group_id: str, partitions: int
) -> AsyncIterator[str]:
    """Yield the id of a member that has all tasks of a topic, until the block ends.

    It sends no more heartbeats in the block, which must be over before its session ends (45 s).
    """
    member_id = str(uuid4())
    part = Subtopology(subtopology_id="0", source_topics=[topic])
    joining = StreamsGroupHeartbeatRequest(
        group_id=group_id,
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        topology=Topology(epoch=0, subtopologies=[part]),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id="witness",
    )
    async with await WireClient.connect(address) as client:
        async with asyncio.timeout(PATIENCE_S):
            answer = await client.ask(joining)
            while answer.error_code in _NOT_YET or not answer.active_tasks:
                assert answer.error_code in (0, *_NOT_YET), answer
                await asyncio.sleep(0.1)  # the coordinator has no event for what it learns
                answer = await client.ask(joining if answer.error_code else _stay(joining, answer))
            (tasks,) = answer.active_tasks
            assert tasks.partitions == list(range(partitions))
            owned = _stay(joining, answer)
            owned.active_tasks, owned.standby_tasks, owned.warmup_tasks = [tasks], [], []
            assert (await client.ask(owned)).error_code == 0
        yield member_id
        leaving = _stay(joining, answer)
        leaving.member_epoch = -1
        assert (await client.ask(leaving)).error_code == 0


def _stay(
    joining: StreamsGroupHeartbeatRequest, answer: StreamsGroupHeartbeatResponse
) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(
        group_id=joining.group_id, member_id=joining.member_id, member_epoch=answer.member_epoch
    )


__all__ = ["streams_member"]
