"""Start offsets of share groups: on real Kafka, and on the embedded broker."""

from datetime import UTC, datetime

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import OffsetSpec, SharePartitionOffset, ShiftBy
from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaTimeoutError,
    NonEmptyGroup,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.delete_groups import DeleteGroupsRequest
from aiokafka_lite.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
)
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.admin.support.group_witness import confluent_sharer


async def test_offsets_of_a_share_group(
    admin: AIOKafkaAdminClient, topic: str, request: pytest.FixtureRequest
) -> None:
    zero, bad = TopicPartition(topic, 0), TopicPartition(topic, 7)
    if "3.9" in request.node.callspec.id:
        with pytest.raises(UnsupportedVersionError):
            await admin.list_share_group_offsets(topic)
        return
    assert await admin.list_share_group_offsets(topic) == {}
    done = await admin.alter_share_group_offsets(topic, {bad: 1, zero: 4})
    assert list(done.succeeded) == [zero]
    assert isinstance(done[bad], UnknownTopicOrPartitionError)
    found = await admin.list_share_group_offsets(topic)
    assert found.succeeded[zero].offset == 4
    assert (await admin.group_lag(topic)).succeeded[zero].current == 4
    group = (await admin.describe_groups([topic])).succeeded[topic]
    assert (group.type, group.state, group.members) == ("share", "Empty", ())
    assert (await admin.describe_share_groups([topic]))[topic] == group
    (listed,) = [each for each in await admin.list_groups(types=["share"]) if each[0] == topic]
    assert (listed.protocol_type, listed.state, listed.type) == ("share", "Empty", "share")
    gone = await admin.delete_share_group_offsets(topic, [f"{topic}-2", topic])
    assert list(gone.succeeded) == [topic]
    assert isinstance(gone[f"{topic}-2"], UnknownTopicOrPartitionError)
    assert await admin.list_share_group_offsets(topic) == {}


async def test_a_share_group_is_reset(
    admin: AIOKafkaAdminClient, topic: str, request: pytest.FixtureRequest
) -> None:
    """Partition 0 has ten records. By name, a partition counts that the group has not begun."""
    if "4." not in request.node.callspec.id and "embedded" not in request.node.callspec.id:
        pytest.skip("only newer Kafkas have share groups")
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    (await admin.alter_share_group_offsets(topic, {zero: 4})).raise_first()
    for target, expected in (
        (OffsetSpec.EARLIEST, 0),
        (OffsetSpec.LATEST, 10),
        (datetime.fromtimestamp(1.003, UTC), 3),
        (ShiftBy(-2), 1),
        (7, 7),
        ({zero: 6, TopicPartition("other", 0): 1}, 6),
    ):
        plan = await admin.plan_offset_reset(topic, to=target, partitions=[zero])
        assert (plan.is_share, plan.offsets) == (True, {zero: expected})
        (await admin.reset_offsets(plan)).raise_first()
        assert (await admin.list_share_group_offsets(topic)).succeeded[zero].offset == expected
    assert (await admin.plan_offset_reset(topic, to=5)).resets == {zero: (6, 5, 10)}
    plan = await admin.plan_offset_reset(topic, to=5, partitions=[topic])
    assert plan.resets == {zero: (6, 5, 10), one: (None, 0, 0)}
    (await admin.reset_offsets(plan)).raise_first()
    assert [each.type for each in await admin.list_groups() if each.group_id == topic] == ["share"]


async def test_a_share_group_with_a_member(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str, request: pytest.FixtureRequest
) -> None:
    if "4." not in request.node.callspec.id:
        pytest.skip("only newer Kafkas have share groups")
    zero = TopicPartition(topic, 0)
    (await admin.alter_share_group_offsets(topic, {zero: 4})).raise_first()
    async with confluent_sharer(any_kafka, topic, topic):
        while True:
            group = (await admin.describe_share_groups([topic])).succeeded[topic]
            if group.members and group.members[0].assignment:
                break
        (member,) = group.members
        assert (group.state, group.assignor) == ("Stable", "simple")
        assert (member.client_id, member.client_host) == ("witness", "/127.0.0.1")
        assert zero in member.assignment
        assert member.target_assignment is None
        with pytest.raises(NonEmptyGroup):
            await admin.alter_share_group_offsets(topic, {zero: 0})
        plan = await admin.plan_offset_reset(topic, to=OffsetSpec.EARLIEST, partitions=[zero])
        with pytest.raises(NonEmptyGroup):
            await admin.reset_offsets(plan)
        with pytest.raises(NonEmptyGroup):
            await admin.delete_share_group_offsets(topic, [topic])


async def test_wrong_arguments() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        with pytest.raises(IllegalArgumentError, match="is no list"):
            await admin.delete_share_group_offsets("g", "topic")
        with pytest.raises(ValueError, match="offset"):
            await admin.alter_share_group_offsets("g", {TopicPartition("t", 0): -1})
        with pytest.raises(IllegalArgumentError, match="group 7"):
            await admin.list_share_group_offsets(7)  # type: ignore[arg-type]


def test_an_offset_is_its_first_field() -> None:
    assert SharePartitionOffset(4)[0] == SharePartitionOffset(4, 1, 2).offset == 4


async def test_a_broker_that_drops_the_request_again_and_again() -> None:
    """So does Apache Kafka with what it cannot handle: it closes the connection."""
    clock = FakeClock(autojump_threshold_s=0.01)
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, clock=clock) as admin,
    ):
        broker.faults.cut(DescribeShareGroupOffsetsRequest, times=None)
        broker.faults.cut(DeleteGroupsRequest, times=None)
        told = r"no result within 5 s; .*{} \(version .*\) is lost"
        about = told.format("DescribeShareGroupOffsetsRequest")
        with pytest.raises(KafkaTimeoutError, match=rf"list_share_group_offsets\(\): {about}"):
            await admin.list_share_group_offsets("a", timeout_ms=5_000)
        about = told.format("DeleteGroupsRequest")
        with pytest.raises(KafkaTimeoutError, match=rf"delete_groups\(\): {about}"):
            await admin.delete_groups(["a", "b"], timeout_ms=5_000)
