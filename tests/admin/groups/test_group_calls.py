"""Groups are listed, described and deleted, on the embedded broker and on real Kafka."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaShareConsumer,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
    TopicPartition,
)
from aiokafka_lite.admin import GroupDescription, GroupListing, MemberToRemove
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    GroupAuthorizationFailedError,
    GroupIdNotFound,
    GroupLoadInProgressError,
    IllegalArgumentError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NonEmptyGroup,
    NotCoordinatorForGroupError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.list_groups import ListGroupsRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.security.acl import Acl
from tests.admin.support.group_witness import confluent_member, seen_group, seen_groups


@asynccontextmanager
async def member(
    address: str, topic: str, group_id: str, instance_id: str | None = None
) -> AsyncIterator[AIOKafkaConsumer]:
    """A consumer with its assignment."""
    async with AIOKafkaConsumer(
        topic,
        bootstrap_servers=address,
        group_id=group_id,
        group_instance_id=instance_id,
        client_id="me",
        enable_auto_commit=False,
    ) as consumer:
        while not consumer.assignment():
            await consumer.getmany(timeout_ms=50)
        yield consumer


@pytest.mark.needs_kafka("2.6", "states of listed groups")
async def test_groups_are_listed(admin: AIOKafkaAdminClient, any_kafka: str, topic: str) -> None:
    empty = f"{topic}-empty"
    await admin.alter_consumer_group_offsets(empty, {TopicPartition(topic, 0): 5})
    async with member(any_kafka, topic, topic):
        listed = {each.group_id: each for each in await admin.list_groups()}
        assert listed[topic] == GroupListing(topic, "consumer", "Stable", "classic")
        assert listed[empty] == GroupListing(empty, "", "Empty", "classic")
        stable = await admin.list_groups(states=["stable"], types=["Classic"])
        assert topic in {each.group_id for each in stable}
        assert empty not in {each.group_id for each in stable}
        assert topic not in {each.group_id for each in await admin.list_groups(types=["share"])}
        assert {(topic, "consumer"), (empty, "")} <= set(await admin.list_consumer_groups())
        seen = await seen_groups(any_kafka)
        assert (seen[topic], seen[empty]) == ("STABLE", "EMPTY")


async def test_a_classic_group_is_described(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str
) -> None:
    async with member(any_kafka, topic, topic, "one") as consumer:
        found = await admin.describe_groups([topic, f"{topic}-2"])
        assert isinstance(found[f"{topic}-2"], GroupIdNotFound)
        group = found.succeeded[topic]
        assert (group.group_id, group.type, group.state) == (topic, "classic", "Stable")
        assert group.coordinator == await admin.find_coordinator(topic)
        (only,) = group.members
        assert (
            only.assignment
            == consumer.assignment()
            == {
                TopicPartition(topic, 0),
                TopicPartition(topic, 1),
            }
        )
        assert (only.group_instance_id, only.client_id) == ("one", "me")
        assert (only.client_host, only.member_epoch) == ("/127.0.0.1", None)
        seen = await seen_group(any_kafka, topic)
        assert (seen.state.name, seen.partition_assignor) == ("STABLE", group.assignor)
        assert seen.coordinator.id == group.coordinator
        (other,) = seen.members
        assert (other.member_id, other.host) == (only.member_id, only.client_host)
        assert {
            TopicPartition(each.topic, each.partition) for each in other.assignment.topic_partitions
        } == only.assignment


async def test_aiokafkas_raw_answers(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str
) -> None:
    node_id = await admin.find_coordinator(topic)
    async with member(any_kafka, topic, topic):
        (answer,) = await admin.describe_consumer_groups(
            [topic], group_coordinator_id=node_id, include_authorized_operations=True
        )
        ((error_code, name, state, protocol_type, protocol, members),) = answer.groups
        assert (error_code, name, state, protocol_type) == (0, topic, "Stable", "consumer")
        assert protocol == answer.groups[0].protocol
        (_, client_id, host, metadata, assignment) = members[0]
        assert (client_id, host) == ("me", "/127.0.0.1")
        assert topic.encode() in metadata
        assert topic.encode() in assignment
        assert answer.groups[0].authorized_operations & 1 << 3
        seen = await seen_group(any_kafka, topic)
        assert [(each.member_id, each.host) for each in seen.members] == [(members[0][0], host)]
    (answer,) = await admin.describe_consumer_groups([f"{topic}-2"])
    assert answer.to_object()["groups"] == [
        {
            "error_code": 0,
            "group": f"{topic}-2",
            "state": "Dead",
            "protocol_type": "",
            "protocol": "",
            "members": [],
        }
    ]


async def test_a_classic_group_may_be_without_a_name(
    admin: AIOKafkaAdminClient, topic: str
) -> None:
    """A commit with the group "" makes it. `list_groups` lists it, so it has a description."""
    (await admin.alter_consumer_group_offsets("", {TopicPartition(topic, 0): 3})).raise_first()
    assert "" in [each.group_id for each in await admin.list_groups()]
    found = (await admin.describe_groups([""])).succeeded[""]
    assert (found.type, found.state, found.members) == ("classic", "Empty", ())
    (await admin.delete_groups([""])).raise_first()


async def test_a_group_of_the_consumer_protocol_is_described(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str, request: pytest.FixtureRequest
) -> None:
    if "4." not in request.node.callspec.id:
        pytest.skip("only newer Kafkas have groups of the consumer protocol")
    async with confluent_member(any_kafka, topic, topic, group_protocol="consumer"):
        group = (await admin.describe_groups([topic])).succeeded[topic]
        assert (group.type, group.state, group.assignor) == ("consumer", "Stable", "uniform")
        assert group.group_epoch is not None
        (only,) = group.members
        partitions = {TopicPartition(topic, 0), TopicPartition(topic, 1)}
        assert (only.assignment, only.target_assignment) == (partitions, partitions)
        assert only.client_id == "witness"
        assert only.member_epoch == group.group_epoch
        (listed,) = [each for each in await admin.list_groups() if each.group_id == topic]
        assert listed == GroupListing(topic, "consumer", "Stable", "consumer")
        (answer,) = await admin.describe_consumer_groups([topic])
        assert answer.groups[0][:-1] == (0, topic, "Stable", "consumer", "uniform")
        ((member_id, client_id, _, metadata, assignment),) = answer.groups[0].members
        assert (member_id, client_id) == (only.member_id, "witness")
        assert ConsumerProtocolMemberMetadata.decode(metadata).topics == [topic]
        assigned = ConsumerProtocolMemberAssignment.decode(assignment).partitions()
        assert sorted(assigned) == sorted(partitions)


async def test_members_of_newer_groups_tell_their_racks() -> None:
    """Those of consumer groups, and those of share groups, which are no groups of consumers."""
    async with EmbeddedBroker() as broker:
        address = broker.bootstrap_servers
        broker.create_topic("t")
        options: dict[str, Any] = {"bootstrap_servers": address, "client_rack": "near"}
        async with (
            AIOKafkaAdminClient(bootstrap_servers=address) as admin,
            AIOKafkaConsumer("t", group_id="c", group_protocol="consumer", **options) as consumer,
            AIOKafkaShareConsumer("t", group_id="s", **options) as sharer,
            AIOKafkaShareConsumer("t", bootstrap_servers=address, group_id="n") as nowhere,
        ):
            while not consumer.assignment():
                await consumer.getmany(timeout_ms=50)
            for each in (sharer, nowhere):
                await each.getmany(timeout_ms=50)
            found = (await admin.describe_groups(["c", "s", "n"])).succeeded
            racks = {name: [each.rack_id for each in found[name].members] for name in "csn"}
            assert racks == {"c": ["near"], "s": ["near"], "n": [None]}
            (answer,) = await admin.describe_consumer_groups(["s"])
            assert answer.groups[0].state == "Dead"


async def test_share_groups_that_do_not_exist(
    admin: AIOKafkaAdminClient, topic: str, request: pytest.FixtureRequest
) -> None:
    if "3.9" in request.node.callspec.id:
        with pytest.raises(UnsupportedVersionError):
            await admin.describe_share_groups([topic])
        return
    await admin.alter_consumer_group_offsets(topic, {TopicPartition(topic, 0): 5})
    found = await admin.describe_share_groups([topic, f"{topic}-2"])
    assert [type(each) for each in found.values()] == [GroupIdNotFound, GroupIdNotFound]


async def test_groups_are_deleted(admin: AIOKafkaAdminClient, any_kafka: str, topic: str) -> None:
    await admin.alter_consumer_group_offsets(topic, {TopicPartition(topic, 0): 5})
    busy = f"{topic}-busy"
    async with member(any_kafka, topic, busy):
        done = await admin.delete_groups([busy, f"{topic}-2", topic])
        assert list(done) == [busy, f"{topic}-2", topic]
        assert list(done.succeeded) == [topic]
        assert isinstance(done[busy], NonEmptyGroup)
        assert isinstance(done[f"{topic}-2"], GroupIdNotFound)
    assert topic not in await seen_groups(any_kafka)
    assert await admin.list_consumer_group_offsets(topic) == {}


async def test_members_are_removed(admin: AIOKafkaAdminClient, any_kafka: str, topic: str) -> None:
    async with member(any_kafka, topic, topic, "one"):
        one, other = MemberToRemove("one"), MemberToRemove("other")
        (before,) = (await seen_group(any_kafka, topic)).members
        done = await admin.remove_members_from_consumer_group(topic, [other, one], reason="late")
        assert list(done.succeeded) == [one]
        assert isinstance(done[other], UnknownMemberIdError)
        after = (await seen_group(any_kafka, topic)).members  # who joins again has another id
        assert before.member_id not in {each.member_id for each in after}
    done = await admin.remove_members_from_consumer_group(topic, ["nobody"])
    assert isinstance(done[MemberToRemove(member_id="nobody")], UnknownMemberIdError)


async def test_all_members_are_removed(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str
) -> None:
    async with member(any_kafka, topic, topic), member(any_kafka, topic, topic, "one"):
        done = await admin.remove_members_from_consumer_group(topic)
        assert not done.failed
        assert MemberToRemove("one") in done
        assert len(done) == 2
    with pytest.raises(GroupIdNotFound):
        await admin.remove_members_from_consumer_group(f"{topic}-2")


async def test_a_coordinator(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    assert await admin.find_coordinator(topic_name) == 1
    assert await admin.find_coordinator(topic_name, 1) == 1
    with pytest.raises(IllegalArgumentError, match="coordinator_type=7"):
        await admin.find_coordinator(topic_name, 7)


# On the embedded broker alone…


async def test_nodes_are_asked_side_by_side_and_each_group_is_listed_once() -> None:
    async with (
        EmbeddedBroker(nodes=3) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        names = [f"g{number}" for number in range(20)]
        for name in names:
            await admin.alter_consumer_group_offsets(name, {TopicPartition("t", 0): 1})
        assert [each.group_id for each in await admin.list_groups()] == sorted(names)
        found = await admin.describe_groups(names)
        assert not found.failed
        assert {each.coordinator for each in found.succeeded.values()} == {1, 2, 3}
        assert len(await admin.describe_consumer_groups(names)) == 3
        assert not (await admin.delete_groups(names)).failed
        assert await admin.list_groups() == []


async def test_a_node_that_left_is_not_asked_and_its_groups_are_listed() -> None:
    async with (
        EmbeddedBroker(nodes=3) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        names = [f"g{number}" for number in range(20)]
        for name in names:
            await admin.alter_consumer_group_offsets(name, {TopicPartition("t", 0): 1})
        broker.stop_node(2)
        assert [each.group_id for each in await admin.list_groups()] == sorted(names)
        assert len(await admin.list_consumer_groups([1])) < 20
        with pytest.raises(BrokerNotAvailableError, match="broker 2"):
            await admin.list_consumer_groups([1, 2])


async def test_a_coordinator_that_moves_is_followed() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        await admin.alter_consumer_group_offsets("g", {TopicPartition("t", 0): 1})
        broker.faults.fail(ApiKey.CONSUMER_GROUP_DESCRIBE, NotCoordinatorForGroupError)
        broker.faults.fail(ApiKey.DESCRIBE_GROUPS, NotCoordinatorForGroupError)
        broker.faults.fail(ApiKey.DELETE_GROUPS, NotCoordinatorForGroupError)
        broker.faults.fail(ApiKey.LEAVE_GROUP, NotCoordinatorForGroupError)
        assert isinstance((await admin.describe_groups(["g"]))["g"], GroupDescription)
        assert await admin.remove_members_from_consumer_group("g") == {}
        gone = await admin.remove_members_from_consumer_group("g", ["m"])
        assert isinstance(gone[MemberToRemove(None, "m")], UnknownMemberIdError)
        (identity,) = broker.requests_of(LeaveGroupRequest)[-1].members
        assert (identity.member_id, identity.reason) == ("m", "removed by an administrator")
        broker.stop_node(await admin.find_coordinator("g"))
        assert (await admin.describe_consumer_groups(["g"]))[0].groups[0].state == "Empty"
        assert not (await admin.delete_groups(["g"])).failed


async def test_brokers_before_2_4_remove_each_member_by_itself() -> None:
    """LeaveGroup has a list of members from 2.4 on (KIP-345)."""
    async with (
        EmbeddedBroker(max_versions={ApiKey.LEAVE_GROUP: 2, ApiKey.JOIN_GROUP: 4}) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
        member(broker.bootstrap_servers, "t", "g"),
    ):
        ((_, _, _, _, _, ((member_id, *_),)),) = (await admin.describe_consumer_groups(["g"]))[
            0
        ].groups
        done = await admin.remove_members_from_consumer_group("g", ["nobody", member_id])
        assert list(done.succeeded) == [MemberToRemove(member_id=member_id)]
        (missing,) = done.failed.values()
        assert isinstance(missing, UnknownMemberIdError)
        assert "'nobody' is none of them" in str(missing)
        with pytest.raises(
            UnsupportedVersionError, match=r"instance id needs Kafka 2\.4 \(KIP-345"
        ):
            await admin.remove_members_from_consumer_group("g", [MemberToRemove("one")])


async def test_a_coordinator_that_loads_its_groups_is_asked_again_by_the_newer_api() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
        AIOKafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            group_protocol="consumer",
        ) as consumer,
    ):
        while not consumer.assignment():
            await consumer.getmany(timeout_ms=50)
        broker.faults.fail(ApiKey.CONSUMER_GROUP_DESCRIBE, GroupLoadInProgressError)
        (answer,) = await admin.describe_consumer_groups(["g", "there-is-none"])
        assert {each.group: each.state for each in answer.groups} == {
            "g": "Stable",
            "there-is-none": "Dead",
        }


async def test_what_a_user_may_not_do() -> None:
    rules = [
        Acl.allow("bob", "DESCRIBE", group="seen"),
        Acl.allow("root", "ALL", group="*"),
        Acl.allow("root", "ALL", topic="*"),
    ]
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users={"bob": "x", "root": "y"}, acls=rules
    ) as broker:
        broker.create_topic("t")
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with (
            AIOKafkaAdminClient(**address, **broker.client_options("root")) as root,
            AIOKafkaAdminClient(**address, **broker.client_options("bob")) as bob,
        ):
            for name in ("seen", "hidden"):
                await root.alter_consumer_group_offsets(name, {TopicPartition("t", 0): 1})
            assert [each.group_id for each in await bob.list_groups()] == ["seen"]
            found = await bob.describe_groups(["hidden", "seen"])
            assert list(found.succeeded) == ["seen"]
            assert isinstance(found["hidden"], GroupAuthorizationFailedError)
            done = await bob.delete_groups(["hidden", "seen"])
            assert [type(each) for each in done.values()] == [GroupAuthorizationFailedError] * 2
            for call in (
                bob.remove_members_from_consumer_group("seen", ["m"]),
                bob.find_coordinator("hidden"),
                bob.describe_consumer_groups(["hidden"]),
            ):
                with pytest.raises(GroupAuthorizationFailedError):
                    await call


async def test_an_old_broker_has_no_states_and_types() -> None:
    async with (
        EmbeddedBroker(
            max_versions={
                ApiKey.LIST_GROUPS: 3,
                ApiKey.DESCRIBE_GROUPS: 5,
                ApiKey.CONSUMER_GROUP_DESCRIBE: None,
                ApiKey.SHARE_GROUP_DESCRIBE: None,
            }
        ) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        await admin.alter_consumer_group_offsets("g", {TopicPartition("t", 0): 1})
        assert await admin.list_groups() == [GroupListing("g", "", "", "classic")]
        with pytest.raises(UnsupportedVersionError):
            await admin.list_groups(states=["Empty"])
        found = await admin.describe_groups(["g", "h"])
        assert found.succeeded["g"].state == "Empty"
        assert isinstance(found["h"], GroupIdNotFound)


async def test_a_call_ends_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.fail(ApiKey.LIST_GROUPS, NotCoordinatorForGroupError, times=None)
        with pytest.raises(KafkaTimeoutError, match=r"list_groups\(\): no result within 0"):
            await admin.list_groups(timeout_ms=200)
        broker.faults.stall(ListGroupsRequest)
        with pytest.raises(KafkaTimeoutError):
            await admin.list_groups(timeout_ms=200)
        await broker.stop()
        for call in (
            admin.describe_groups(["g"], timeout_ms=200),
            admin.delete_groups(["g"], timeout_ms=200),
            admin.remove_members_from_consumer_group("g", ["m"], timeout_ms=200),
            admin.find_coordinator("g", timeout_ms=200),
        ):
            with pytest.raises((KafkaTimeoutError, KafkaConnectionError)):
                await call
