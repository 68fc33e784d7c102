"""What an administrator is told by a group that refuses: who is in it, its state, what to do."""

import re
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import MemberToRemove, OffsetSpec
from aiokafka_lite.admin.groups.group_states import told_state
from aiokafka_lite.errors import (
    GroupAuthorizationFailedError,
    GroupIdNotFound,
    GroupSubscribedToTopicError,
    KafkaError,
    NonEmptyGroup,
    UnknownMemberIdError,
)
from aiokafka_lite.kafka_error import reason_of
from tests.admin.support.group_witness import confluent_member, confluent_sharer
from tests.admin.support.streams_member import streams_member

NOBODY = MemberToRemove(member_id="nobody")
STATE = r"group '{}' has 1 member \(type {}, state Stable, coordinator \d+\)"


async def error_of(call: Awaitable[object]) -> KafkaError:
    """The one error of a call: that which it raises, or that of its only item."""
    try:
        done = await call
    except KafkaError as raised:
        return raised
    assert isinstance(done, dict)
    (error,) = done.values()
    assert isinstance(error, KafkaError), done
    return error


@asynccontextmanager
async def group_of(
    kind: str, address: str, topic: str, admin: AIOKafkaAdminClient
) -> AsyncIterator[None]:
    """A group that is named like the topic, with one member."""
    if kind == "share":
        async with confluent_sharer(address, topic, topic):

            async def is_stable() -> bool:
                group = (await admin.describe_groups([topic])).succeeded.get(topic)
                return group is not None and group.state == "Stable"

            while not await is_stable():
                pass
            yield
    elif kind == "streams":
        async with streams_member(address, topic, topic, 2):
            yield
    else:
        async with confluent_member(address, topic, topic, group_protocol=kind):
            yield


@pytest.mark.needs_kafka("3.9", "kinds of groups")
@pytest.mark.asyncio(loop_factories=["asyncio"])
@pytest.mark.parametrize("kind", ["classic", "consumer", "share", "streams"])
async def test_each_call_tells_members_state_and_remedy(
    admin: AIOKafkaAdminClient,
    any_kafka: str,
    topic: str,
    kind: str,
    request: pytest.FixtureRequest,
) -> None:
    version = request.node.callspec.id
    if kind != "classic" and "3." in version:
        pytest.skip("only newer Kafkas have groups of this kind")
    if kind == "streams" and "embedded" in version:
        pytest.skip("the embedded broker has no streams groups")
    zero, share = TopicPartition(topic, 0), kind == "share"
    state = STATE.format(re.escape(topic), kind)
    offsets = rf"{state}\. Its offsets can be changed only while it has no members: stop them"
    async with group_of(kind, any_kafka, topic, admin):
        plan = await admin.plan_offset_reset(topic, to=OffsetSpec.LATEST, partitions=[zero])
        assert plan.obstacle is not None
        assert re.match(offsets, plan.obstacle)
        assert str(plan).endswith(plan.obstacle)
        refused = NonEmptyGroup if share else UnknownMemberIdError
        wanted: list[tuple[Awaitable[object], type[KafkaError], str]] = [
            (admin.reset_offsets(plan), refused, offsets),
            (
                admin.delete_groups([topic]),
                NonEmptyGroup,
                rf"{state}\. It can be deleted only without members: stop them first",
            ),
        ]
        alter = admin.alter_share_group_offsets if share else admin.alter_consumer_group_offsets
        wanted.append((alter(topic, {zero: 1}), refused, offsets))
        other = admin.alter_consumer_group_offsets if share else admin.alter_share_group_offsets
        if "3." not in version:
            another = rf"{state}\. This call is for groups of another kind"
            wanted.append((other(topic, {zero: 1}), GroupIdNotFound, another))
        if share:
            forgotten = admin.delete_share_group_offsets(topic, [topic])
            wanted.append((forgotten, NonEmptyGroup, offsets))
        else:
            gone = admin.delete_consumer_group_offsets(topic, [zero])
            read = rf"{state}\. Offsets of a topic that they read cannot be deleted: stop the"
            wanted.append((gone, GroupSubscribedToTopicError, read))
        absent = "members of a .* group cannot be removed from outside: stop them"
        if kind in ("classic", "consumer"):
            absent = "'nobody' is none of them, or has left already: look at its description"
        removed = admin.remove_members_from_consumer_group(topic, [NOBODY])
        wanted.append((removed, UnknownMemberIdError, f"{state}; {absent}"))
        for call, error_type, text in wanted:
            error = await error_of(call)
            assert isinstance(error, error_type), text
            assert re.match(text, reason_of(error)), reason_of(error)


@pytest.mark.needs_kafka("2.4", "removal of members")
async def test_a_group_that_is_not_there(admin: AIOKafkaAdminClient, topic: str) -> None:
    error = await error_of(admin.remove_members_from_consumer_group(topic, [NOBODY]))
    assert reason_of(error).startswith(f"there is no group '{topic}'; ")
    missing = await error_of(admin.delete_groups([topic]))
    assert isinstance(missing, GroupIdNotFound)
    assert topic in reason_of(missing)
    plan = await admin.plan_offset_reset(topic, to=0, partitions=[TopicPartition(topic, 0)])
    assert plan.obstacle is None


async def test_a_state_that_the_user_may_not_see() -> None:
    """The refusal is told nevertheless; only who is in the group stays unknown."""
    refusal = GroupAuthorizationFailedError()
    assert told_state("g", refusal) == "group 'g' has members"
    assert told_state("g", GroupIdNotFound()) == "there is no group 'g'"
    long = "g" * 1_000
    assert len(told_state(long, refusal)) < 150
