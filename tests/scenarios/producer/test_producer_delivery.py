"""Records arrive once and in order, whatever happens to requests, answers, leaders and nodes."""

import asyncio
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aiokafka_lite import AIOKafkaProducer, TopicPartition
from aiokafka_lite.errors import (
    BrokerResponseError,
    CorruptRecordException,
    KafkaStorageError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumber,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    UnknownProducerId,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import jumping_clock, kafka, producing, written
from tests.support.patience import eventually

ORDERS = TopicPartition("orders", 0)

RECORDS = [b"%03d" % number + b"." * (450 if number % 3 == 0 else 0) for number in range(100)]
"""A batch refers to the large ones, and copies the others."""


async def produce_all(broker: EmbeddedBroker, **options: object) -> None:
    """Send RECORDS in batches of a few, each acked, to one partition."""
    options.setdefault("max_batch_size", 150)
    async with producing(broker, **options) as producer:
        acks = [await producer.send("orders", value) for value in RECORDS]
        offsets = [metadata.offset for metadata in await asyncio.gather(*acks)]
        known = [offset for offset in offsets if offset >= 0]
        assert known == sorted(known)
        assert producer._engine.pool.used_bytes == 0
        assert not producer._engine.accumulator.incomplete


@pytest.mark.parametrize(
    "error",
    [
        NotLeaderForPartitionError,
        UnknownTopicOrPartitionError,
        RequestTimedOutError,
        NotEnoughReplicasError,
        KafkaStorageError,
        CorruptRecordException,
        OutOfOrderSequenceNumber,
        UnknownProducerId,
    ],
)
async def test_retries_keep_the_order(error: type[BrokerResponseError]) -> None:
    """Retries with several requests in flight keep the order of a partition (2d-15, 2d-17)."""
    async with kafka() as broker:
        broker.create_topic("orders")
        broker.faults.fail(ProduceRequest, error, times=7)
        await produce_all(broker)
        assert written(broker) == RECORDS


async def test_one_in_flight_keeps_the_order_without_idempotence() -> None:
    """Without idempotence, one request in flight keeps the order over retries (2d-12)."""
    async with kafka() as broker:
        broker.create_topic("orders")
        broker.faults.fail(ProduceRequest, NotLeaderForPartitionError, times=7)
        await produce_all(broker, enable_idempotence=False, max_in_flight_requests_per_connection=1)
        assert written(broker) == RECORDS


@pytest.mark.parametrize("after_bytes", [0, 1, 20])
async def test_a_lost_answer_makes_no_duplicate(after_bytes: int) -> None:
    """A batch whose answer was lost is sent again and stored once (KIP-98)."""
    async with kafka() as broker:
        broker.create_topic("orders")
        broker.faults.cut(ProduceRequest, after_bytes, times=5)
        await produce_all(broker)
        assert written(broker) == RECORDS
        assert len(broker.requests_of(ProduceRequest)) > 5


async def test_an_answer_that_never_comes_makes_no_duplicate() -> None:
    """A batch whose request times out is sent again and stored once (2d-16)."""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        broker.create_topic("orders")
        broker.faults.drop(ProduceRequest, times=2)
        await produce_all(broker, clock=clock)
        assert written(broker) == RECORDS
        assert 30 <= clock.monotonic() < 120


async def test_a_leader_that_moves_loses_and_repeats_nothing() -> None:
    async with kafka(nodes=3) as broker:
        broker.create_topic("orders")
        async with producing(broker, max_batch_size=150) as producer:
            acks = []
            for number, value in enumerate(RECORDS):
                if number % 10 == 5:
                    broker.move_leader(("orders", 0), number // 10 % 3 + 1)
                acks.append(await producer.send("orders", value))
                if number % 7 == 0:
                    await acks[-1]
            offsets = [metadata.offset for metadata in await asyncio.gather(*acks)]
        assert offsets == list(range(100))
        assert written(broker) == RECORDS


async def test_a_partition_that_had_no_leader_is_sent_to_soon_after_it_has_one() -> None:
    """Its metadata is asked for until then, however long that is, and looked at when it comes."""
    clock = jumping_clock()
    async with kafka(nodes=2, clock=clock) as broker:
        broker.create_topic("orders", partitions=1, replication_factor=1)
        async with producing(broker, clock=clock, metadata_max_idle_ms=5000) as producer:
            await producer.send_and_wait("orders", b"1")
            leader = broker.leader(ORDERS)
            broker.stop_node(leader)
            ack = await producer.send("orders", b"2")
            await eventually(
                lambda: producer.kafka_client.metadata.snapshot.leader(ORDERS)[0] is None
            )
            began_s = clock.monotonic()
            await clock.sleep(20)
            broker.start_node(leader)
            assert (await ack).offset == 1
            assert clock.monotonic() - began_s < 40


async def test_a_topic_that_may_not_be_described_for_a_while_is_asked_about_until_it_may() -> None:
    """What is queued for it is sent then, not when all metadata is due to be refreshed."""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker, producing(broker, clock=clock) as producer:
        await producer.send_and_wait("orders", b"1")
        broker.faults.fail(ProduceRequest, NotLeaderForPartitionError)
        broker.faults.fail(MetadataRequest, TopicAuthorizationFailedError, times=3)
        began_s = clock.monotonic()
        assert (await producer.send_and_wait("orders", b"2")).offset == 1
        assert clock.monotonic() - began_s < 60


async def test_a_lost_connection_is_one_failure_however_much_was_on_its_way() -> None:
    """The node is tried again after one retry_backoff_ms, and by other records no earlier."""
    clock = jumping_clock()
    async with (
        kafka(clock=clock) as broker,
        producing(
            broker,
            clock=clock,
            max_batch_size=200,
            reconnect_backoff_ms=10,
            retry_backoff_ms=1000,
            retry_backoff_max_ms=100_000,
        ) as producer,
    ):
        broker.create_topic("orders", 2)
        await producer.send_and_wait("orders", b"1", partition=0)
        broker.faults.stall(ProduceRequest)
        acks = [await producer.send("orders", b"x" * 120, partition=0) for _ in range(5)]
        while sum(batch.is_in_flight for batch in producer._engine.accumulator.incomplete) < 5:
            await asyncio.sleep(0)
        began_s = clock.monotonic()
        broker.drop_connections()
        while any(batch.is_in_flight for batch in producer._engine.accumulator.incomplete):
            await asyncio.sleep(0)
        broker.faults.release()
        await producer.send_and_wait("orders", b"2", partition=1)
        assert 0.5 < clock.monotonic() - began_s < 4
        await asyncio.gather(*acks)
        assert clock.monotonic() - began_s < 4


async def test_a_leader_that_went_away_before_anything_was_sent_to_it_is_soon_found_elsewhere() -> (
    None
):
    clock = jumping_clock()
    async with kafka(nodes=2, clock=clock) as broker:
        broker.create_topic("orders", partitions=1, replication_factor=2)
        async with producing(broker, clock=clock) as producer:
            await producer.partitions_for("orders")
            broker.stop_node(broker.leader(ORDERS))
            began_s = clock.monotonic()
            assert (await producer.send_and_wait("orders", b"1")).offset == 0
            assert clock.monotonic() - began_s < 60


async def test_nodes_that_come_and_go_lose_and_repeat_nothing() -> None:
    async with kafka(nodes=3) as broker:
        broker.create_topic("orders", partitions=3)
        async with producing(broker, max_batch_size=150) as producer:
            acks = []
            for number in range(300):
                if number % 50 == 10:
                    broker.stop_node(number // 50 % 3 + 1)
                if number % 50 == 35:
                    broker.start_node(number // 50 % 3 + 1)
                value = b"%03d" % number
                acks.append(await producer.send("orders", value, partition=number % 3))
                if number % 10 == 9:
                    await acks[-1]
            await asyncio.gather(*acks)
        for partition in range(3):
            expected = [b"%03d" % number for number in range(300) if number % 3 == partition]
            assert written(broker, partition=partition) == expected


async def test_connections_that_break_all_the_time_lose_and_repeat_nothing() -> None:
    async with kafka() as broker:
        broker.create_topic("orders")
        async with producing(broker, max_batch_size=150) as producer:
            acks = []
            for number, value in enumerate(RECORDS):
                acks.append(await producer.send("orders", value))
                if number % 9 == 0:
                    broker.drop_connections()
                    await asyncio.sleep(0)
            await asyncio.gather(*acks)
        assert written(broker) == RECORDS


async def test_a_topic_that_is_created_anew_is_found_by_its_new_id() -> None:
    """A topic that was deleted and created again is found by its new id (KIP-516)."""
    async with kafka(auto_create_topics=False) as broker:
        broker.create_topic("orders")
        async with producing(broker) as producer:
            await producer.send_and_wait("orders", b"old")
            broker.delete_topic("orders")
            broker.create_topic("orders")
            await producer.send_and_wait("orders", b"new")
        assert written(broker) == [b"new"]


async def test_a_partition_that_is_not_there_yet_is_waited_for() -> None:
    async with kafka() as broker:
        broker.create_topic("orders")
        async with producing(broker, max_block_ms=5000) as producer:
            await producer.send_and_wait("orders", b"v")
            waiting = asyncio.create_task(producer.send("orders", b"later", partition=2))
            answer = await producer.kafka_client.network.request_any(
                CreatePartitionsRequest(
                    topics=[CreatePartitionsTopic(name="orders", count=3, assignments=None)],
                    timeout_ms=1000,
                )
            )
            assert answer.results[0].error_code == 0
            assert (await (await waiting)).partition == 2
        assert written(broker, partition=2) == [b"later"]


def events(*kinds: str) -> st.SearchStrategy[list[tuple[str, int]]]:
    return st.lists(st.tuples(st.sampled_from(kinds), st.integers(0, 60)), max_size=8)


# A broker that lost the producer's state cannot know what it has written already: false complaints
# about sequences and lost answers together would be more than any client can tell apart.
Events = st.one_of(
    events("cut", "fail", "move", "drop connections"), events("fail", "move", "order", "unknown")
)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(events=Events, seed=st.integers(0, 99))
async def test_whatever_happens_the_log_has_each_record_once_and_in_order(
    events: list[tuple[str, int]], seed: int
) -> None:
    """An idempotent producer's log has each record once and in order, whatever happens."""
    rng = random.Random(seed)
    async with kafka(nodes=2) as broker:
        broker.create_topic("orders", partitions=2)
        sent: dict[int, list[bytes]] = {0: [], 1: []}
        async with producing(broker, max_batch_size=150, retry_backoff_ms=1) as producer:
            acks = []
            for number in range(60):
                for kind, at in events:
                    if at == number:
                        _happen(broker, kind, rng)
                partition = rng.randrange(2)
                sent[partition].append(b"%03d" % number)
                acks.append(await producer.send("orders", b"%03d" % number, partition=partition))
                if rng.random() < 0.1:
                    await acks[-1]
            await asyncio.gather(*acks)
        assert {partition: written(broker, partition=partition) for partition in sent} == sent


def _happen(broker: EmbeddedBroker, kind: str, rng: random.Random) -> None:
    match kind:
        case "cut":
            broker.faults.cut(ProduceRequest, rng.randrange(30))
        case "fail":
            broker.faults.fail(ProduceRequest, NotLeaderForPartitionError, times=2)
        case "order":
            broker.faults.fail(ProduceRequest, OutOfOrderSequenceNumber)
        case "unknown":
            broker.faults.fail(ProduceRequest, UnknownProducerId)
        case "move":
            broker.move_leader(("orders", rng.randrange(2)), rng.randrange(2) + 1)
        case _:
            broker.drop_connections()


async def test_first_sends_to_an_unknown_topic_keep_their_order() -> None:
    """Sends that wait for the same metadata go on in the order of their calls (C2)."""
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        acks = await asyncio.gather(*(producer.send("cold", b"%d" % n) for n in range(50)))
        await asyncio.gather(*acks)
        values = [record.value for record in broker.log(("cold", 0)).records()]
        assert values == [b"%d" % n for n in range(50)]
