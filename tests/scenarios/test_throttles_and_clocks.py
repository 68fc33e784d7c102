"""Answers with a throttle of 30 s (KIP-219), and machines whose clock is set by a day.

In virtual time. A throttle delays the next request of its connection, and nothing else. A clock
that is set changes the timestamps of records, and nothing else.
"""

import asyncio
import base64
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    KeyedWorkers,
)
from aiokafka_lite.admin import ConfigResource, ConfigResourceType, NewTopic
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.net.sasl.tokens.cached_token_provider import CachedTokenProvider
from aiokafka_lite.net.sasl.tokens.token_cache import FetchedToken
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.scenarios import test_long_waits as given
from tests.scenarios.test_long_waits import Call, World, warnings_with

TP = TopicPartition("t", 0)
DAY_S = 86_400.0
THROTTLE_MS = 30_000
THROTTLE_S = THROTTLE_MS / 1000
SLACK_S = 1.0
"""What backoffs may add to a throttle: the client looks for a node again that takes requests."""


# Throttles: each call checks its own result…


async def send(world: World) -> Call:
    producer = await world.producer()
    await producer.send_and_wait("t", b"v")

    async def call() -> None:
        end = world.kafka.broker.log(TP).high_watermark
        assert (await producer.send_and_wait("t", b"w")).offset == end
        assert world.kafka.broker.log(TP).high_watermark == end + 1

    return call


async def partitions_of_new_topics(world: World) -> Call:
    producer = await world.producer()
    names = iter("abc")

    async def call() -> None:
        name = next(names)
        world.kafka.broker.create_topic(name, 2)
        assert await producer.partitions_for(name) == {0, 1}

    return call


async def add_partitions(world: World) -> Call:
    producer = await world.transactional()
    names = iter("abc")

    async def call() -> None:
        name = next(names)
        world.kafka.broker.create_topic(name, 1)
        await producer.partitions_for(name)
        assert (await producer.send_and_wait(name, b"v")).offset == 0

    return call


async def commit_transactions(world: World) -> Call:
    producer = await world.transactional()

    async def call() -> None:
        await producer.commit_transaction()
        log = world.kafka.broker.log(TP)
        assert log.last_stable_offset == log.high_watermark
        await producer.begin_transaction()
        await producer.send_and_wait("t", b"v")

    return call


async def fetch(world: World) -> Call:
    reader = await world.reader()
    assert (await reader.getone()).offset == 0

    async def call() -> None:
        end = world.kafka.broker.log(TP).high_watermark
        world.kafka.broker.produce("t", b"w")
        record = await reader.getone()
        assert (record.offset, record.value) == (end, b"w")

    return call


async def start_member(world: World) -> Call:
    start = await given.start_member(world)

    async def call() -> None:
        await start()
        assert world.client.assignment() == {TP}

    return call


async def start_newer_member(world: World) -> Call:
    start = await given.start_member_of_the_newer_protocol(world)

    async def call() -> None:
        await start()
        assert world.client.assignment() == {TP}

    return call


async def committed_position(world: World) -> Call:
    member = await world.member()
    await member.commit()

    async def call() -> None:
        assert await member.committed(TP) == 1

    return call


async def commit_position(world: World) -> Call:
    member = await world.member()

    async def call() -> None:
        await member.commit()
        assert world.kafka.broker.group("g").offsets[TP].offset == 1

    return call


async def end_offsets(world: World) -> Call:
    call = await given.end_offsets(world)

    async def check() -> None:
        assert await call() == {TP: 1}

    return check


async def stay_member(world: World, **options: Any) -> Call:
    """Heartbeats have a connection of their own, so polls and commits go on."""
    member = await world.member(**options)
    group, joins = world.kafka.broker.group("g"), member.statistics().rebalances
    members = set(group.members)

    async def call() -> None:
        for _ in range(45):
            end = world.kafka.broker.log(TP).high_watermark
            world.kafka.broker.produce("t", b"w")
            assert (await member.getone()).offset == end
            await member.commit()
            await asyncio.sleep(1)
        assert set(world.kafka.broker.group("g").members) == members
        assert member.statistics().rebalances == joins

    return call


