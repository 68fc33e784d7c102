"""An offset is no identity: what is known by it is void from where the log has changed.

A topic is deleted and created again, or an unclean election cuts its log. Then new records have the
offsets of old ones, and what was known of the old ones says nothing about them.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ExactlyOnceSession,
    KeyedWorkers,
    OffsetAndMetadata,
    TopicPartition,
)
from aiokafka_lite.errors import KafkaTimeoutError, UnknownTopicIdError
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

TP = TopicPartition("t", 0)
Change = Callable[[EmbeddedBroker], object]


def write(broker: EmbeddedBroker, kind: str, offsets: range) -> None:
    for number in offsets:
        broker.produce("t", f"{kind}{number}", key=f"k{number}")


def anew(broker: EmbeddedBroker) -> None:
    """The topic is deleted and created again. Its leader epoch is 0, as before."""
    broker.delete_topic("t")
    broker.create_topic("t")
    write(broker, "new", range(10))


def cut_at(offset: int) -> Change:
    """An unclean election: the new leader lacks what is from `offset` on, and others come there."""

    def cut(broker: EmbeddedBroker) -> None:
        broker.cluster.partition(TP).truncate(offset)
        broker.move_leader(TP, 3 - broker.leader(TP))
        write(broker, "new", range(offset, 10))

    return cut


CHANGES = {"created anew": anew, "cut at 4": cut_at(4), "cut at 7": cut_at(7)}
each_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
each_protocol = pytest.mark.parametrize("protocol", ["classic", "consumer"])


def places_of(broker: EmbeddedBroker, kind: str) -> list[int]:
    return [
        record.offset
        for record in broker.records("t")
        if record.value is not None and record.value.startswith(kind.encode())
    ]


def values_in(broker: EmbeddedBroker) -> set[bytes]:
    return {record.value or b"" for record in broker.records("t")}


def run(main: Callable[[VirtualKafka], Awaitable[None]]) -> None:
    """Run it beside two brokers. The topic has ten records."""

    async def begin(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        write(kafka.broker, "old", range(10))
        await main(kafka)

    run_virtual_kafka(begin, nodes=2, num_partitions=1)


def member(kafka: VirtualKafka, *topics: str, **options: Any) -> AIOKafkaConsumer[bytes, bytes]:
    return AIOKafkaConsumer(
        *topics,
        group_id="g",
        auto_offset_reset="earliest",
        **{"enable_auto_commit": False, **kafka.client_options, **options},
    )


@each_protocol
@each_change
@pytest.mark.parametrize(
    ("noticed", "settings"),
    [
        (True, {}),
        (True, {"max_records": 8, "concurrency": 4}),
        (False, {}),
        (False, {"order": "partition"}),
    ],
    ids=["by the member", "by the member, paused", "by the next one", "by the next one, in order"],
)
def test_workers_handle_what_the_log_has(
    change: Change, protocol: str, noticed: bool, settings: dict[str, Any]
) -> None:
    """Handlers of old records are at work, others have finished records behind theirs (2c-10)."""

    async def main(kafka: VirtualKafka) -> None:
        broker, clock, gate = kafka.broker, kafka.clock, asyncio.Event()
        handled: set[bytes] = set()
        is_first = True

        async def handle(record: ConsumerRecord[bytes, bytes]) -> None:
            assert record.value is not None
            if record.value in (b"old5", b"old8"):
                await gate.wait()
            elif is_first and record.value.startswith(b"new"):
                await clock.sleep(60)  # still at work as the first member stops
            handled.add(record.value)

        async def work(meanwhile: Callable[[], Awaitable[None]]) -> None:
            workers = KeyedWorkers(
                member(kafka, "t", group_protocol=protocol),
                handle,
                drain_timeout_ms=1000,
                clock=clock,
                **settings,
            )
            async with workers:
                running = asyncio.create_task(workers.run())
                await clock.sleep(5)
                await meanwhile()
                workers.stop()
                await running

        async def change_it() -> None:
            if noticed:
                change(broker)
                await clock.sleep(10)  # the consumer has read the new records
                gate.set()  # and the handlers of the old ones end
                await clock.sleep(5)

        await work(change_it)
        if not noticed:
            change(broker)
        is_first = False
        gate.set()

        async def wait() -> None:
            await clock.sleep(400)  # the metadata of a paused partition is old by now

        await work(wait)
        assert not values_in(broker) - handled
        stored = broker.group("g").offsets[TP]
        assert (stored.offset, stored.metadata) == (10, "")

    run(main)


async def notice(kafka: VirtualKafka, consumer: AIOKafkaConsumer[Any, Any]) -> None:
    """Let the consumer find its position moved, and return no record yet."""
    assert consumer.kafka_client is not None
    consumer.pause(TP)
    await consumer.kafka_client.metadata.refresh()
    for _ in range(5):
        assert not await consumer.getmany(timeout_ms=1000)
    consumer.resume(TP)


async def by_position(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    await consumer.commit()


async def by_record(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    await consumer.commit({TP: 10})


async def in_the_background(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    consumer.commit_async({TP: (10, "note")})


async def by_mark(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    """The mark was set before."""
    await consumer.commit()


async def by_late_mark(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    consumer.store_offsets({TP: OffsetAndMetadata(10)})
    await consumer.commit()


async def as_it_leaves(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    """It commits by itself."""


WAYS: dict[Callable[[AIOKafkaConsumer[Any, Any]], Awaitable[None]], dict[str, Any]] = {
    by_position: {},
    by_record: {},
    in_the_background: {},
    by_mark: {"enable_auto_offset_store": False},
    by_late_mark: {"enable_auto_offset_store": False},
    as_it_leaves: {"enable_auto_commit": True, "auto_commit_interval_ms": 3_600_000},
}


@each_protocol
@each_change
@pytest.mark.parametrize("noticed", [True, False], ids=["noticed", "not noticed"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_commit_of_what_was_read_before_hides_nothing_of_the_log(
    way: Callable[[AIOKafkaConsumer[Any, Any]], Awaitable[None]],
    change: Change,
    protocol: str,
    noticed: bool,
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        broker = kafka.broker
        options = {**WAYS[way], "metadata_max_age_ms": 3_600_000}
        async with member(kafka, "t", group_protocol=protocol, **options) as first:
            for number in range(10):
                assert (await first.getone()).value == b"old%d" % number
            if way is by_mark:
                first.store_offsets({TP: 10})
            change(broker)
            if noticed:
                await notice(kafka, first)
            with contextlib.suppress(UnknownTopicIdError, KafkaTimeoutError):
                await way(first)
        if noticed and way in (by_position, by_mark, as_it_leaves):
            stored = broker.group("g").offsets.get(TP)
            assert stored is None or stored.offset <= min(places_of(broker, "new"))
        read = {b"old%d" % number for number in range(10)}
        async with member(kafka, "t", group_protocol=protocol) as second:
            for _ in range(20):
                for records in (await second.getmany(timeout_ms=1000)).values():
                    read.update(record.value or b"" for record in records)
        assert not values_in(broker) - read

    run(main)


@pytest.mark.parametrize(
    ("change", "noticed"),
    [(anew, True), *((cut_at(offset), noticed) for offset in (2, 6) for noticed in (True, False))],
    ids=["created anew", "cut at 2", "cut at 2, not noticed", "cut at 6", "cut at 6, not noticed"],
)
@pytest.mark.parametrize("goes_on", [True, False], ids=["goes on", "ends"])
@pytest.mark.parametrize("fails", [False, True], ids=["block ends", "block raises"])
@pytest.mark.parametrize("first", [0, 4], ids=["first batch", "second batch"])
@pytest.mark.parametrize("topics", [["t"], []], ids=["subscribed", "assigned"])
def test_a_session_counts_each_record_of_the_log_once(
    topics: list[str], first: int, change: Change, noticed: bool, fails: bool, goes_on: bool
) -> None:
    """The log changes while the batch of four records from offset `first` on is at work.

    A topic that was created anew has to be noticed: a transaction's offsets name their topic.
    """

    async def main(kafka: VirtualKafka) -> None:
        broker = kafka.broker
        broker.create_topic("out")
        has_changed = False

        async def copy() -> None:
            nonlocal has_changed
            changed_now = False
            consumer = member(kafka, *topics, isolation_level="read_committed", max_poll_records=4)
            if not topics:
                consumer.assign([TP])
            producer = AIOKafkaProducer(transactional_id="copy", **kafka.client_options)
            async with ExactlyOnceSession(consumer, producer) as session:
                for _ in range(20):
                    # The producer has known the id of the former topic.
                    with contextlib.suppress(ZeroDivisionError, UnknownTopicIdError):
                        async with session.batch(timeout_ms=1000) as records:
                            for record in records.get(TP, ()):
                                await producer.send("out", record.value)
                            if TP not in records or has_changed or records[TP][0].offset < first:
                                continue
                            has_changed = changed_now = True
                            change(broker)
                            if noticed:
                                await notice(kafka, consumer)
                            if fails:
                                raise ZeroDivisionError
                    if changed_now and not goes_on:
                        break

        await copy()
        await copy()
        copied: list[bytes] = []
        options: dict[str, Any] = {
            "auto_offset_reset": "earliest",
            "isolation_level": "read_committed",
            **kafka.client_options,
        }
        async with AIOKafkaConsumer("out", **options) as reader:
            while found := await reader.getmany(timeout_ms=1000):
                copied += [record.value or b"" for records in found.values() for record in records]
        in_log = values_in(broker)
        assert sorted(value for value in copied if value in in_log) == sorted(in_log)

    run(main)


@pytest.mark.parametrize(
    ("asked", "group_id", "policy", "position"),
    [(ListOffsetsRequest, None, "latest", 20), (OffsetFetchRequest, "g", "earliest", 0)],
    ids=["reset", "committed"],
)
def test_an_answer_about_the_former_topic_is_no_position(
    asked: Any, group_id: str | None, policy: str, position: int
) -> None:
    """The broker has answered before the topic was created anew; the answer is on its way."""

    async def main(kafka: VirtualKafka) -> None:
        broker = kafka.broker
        options: dict[str, Any] = {"group_id": group_id, "enable_auto_commit": False}
        consumer = AIOKafkaConsumer[Any, Any](
            auto_offset_reset=policy, **options, **kafka.client_options
        )
        consumer.assign([TP])
        async with consumer:
            assert consumer.kafka_client is not None
            if group_id is not None:
                await consumer.commit({TP: 8})
            await consumer.kafka_client.metadata.refresh()
            broker.faults.delay(asked, 5.0)
            consumer.assign([TopicPartition("other", 0)])
            consumer.assign([TP])
            found = asyncio.create_task(consumer.position(TP))
            await kafka.clock.sleep(1)
            anew(broker)
            write(broker, "new", range(10, 20))
            await consumer.kafka_client.metadata.refresh()
            assert await found == position

    run(main)
