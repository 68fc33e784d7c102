"""Offsets are looked up at the leaders, on the embedded broker and on real Kafka."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from confluent_kafka import TopicPartition as WitnessPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec as WitnessSpec

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import ListOffsetsResult, NewTopic, OffsetSpec
from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.support.topics import KEEP_OLD_RECORDS

TIMES = (1_700_000_000_000, 1_700_000_009_000, 1_700_000_005_000)


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


async def filled(admin: AIOKafkaAdminClient, any_kafka: str, topic: str) -> TopicPartition:
    """A topic of two partitions, with three records at `TIMES` in the first one."""
    new = NewTopic(topic, 2, 1, topic_configs=KEEP_OLD_RECORDS)
    (await admin.create_topics([new])).topics.raise_first()
    async with AIOKafkaProducer(bootstrap_servers=any_kafka) as producer:
        for time_ms in TIMES:
            await producer.send_and_wait(topic, b"v", partition=0, timestamp_ms=time_ms)
    return TopicPartition(topic, 0)


@pytest.mark.needs_kafka("3.5", "offset of the local log")
async def test_every_kind_of_offset(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    tp = await filled(admin, any_kafka, topic_name)
    empty = TopicPartition(topic_name, 1)

    async def offset(spec: OffsetSpec | int) -> tuple[int, int]:
        outcomes = await admin.list_offsets({tp: spec})
        return outcomes.succeeded[tp][:2]

    assert await offset(OffsetSpec.LATEST) == (3, -1)
    assert await offset(OffsetSpec.EARLIEST) == (0, -1)
    assert await offset(OffsetSpec.MAX_TIMESTAMP) == (1, TIMES[1])
    assert await offset(OffsetSpec.EARLIEST_LOCAL) == (0, -1)
    assert await offset(OffsetSpec.LATEST_TIERED) == (-1, -1)
    assert await offset(TIMES[0] + 1) == (1, TIMES[1])
    assert await offset(TIMES[1] + 1) == (-1, -1)
    both = await admin.list_offsets({tp: OffsetSpec.LATEST, empty: OffsetSpec.MAX_TIMESTAMP})
    assert both[tp] == ListOffsetsResult(3, -1, 0)
    assert both[empty] == ListOffsetsResult(-1, -1, None)


@pytest.mark.needs_kafka("3.0", "greatest timestamp")
async def test_another_client_sees_the_same(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    tp = await filled(admin, any_kafka, topic_name)
    witness = AdminClient({"bootstrap.servers": any_kafka, "log_level": 0})
    for ours, theirs in (
        (OffsetSpec.LATEST, WitnessSpec.latest()),
        (OffsetSpec.EARLIEST, WitnessSpec.earliest()),
        (OffsetSpec.MAX_TIMESTAMP, WitnessSpec.max_timestamp()),
        (TIMES[0] + 1, WitnessSpec.for_timestamp(TIMES[0] + 1)),
    ):
        (future,) = witness.list_offsets({WitnessPartition(*tp): theirs}).values()
        seen = await asyncio.to_thread(future.result, 60)
        found = (await admin.list_offsets({tp: ours})).succeeded[tp]
        assert (found.offset, found.timestamp) == (seen.offset, seen.timestamp)


async def test_an_open_transaction_ends_what_is_committed(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    tp = await filled(admin, any_kafka, topic_name)
    async with (
        AIOKafkaProducer(bootstrap_servers=any_kafka, transactional_id=topic_name) as producer,
        producer.transaction(),
    ):
        await producer.send_and_wait(topic_name, b"open", partition=0)
        all_of_it = await admin.list_offsets({tp: OffsetSpec.LATEST})
        committed = await admin.list_offsets({tp: OffsetSpec.LATEST}, "read_committed")
        assert (all_of_it.succeeded[tp].offset, committed.succeeded[tp].offset) == (4, 3)


async def test_bad_partitions_among_good_ones(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    keys = [
        TopicPartition(f"{topic_name}-absent", 0),
        TopicPartition(topic_name, 0),
        TopicPartition(topic_name, 7),
    ]
    found = await admin.list_offsets(dict.fromkeys(keys, OffsetSpec.LATEST))
    assert list(found) == keys
    assert list(found.succeeded) == [keys[1]]
    for key in (keys[0], keys[2]):
        assert isinstance(found[key], UnknownTopicOrPartitionError)
        assert topic_name in str(found[key])


@pytest.mark.parametrize(
    ("spec", "version"),
    [
        (OffsetSpec.MAX_TIMESTAMP, 6),
        (OffsetSpec.EARLIEST_LOCAL, 7),
        (OffsetSpec.LATEST_TIERED, 8),
        (OffsetSpec.EARLIEST_PENDING_UPLOAD, 10),
    ],
)
async def test_a_kind_that_the_leader_does_not_know(spec: OffsetSpec, version: int) -> None:
    async with (
        EmbeddedBroker(max_versions={ApiKey.LIST_OFFSETS: version}) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 2)
        old, new = TopicPartition("t", 0), TopicPartition("t", 1)
        found = await admin.list_offsets({new: spec, old: OffsetSpec.EARLIEST})
        assert found.succeeded[old].offset == 0
        assert isinstance(found[new], UnsupportedVersionError)
        text = rf"{spec.name} of t-1 needs Kafka .* up to {version} .* in place of {version + 1}"
        with pytest.raises(UnsupportedVersionError, match=text):
            (await admin.list_offsets({new: spec})).raise_first()
        asked = [each.topics for each in broker.requests_of(ListOffsetsRequest)]
        assert [len(topics[0].partitions) for topics in asked] == [1]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ({("t", 0): -7}, r"t-0: -7 is no OffsetSpec and no time"),
        ({("t", 0): True}, r"t-0: True is no OffsetSpec"),
        ({("t", 0): 2**63}, r"an int from 0 to 9223372036854775807"),
        ({("t", 0): 1.5}, r"t-0: 1\.5 is no OffsetSpec"),
        ({("t", -1): 0}, r"the partition is not an int from 0"),
        ({("t", 0): 0, ("t", "0"): 0}, r"the partition is not an int from 0"),
    ],
)
async def test_a_question_that_means_nothing_is_refused(
    question: dict[TopicPartition, int], text: str
) -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        with pytest.raises(IllegalArgumentError, match=text):
            await admin.list_offsets(question)
        with pytest.raises(IllegalArgumentError, match="isolation_level='committed' is unknown"):
            await admin.list_offsets({}, "committed")  # type: ignore[arg-type]  # the point
        assert await admin.list_offsets({}) == {}


async def test_a_right_that_is_missing() -> None:
    rules = [Acl.allow("ANONYMOUS", "DESCRIBE", topic="mine")]
    async with (
        EmbeddedBroker(acls=rules) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for name in ("mine", "theirs"):
            broker.create_topic(name)
        mine, theirs = TopicPartition("mine", 0), TopicPartition("theirs", 0)
        found = await admin.list_offsets({theirs: OffsetSpec.LATEST, mine: OffsetSpec.LATEST})
        assert found[mine] == ListOffsetsResult(0, -1, 0)
        with pytest.raises(TopicAuthorizationFailedError, match="theirs"):
            found.raise_first()


async def test_a_leader_that_moves_is_followed_and_a_node_that_is_down_is_left() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 4)
        question = {TopicPartition("t", number): OffsetSpec.LATEST for number in range(4)}
        assert not (await admin.list_offsets(question)).failed
        broker.forget_requests()
        broker.faults.fail(ApiKey.LIST_OFFSETS, NotLeaderForPartitionError, node_id=1)
        assert not (await admin.list_offsets(question)).failed
        sizes = [len(each.topics[0].partitions) for each in broker.requests_of(ListOffsetsRequest)]
        assert sizes == [2, 2, 2]  # each node once, and what moved once again
        broker.stop_node(1)
        assert not (await admin.list_offsets(question)).failed


async def test_a_partition_without_a_leader_ends_the_call_at_its_bound() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 2, replication_factor=1)
        broker.stop_node(2)
        question = {TopicPartition("t", number): OffsetSpec.LATEST for number in range(2)}
        found = await admin.list_offsets(question, timeout_ms=300)
        (gone,) = found.failed
        assert broker.leader(gone) == -1
        assert found.succeeded.keys() == question.keys() - {gone}
        with pytest.raises(KafkaTimeoutError, match=r"list_offsets\(\): .*has no leader now"):
            found.raise_first()


async def test_thousands_go_in_few_requests_to_each_leader() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for name in ("a", "b"):
            broker.create_topic(name, 6_000)
        keys = [TopicPartition(name, number) for name in "ab" for number in range(6_000)]
        found = await admin.list_offsets(dict.fromkeys(keys, OffsetSpec.EARLIEST))
        assert list(found) == keys
        assert not found.failed
        asked = broker.requests_of(ListOffsetsRequest)
        sizes = sorted(sum(len(topic.partitions) for topic in each.topics) for each in asked)
        assert sizes == [1_000, 1_000, 5_000, 5_000]