async def stay_newer_member(world: World) -> Call:
    return await stay_member(world, group_protocol="consumer")


async def share(world: World) -> Call:
    """Locks outlast the throttle, so what was read once is not delivered again."""
    async with AIOKafkaAdminClient(**world.kafka.client_options) as admin:
        configs = {"share.record.lock.duration.ms": "60000"}
        resource = ConfigResource(ConfigResourceType.GROUP, "s", configs=configs)
        (await admin.incremental_alter_configs([resource])).raise_first()
    sharer = await world.sharer()
    await sharer.getmany(timeout_ms=1000)

    async def call() -> None:
        end = world.kafka.broker.log(TP).high_watermark
        world.kafka.broker.produce("t", b"w")
        while not (found := await sharer.getmany(timeout_ms=1000)):
            pass
        assert [(each.offset, each.delivery_count) for each in found[TP]] == [(end, 1)]
        assert await sharer.commit() == {TP: None}

    return call


async def stay_sharer(world: World) -> Call:
    """As `stay_member`."""
    read = await share(world)
    members = set(world.kafka.broker.group("s").members)

    async def call() -> None:
        for _ in range(45):
            await read()
            await asyncio.sleep(1)
        assert set(world.kafka.broker.group("s").members) == members

    return call


async def create_topics(world: World) -> Call:
    admin = await world.started(AIOKafkaAdminClient)
    names = iter("abc")

    async def call() -> None:
        name = next(names)
        await admin.create_topics([NewTopic(name, 1, 1)])
        assert world.kafka.broker.log((name, 0)).high_watermark == 0

    return call


async def list_topics(world: World) -> Call:
    admin = await world.started(AIOKafkaAdminClient)

    async def call() -> None:
        assert list(await admin.list_topics()) == ["t"]

    return call


async def list_groups(world: World) -> Call:
    admin = await world.started(AIOKafkaAdminClient)

    async def call() -> None:
        assert await admin.list_consumer_groups() == []

    return call


THROTTLES: list[tuple[Any, str, tuple[float, ...]]] = [
    # What is called, what is throttled, and how many seconds the first and the second call take
    (send, "Produce", (0, 30)),
    (given.first_send, "InitProducerId", (30,)),
    (given.start_transactional, "InitProducerId", (0,)),
    (partitions_of_new_topics, "Metadata", (0, 30)),
    (add_partitions, "AddPartitionsToTxn", (0, 30)),
    (commit_transactions, "EndTxn", (30, 0)),
    (fetch, "Fetch", (0, 30)),
    (end_offsets, "ListOffsets", (0, 30)),
    (start_member, "JoinGroup", (30,)),
    (start_member, "SyncGroup", (0,)),
    (start_newer_member, "ConsumerGroupHeartbeat", (0,)),
    (stay_member, "Heartbeat", (45, 45)),
    (stay_newer_member, "ConsumerGroupHeartbeat", (45, 45)),
    (commit_position, "OffsetCommit", (0, 30)),
    (committed_position, "OffsetFetch", (0, 30)),
    (share, "ShareFetch", (0, 30)),
    (share, "ShareAcknowledge", (0, 30)),
    (stay_sharer, "ShareGroupHeartbeat", (45, 45)),
    (create_topics, "CreateTopics", (0, 30)),
    (list_topics, "Metadata", (0, 30)),
    (list_groups, "ListGroups", (0, 30)),
]


