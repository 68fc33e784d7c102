"""Offsets of groups are listed, altered and deleted, on the embedded broker and on real Kafka."""

from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient, OffsetAndMetadata, TopicPartition
from aiokafka_lite.errors import (
    GroupAuthorizationFailedError,
    GroupIdNotFound,
    GroupSubscribedToTopicError,
    IllegalArgumentError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NotCoordinatorForGroupError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.security.acl import Acl
from tests.admin.support.group_witness import confluent_member, seen_offsets


async def test_offsets_are_altered_listed_and_deleted(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str
) -> None:
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    done = await admin.alter_consumer_group_offsets(
        topic, {zero: 5, one: OffsetAndMetadata(0, "note", 0)}
    )
    assert done == {zero: None, one: None}
    found = await admin.list_consumer_group_offsets(topic)
    assert found == {zero: OffsetAndMetadata(5, ""), one: OffsetAndMetadata(0, "note")}
    assert found[one].leader_epoch == 0
    assert await seen_offsets(any_kafka, topic) == {zero: 5, one: 0}
    node_id = await admin.find_coordinator(topic)
    named = await admin.list_consumer_group_offsets(topic, node_id, [one])
    assert named == {one: (0, "note")}
    assert await admin.delete_consumer_group_offsets(topic, [zero]) == {zero: None}
    assert await seen_offsets(any_kafka, topic) == {one: 0}
    assert await admin.list_consumer_group_offsets(topic, partitions=[zero]) == {zero: (-1, "")}
    assert await admin.list_consumer_group_offsets(topic, partitions=[]) == {}
    assert await admin.list_consumer_group_offsets(f"{topic}-2") == {}


async def test_a_bad_partition_among_good_ones(admin: AIOKafkaAdminClient, topic: str) -> None:
    good, bad = TopicPartition(topic, 1), TopicPartition(topic, 7)
    altered = await admin.alter_consumer_group_offsets(topic, {bad: 1, good: 2})
    assert list(altered) == [bad, good]
    deleted = await admin.delete_consumer_group_offsets(topic, [bad, good])
    for done in (altered, deleted):
        assert list(done.succeeded) == [good]
        assert isinstance(done[bad], UnknownTopicOrPartitionError)


async def test_several_groups_are_asked_for_in_one_request(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str
) -> None:
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    for name, offset in ((f"{topic}-a", 3), (f"{topic}-b", 4)):
        await admin.alter_consumer_group_offsets(name, {zero: offset, one: offset})
    found = await admin.list_group_offsets([f"{topic}-b", f"{topic}-a", f"{topic}-c"])
    assert list(found) == [f"{topic}-b", f"{topic}-a", f"{topic}-c"]
    assert found[f"{topic}-b"] == {zero: (4, ""), one: (4, "")}
    assert found[f"{topic}-c"] == {}
    assert await seen_offsets(any_kafka, f"{topic}-b") == {zero: 4, one: 4}
    some = await admin.list_group_offsets({f"{topic}-a": [one], f"{topic}-c": [one]})
    assert some == {f"{topic}-a": {one: (3, "")}, f"{topic}-c": {one: (-1, "")}}


async def test_a_group_with_members_keeps_its_offsets(
    admin: AIOKafkaAdminClient, any_kafka: str, topic: str
) -> None:
    zero = TopicPartition(topic, 0)
    await admin.alter_consumer_group_offsets(topic, {zero: 5})
    async with confluent_member(any_kafka, topic, topic):
        altered = await admin.alter_consumer_group_offsets(topic, {zero: 1})
        assert isinstance(altered[zero], UnknownMemberIdError)
        deleted = await admin.delete_consumer_group_offsets(topic, [zero])
        assert isinstance(deleted[zero], GroupSubscribedToTopicError)
        assert await admin.list_consumer_group_offsets(topic) == {zero: (5, "")}
    with pytest.raises(GroupIdNotFound):
        await admin.delete_consumer_group_offsets(f"{topic}-2", [zero])


# On the embedded broker alone…


async def test_one_request_names_all_groups_of_a_node_and_an_old_broker_gets_one_each() -> None:
    for highest, requests in ((10, 1), (7, 3)):
        async with (
            EmbeddedBroker(max_versions={ApiKey.OFFSET_FETCH: highest}) as broker,
            AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
        ):
            broker.create_topic("t")
            tp = TopicPartition("t", 0)
            for number in range(3):
                await admin.alter_consumer_group_offsets(f"g{number}", {tp: number})
            found = await admin.list_group_offsets([f"g{number}" for number in range(3)])
            assert [each.succeeded[tp].offset for each in found.succeeded.values()] == [0, 1, 2]
            assert len(broker.requests_of(OffsetFetchRequest)) == requests
            assert await admin.list_consumer_group_offsets("g2", partitions=[tp]) == {tp: (2, "")}


async def test_offsets_of_an_open_transaction_are_waited_for() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        tp = TopicPartition("t", 0)
        await admin.alter_consumer_group_offsets("g", {tp: 1})
        broker.faults.fail(ApiKey.OFFSET_FETCH, UnstableOffsetCommitError, times=2)
        found = await admin.list_group_offsets({"g": [tp]}, require_stable=True)
        assert found == {"g": {tp: (1, "")}}
        assert len(broker.requests_of(OffsetFetchRequest)) == 3


async def test_a_coordinator_that_moves_is_followed() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        tp = TopicPartition("t", 0)
        for key in (ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH, ApiKey.OFFSET_DELETE):
            broker.faults.fail(key, NotCoordinatorForGroupError)
        assert not (await admin.alter_consumer_group_offsets("g", {tp: 1})).failed
        broker.stop_node(await admin.find_coordinator("g"))
        assert await admin.list_consumer_group_offsets("g") == {tp: (1, "")}
        assert not (await admin.delete_consumer_group_offsets("g", [tp])).failed


async def test_what_a_user_may_not_do() -> None:
    rules = [
        Acl.allow("bob", "DESCRIBE", group="seen"),
        Acl.allow("bob", "READ", group="mine"),
        Acl.allow("root", "ALL", group="*"),
        Acl.allow("root", "ALL", topic="*"),
    ]
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users={"bob": "x", "root": "y"}, acls=rules
    ) as broker:
        broker.create_topic("t")
        tp = TopicPartition("t", 0)
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with (
            AIOKafkaAdminClient(**address, **broker.client_options("root")) as root,
            AIOKafkaAdminClient(**address, **broker.client_options("bob")) as bob,
        ):
            for name in ("seen", "mine", "hidden"):
                await root.alter_consumer_group_offsets(name, {tp: 1})
            found = await bob.list_group_offsets({"hidden": None, "mine": [tp]})
            assert isinstance(found["hidden"], GroupAuthorizationFailedError)
            assert isinstance(found.succeeded["mine"][tp], TopicAuthorizationFailedError)
            with pytest.raises(TopicAuthorizationFailedError):
                await bob.list_consumer_group_offsets("mine", partitions=[tp])
            with pytest.raises(GroupAuthorizationFailedError):
                await bob.list_consumer_group_offsets("hidden")
            altered = await bob.alter_consumer_group_offsets("mine", {tp: 2})
            assert isinstance(altered[tp], TopicAuthorizationFailedError)
            with pytest.raises(GroupAuthorizationFailedError):
                await bob.delete_consumer_group_offsets("seen", [tp])


@pytest.mark.parametrize("group_id", [7, None, b"g", "g" * 40_000])
async def test_a_group_that_cannot_be(group_id: Any) -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for call in (
            admin.list_consumer_group_offsets(group_id),
            admin.list_group_offsets([group_id]),
            admin.alter_consumer_group_offsets(group_id, {TopicPartition("t", 0): 1}),
            admin.delete_consumer_group_offsets(group_id, [TopicPartition("t", 0)]),
        ):
            with pytest.raises(IllegalArgumentError):
                await call


async def test_a_call_ends_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        tp = TopicPartition("t", 0)
        await broker.stop()
        for call in (
            admin.list_consumer_group_offsets("g", timeout_ms=200),
            admin.list_group_offsets(["g"], timeout_ms=200),
            admin.alter_consumer_group_offsets("g", {tp: 1}, timeout_ms=200),
            admin.delete_consumer_group_offsets("g", [tp], timeout_ms=200),
        ):
            with pytest.raises((KafkaTimeoutError, KafkaConnectionError)):
                await call
