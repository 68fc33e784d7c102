"""Lag and resets of groups, on the embedded broker and on real Kafka."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import OffsetSpec, PartitionLag, ShiftBy
from aiokafka_lite.admin.groups.offset_reset_plan import ResetTarget
from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaConnectionError,
    KafkaTimeoutError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.admin.support.group_witness import confluent_member, seen_offsets


async def test_the_lag_of_a_group(admin: AIOKafkaAdminClient, topic: str) -> None:
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    assert await admin.group_lag(topic) == {}
    await admin.alter_consumer_group_offsets(topic, {one: 0, zero: 4})
    expected = {zero: PartitionLag(4, 10, 6), one: PartitionLag(0, 0, 0)}
    found = await admin.group_lag(topic)
    assert found == expected
    assert list(found) == [zero, one]
    assert await admin.group_lag(topic, "read_committed") == expected


async def test_the_lag_of_an_offset_beyond_the_end_is_negative(
    admin: AIOKafkaAdminClient, topic: str
) -> None:
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    await admin.alter_consumer_group_offsets(topic, {zero: 17, one: 5})
    beyond = {zero: PartitionLag(17, 10, -7), one: PartitionLag(5, 0, -5)}
    assert await admin.group_lag(topic) == beyond
    assert await admin.group_lag(topic, "read_committed") == beyond


async def test_a_reset_is_planned_and_carried_out(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str
) -> None:
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    await admin.alter_consumer_group_offsets(topic, {zero: 5})
    targets: dict[ResetTarget, int] = {
        OffsetSpec.EARLIEST: 0,
        OffsetSpec.LATEST: 10,
        datetime.fromtimestamp(1.003, UTC): 3,
        timedelta(minutes=1): 10,
        7: 7,
        ShiftBy(-2): 3,
    }
    for to, offset in targets.items():
        plan = await admin.plan_offset_reset(topic, to=to)
        assert plan.offsets == {zero: offset}
        assert plan.resets[zero].current == 5
        assert await admin.list_consumer_group_offsets(topic) == {zero: (5, "")}
    by_name = await admin.plan_offset_reset(topic, to=1, partitions=[topic])
    assert by_name.offsets == {zero: 1, one: 0}
    both = await admin.plan_offset_reset(topic, to={zero: 2, one: 0})
    assert await admin.reset_offsets(both) == {zero: None, one: None}
    assert await seen_offsets(any_kafka, topic) == {zero: 2, one: 0}


def raise_first(answer: Any) -> None:
    for error in answer.failed.values():
        raise error


@pytest.mark.parametrize("name", ["group_lag", "plan_offset_reset"])
async def test_all_steps_of_a_call_share_its_bound(name: str) -> None:
    clock = FakeClock()
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, clock=clock) as admin,
    ):
        broker.create_topic("t", 1)
        await admin.alter_consumer_group_offsets("g", {TopicPartition("t", 0): 0})
        broker.faults.stall(OffsetFetchRequest)
        target: dict[str, Any] = {"to": OffsetSpec.LATEST} if name == "plan_offset_reset" else {}
        call = asyncio.create_task(getattr(admin, name)("g", **target, timeout_ms=5_000))
        await broker.wait_until(lambda: bool(broker.requests_of(OffsetFetchRequest)))
        await clock.advance(3)
        broker.faults.release()
        broker.faults.stall(ListOffsetsRequest)
        await broker.wait_until(lambda: bool(broker.requests_of(ListOffsetsRequest)))
        await clock.advance(2.1)
        assert call.done()
        with pytest.raises(KafkaTimeoutError, match="no result within 2 s"):
            raise_first(await call)
        broker.faults.clear()


async def test_a_group_with_members_is_not_reset(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str
) -> None:
    zero = TopicPartition(topic, 0)
    await admin.alter_consumer_group_offsets(topic, {zero: 5})
    plan = await admin.plan_offset_reset(topic, to=OffsetSpec.EARLIEST)
    async with confluent_member(any_kafka, topic, topic):
        done = await admin.reset_offsets(plan)
        assert isinstance(done[zero], UnknownMemberIdError)
    assert await seen_offsets(any_kafka, topic) == {zero: 5}


async def test_a_bad_partition_among_good_ones(admin: AIOKafkaAdminClient, topic: str) -> None:
    good, bad = TopicPartition(topic, 0), TopicPartition(topic, 7)
    plan = await admin.plan_offset_reset(topic, to=3, partitions=[bad, good])
    assert plan.offsets == {good: 3}
    assert isinstance(plan.failed[bad], UnknownTopicOrPartitionError)
    with pytest.raises(UnknownTopicOrPartitionError):
        await admin.plan_offset_reset(topic, to=3, partitions=[f"{topic}-2"])


# On the embedded broker alone…


async def test_nothing_to_reset() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        plan = await admin.plan_offset_reset("g", to=OffsetSpec.EARLIEST)
        assert plan.offsets == {}
        assert await admin.reset_offsets(plan) == {}
        with pytest.raises(IllegalArgumentError, match="is no list"):
            await admin.plan_offset_reset("g", to=1, partitions="t")
        with pytest.raises(IllegalArgumentError, match="is no target"):
            await admin.plan_offset_reset("g", to="earliest")  # type: ignore[arg-type]


async def test_a_topic_that_may_not_be_seen_is_the_error_of_its_partition() -> None:
    rules = [
        Acl.allow("bob", "ALL", group="g"),
        Acl.allow("bob", "ALL", topic="t"),
        Acl.allow("root", "ALL", topic="*"),
        Acl.allow("root", "ALL", group="*"),
    ]
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users={"bob": "x", "root": "y"}, acls=rules
    ) as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        for name in ("t", "u"):
            broker.create_topic(name)
        seen, hidden = TopicPartition("t", 0), TopicPartition("u", 0)
        async with (
            AIOKafkaAdminClient(**address, **broker.client_options("root")) as root,
            AIOKafkaAdminClient(**address, **broker.client_options("bob")) as bob,
        ):
            await root.alter_consumer_group_offsets("g", {seen: 0, hidden: 0})
            assert await bob.group_lag("g") == {seen: (0, 0, 0)}
            plan = await bob.plan_offset_reset("g", to=0, partitions=[seen, hidden])
            assert plan.offsets == {seen: 0}
            assert isinstance(plan.failed[hidden], TopicAuthorizationFailedError)


async def test_a_call_ends_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        await broker.stop()
        with pytest.raises((KafkaTimeoutError, KafkaConnectionError)):
            await admin.group_lag("g", timeout_ms=200)
        with pytest.raises((KafkaTimeoutError, KafkaConnectionError)):
            await admin.plan_offset_reset("g", to=1, timeout_ms=200)