@pytest.mark.parametrize(
    ("prepare", "api", "seconds"), THROTTLES, ids=[f"{r[0].__name__}-{r[1]}" for r in THROTTLES]
)
def test_a_throttle_delays_the_next_request_and_no_longer_than_it_says(
    prepare: Callable[[World], Awaitable[Call]],
    api: str,
    seconds: tuple[float, ...],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The throttled call has its result at once; the log tells the throttle; stop() ends."""

    async def main(kafka: VirtualKafka) -> None:
        world = World(kafka)
        call = await prepare(world)
        caplog.clear()
        kafka.broker.faults.throttle(api, THROTTLE_MS)
        took = []
        for _ in seconds:
            began_s = kafka.clock.monotonic()
            await call()
            took.append(kafka.clock.monotonic() - began_s)
        assert all(
            wanted - SLACK_S <= each <= wanted + SLACK_S
            for each, wanted in zip(took, seconds, strict=True)
        ), took
        (told,) = warnings_with("has told the client to wait for 30 s", caplog)
        assert "node 1 " in told
        assert "quota" in told
        kafka.broker.faults.throttle(api, THROTTLE_MS, times=None)
        await asyncio.sleep(5)
        began_s = kafka.clock.monotonic()
        is_admin = isinstance(world.client, AIOKafkaAdminClient)
        await (world.client.close() if is_admin else world.client.stop())
        assert kafka.clock.monotonic() - began_s <= THROTTLE_S + SLACK_S

    run_virtual_kafka(main, transaction_version=1)


@pytest.mark.parametrize("api", ["Produce", "Fetch"])
def test_the_other_nodes_go_on(api: str) -> None:
    """Records of the throttled node come later, all of them once and in order."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 2)
        leaders = {kafka.broker.leader(("t", number)): number for number in range(2)}
        slow, fast = leaders[1], leaders[2]
        came: dict[int, list[tuple[int, float]]] = {slow: [], fast: []}
        options = kafka.client_options
        async with (
            AIOKafkaProducer(**options) as producer,
            AIOKafkaConsumer("t", auto_offset_reset="earliest", **options) as consumer,
        ):
            for number in (slow, fast):
                await producer.send_and_wait("t", b"first", partition=number)
            assert {(await consumer.getone()).partition for _ in range(2)} == {slow, fast}
            kafka.broker.faults.throttle(api, THROTTLE_MS, node_id=1)
            await producer.send_and_wait("t", b"0", partition=slow)
            record = await consumer.getone()
            assert (record.partition, record.value) == (slow, b"0")
            began_s = kafka.clock.monotonic()
            for number in range(1, 4):
                for partition in (slow, fast):
                    await producer.send("t", b"%d" % number, partition=partition)
                await asyncio.sleep(1)
            while sum(map(len, came.values())) < 6:
                record = await consumer.getone()
                came[record.partition].append(
                    (int(record.value or b""), kafka.clock.monotonic() - began_s)
                )
            assert await consumer.getmany(timeout_ms=1000) == {}
        assert [[number for number, _ in each] for each in came.values()] == [[1, 2, 3]] * 2
        assert max(at_s for _, at_s in came[fast]) < 5
        assert all(THROTTLE_S - SLACK_S < at_s < THROTTLE_S + SLACK_S for _, at_s in came[slow])

    run_virtual_kafka(main, nodes=2)


def test_a_throttle_that_comes_again_is_told_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        world = World(kafka)
        producer = await world.producer()
        kafka.broker.faults.throttle("Produce", 12_000, times=None)
        for _ in range(12):
            await producer.send_and_wait("t", b"v")
        kafka.broker.faults.clear()
        await producer.stop()

    run_virtual_kafka(main)
    assert 2 <= len(warnings_with("has told the client to wait for 12 s", caplog)) <= 3


def test_a_short_throttle_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    async def main(kafka: VirtualKafka) -> None:
        world = World(kafka)
        producer = await world.producer()
        kafka.broker.faults.throttle("Produce", 9_000, times=None)
        for _ in range(3):
            await producer.send_and_wait("t", b"v")
        await producer.stop()

    run_virtual_kafka(main)
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


# Clocks that are set…


class Machine:
    """The clock of a client's machine, which may be set apart from the clocks of the nodes."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self.set_by_s = 0.0
        self.monotonic = clock.monotonic
        self.awake = clock.awake
        self.call_at = clock.call_at
        self.sleep = clock.sleep

    def time(self) -> float:
        return self._clock.time() + self.set_by_s


SETS = pytest.mark.parametrize("by_s", [DAY_S, -DAY_S], ids=["forward", "back"])


@SETS
def test_a_batch_that_lingers_leaves_in_time_and_keeps_each_timestamp(by_s: float) -> None:
    async def main(kafka: VirtualKafka) -> None:
        configs = {"message.timestamp.after.max.ms": 2 * round(DAY_S) * 1000}
        kafka.broker.create_topic("t", configs=configs)
        options = kafka.client_options
        async with (
            AIOKafkaProducer(linger_ms=5000, **options) as producer,
            AIOKafkaConsumer("t", auto_offset_reset="earliest", **options) as consumer,
        ):
            await producer.partitions_for("t")
            began_s = kafka.clock.monotonic()
            times_ms = [int(kafka.clock.time() * 1000)]
            acks = [await producer.send("t", b"before")]
            await asyncio.sleep(2)
            kafka.clock.set_time(by_s)
            times_ms.append(int(kafka.clock.time() * 1000))
            acks.append(await producer.send("t", b"after"))
            written = await asyncio.gather(*acks)
            assert 4.9 <= kafka.clock.monotonic() - began_s <= 5.1
            assert [each.timestamp for each in written] == times_ms
            records = [await consumer.getone() for _ in acks]
            assert [(each.offset, each.timestamp) for each in records] == [
                (0, times_ms[0]),
                (1, times_ms[1]),
            ]
        assert abs(times_ms[1] - times_ms[0] - by_s * 1000) <= 2001

    run_virtual_kafka(main)


@SETS
def test_a_transaction_commits_though_the_clock_of_its_client_is_set(by_s: float) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        machine = Machine(kafka.clock)
        options = {**kafka.client_options, "clock": machine}
        async with (
            AIOKafkaProducer(transactional_id="x", **options) as producer,
            AIOKafkaConsumer(
                "t", auto_offset_reset="earliest", isolation_level="read_committed", **options
            ) as consumer,
        ):
            await producer.begin_transaction()
            await producer.send_and_wait("t", b"before", timestamp_ms=1000)
            machine.set_by_s = by_s
            await producer.send_and_wait("t", b"after", timestamp_ms=1000)
            await producer.commit_transaction()
            values = [(await consumer.getone()).value for _ in range(2)]
            assert values == [b"before", b"after"]

    run_virtual_kafka(main)


@SETS
def test_positions_are_committed_after_the_same_interval(by_s: float) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        kafka.broker.produce("t", b"v")
        async with AIOKafkaConsumer(
            "t",
            group_id="g",
            auto_offset_reset="earliest",
            auto_commit_interval_ms=5000,
            **kafka.client_options,
        ) as consumer:
            began_s = kafka.clock.monotonic()
            await consumer.getone()
            kafka.clock.set_time(by_s)
            joins = consumer.statistics().rebalances
            while TP not in kafka.broker.group("g").offsets:
                await consumer.getmany(timeout_ms=100)
            stored = kafka.broker.group("g").offsets
            assert stored[TP].offset == 1
            assert 3 <= kafka.clock.monotonic() - began_s <= 6
            await consumer.getmany(timeout_ms=100_000)
            assert consumer.statistics().rebalances == joins

    run_virtual_kafka(main)


@SETS
def test_locks_of_a_share_group_end_neither_sooner_nor_later(by_s: float) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        async with AIOKafkaShareConsumer(
            "t", group_id="s", share_acknowledgement_mode="explicit", **kafka.client_options
        ) as consumer:
            await consumer.getmany(timeout_ms=1000)
            for value in (b"taken", b"kept"):
                kafka.broker.produce("t", value)
            await asyncio.sleep(1)
            began_s = kafka.clock.monotonic()
            (held,) = (await consumer.getmany(timeout_ms=5000)).values()
            kafka.clock.set_time(by_s)
            assert [record.value for record in held] == [b"taken", b"kept"]
            consumer.acknowledge(held[0])
            assert await consumer.commit() == {TP: None}
            async with AIOKafkaShareConsumer("t", group_id="s", **kafka.client_options) as other:
                ((again,),) = (await other.getmany(timeout_ms=60_000)).values()
            assert (again.value, again.delivery_count) == (b"kept", 2)
            assert 29 <= kafka.clock.monotonic() - began_s <= 36

    run_virtual_kafka(main)


class Issued(CachedTokenProvider):
    """Tokens of an issuer that has the time of the nodes; the client counts by its own clock."""

    def __init__(self, nodes: FakeClock, machine: Machine, lifetime_s: float) -> None:
        super().__init__("the issuer", timeout_s=5, clock=machine, rng=None)
        self.nodes, self.machine, self.lifetime_s = nodes, machine, lifetime_s
        self.fetches = 0

    async def _fetch(self) -> FetchedToken:
        self.fetches += 1
        now_s = self.nodes.time()
        claims = {"sub": "alice", "iat": now_s - 1, "exp": now_s + self.lifetime_s}
        parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
        text = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
        return FetchedToken(Secret(text + "."), self.machine.time() + self.lifetime_s)


@SETS
def test_tokens_are_fetched_again_as_their_lifetime_ends(
    by_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    """A client whose clock was set back used an old token for a day, and nodes refused it."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        machine = Machine(kafka.clock)
        issued = Issued(kafka.clock, machine, 600)
        async with AIOKafkaProducer(
            **{**kafka.client_options, "clock": machine},
            security_protocol="SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            sasl_oauth_token_provider=issued,
        ) as producer:
            for minute in range(60):
                if minute == 5:
                    machine.set_by_s = by_s
                await producer.send_and_wait("t", b"v", timestamp_ms=1000)
                await asyncio.sleep(60)
            assert 6 <= issued.fetches <= 10

    run_virtual_kafka(main, security="SASL_PLAINTEXT", users={"alice": "open sesame"})
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]


@SETS
def test_metadata_are_asked_for_as_often(by_s: float) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        async with AIOKafkaProducer(
            metadata_max_age_ms=100_000, **kafka.client_options
        ) as producer:
            await producer.send_and_wait("t", b"v")
            kafka.broker.forget_requests()
            await asyncio.sleep(150)
            kafka.clock.set_time(by_s)
            await asyncio.sleep(850)
            assert 9 <= len(kafka.broker.requests_of(MetadataRequest)) <= 11

    run_virtual_kafka(main)


@SETS
def test_handlers_of_workers_have_the_same_time(by_s: float) -> None:
    """A handler is not late, a retry comes after its backoff, and no figure jumps."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        kafka.broker.produce("t", b"v")
        calls_s: list[float] = []

        async def handle(_: ConsumerRecord[Any, Any]) -> None:
            calls_s.append(kafka.clock.monotonic())
            await asyncio.sleep(20)
            kafka.clock.set_time(by_s)
            await asyncio.sleep(20)
            if len(calls_s) == 1:
                raise ValueError("not yet")

        consumer = AIOKafkaConsumer[Any, Any](
            "t",
            group_id="g",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            **kafka.client_options,
        )
        workers = KeyedWorkers(consumer, handle, handler_timeout_ms=60_000, clock=kafka.clock)
        async with workers:
            running = asyncio.create_task(workers.run())
            while not workers.statistics().finished_records:
                await asyncio.sleep(1)
                assert not running.done(), running
            found = workers.statistics()
            assert (found.finished_records, found.failed_attempts) == (1, 1)
            assert found.unfinished_records == found.running_handlers == 0
            assert 40 <= calls_s[1] - calls_s[0] <= 42
            workers.stop()
            await running
        assert kafka.broker.group("g").offsets[TP].offset == 1

    run_virtual_kafka(main)
