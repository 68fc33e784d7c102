"""What aiokafka promises by its documentation and tests, one small function for each promise.

`python aiokafka_promises.py BOOTSTRAP [NAME …]` runs all of them, or those of the names, and prints
for each its name and "kept", or the error. Every promise is kept by aiokafka itself.
"""

import asyncio
import gc
import json
import sys
import time
import traceback
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

from aiokafka import (
    AIOKafkaClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    TopicPartition,
)
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.cluster import ClusterMetadata
from aiokafka.errors import (
    ConsumerStoppedError,
    IllegalOperation,
    IllegalStateError,
    InvalidSessionTimeoutError,
    KafkaConnectionError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    OutOfOrderSequenceNumber,
    ProducerClosed,
    ProducerFenced,
    UnknownTopicOrPartitionError,
)
from aiokafka.protocol.api import Response
from aiokafka.protocol.metadata import MetadataRequest, MetadataResponse_v0
from aiokafka.structs import OffsetAndMetadata, OffsetAndTimestamp

BOOTSTRAP, *CHOSEN = sys.argv[1:]
MARK = f"{time.time_ns():x}"
numbers = count()
promises: list[Callable[[str], Awaitable[None]]] = []


def promise(function: Callable[[str], Awaitable[None]]) -> Callable[[str], Awaitable[None]]:
    """A promise; it is called with the name of a topic of two partitions that is its own."""
    promises.append(function)
    return function


async def fails(kind: type[BaseException], call: Any, words: str = "") -> None:
    """The call raises that error, with these words in its text."""
    try:
        result = call() if callable(call) else call
        if asyncio.iscoroutine(result):
            result = await result
    except kind as error:
        if words not in str(error):
            raise AssertionError(f"{words!r} is not in the text of {error!r}") from error
    else:
        raise AssertionError(f"{kind.__name__} was not raised, but {result!r} returned")


async def fill(topic: str, *partitions: Iterable[Any], **options: Any) -> list[Any]:
    """Write these values into partition 0, 1, …; return what the producer said."""
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP) as producer:
        return [
            await producer.send_and_wait(topic, str(value).encode(), partition=number, **options)
            for number, values in enumerate(partitions)
            for value in values
        ]


@asynccontextmanager
async def reading(*topics: str, **options: Any) -> AsyncIterator[AIOKafkaConsumer]:
    """A started consumer of a group of its own that begins at the first record."""
    given = {"group_id": f"group-{MARK}-{next(numbers)}", "auto_offset_reset": "earliest"}
    consumer = AIOKafkaConsumer(*topics, bootstrap_servers=BOOTSTRAP, **{**given, **options})
    await consumer.start()
    try:
        yield consumer
    finally:
        await consumer.stop()


@asynccontextmanager
async def sending(**options: Any) -> AsyncIterator[AIOKafkaProducer]:
    producer = AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, **options)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


async def values(consumer: AIOKafkaConsumer, number: int) -> list[int]:
    """That many records, by `getone`, in the order of their values."""
    return sorted([int((await consumer.getone()).value) for _ in range(number)])


class Watch(ConsumerRebalanceListener):  # type: ignore[misc]
    """Notes its calls, and lets a test wait for an assignment."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, set[TopicPartition]]] = []
        self.assigned: asyncio.Queue[set[TopicPartition]] = asyncio.Queue()

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.calls.append(("revoked", set(revoked)))

    def on_partitions_assigned(self, assigned: Any) -> None:
        self.calls.append(("assigned", set(assigned)))
        self.assigned.put_nowait(set(assigned))

    def number(self, kind: str) -> int:
        return sum(call == kind for call, _ in self.calls)

    async def was_assigned(self, times: int) -> None:
        await until(lambda: self.number("assigned") == times)
        assert self.number("revoked") == times, self.calls


async def until(condition: Callable[[], bool], seconds: float = 15) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


async def found(ask: Callable[[], Awaitable[Any]], condition: Callable[[Any], bool]) -> Any:
    """Ask until the answer is so; a cluster tells its nodes of changes a moment later."""
    async with asyncio.timeout(15):
        while not condition(answer := await ask()):
            await asyncio.sleep(0.05)
    return answer


# The consumer.


@promise
async def a_consumer_reads_all_and_knows_its_partitions(topic: str) -> None:
    began = int(time.time() * 1000)
    await fill(topic, range(50), range(50, 100))
    p0, p1 = TopicPartition(topic, 0), TopicPartition(topic, 1)
    async with reading(topic) as consumer:
        assert sorted(consumer.assignment()) == [p0, p1]
        assert topic in await consumer.topics()
        assert consumer.partitions_for_topic(topic) == {0, 1}
        assert await consumer.committed(TopicPartition("no-such-topic", 2)) is None
        assert await consumer.committed(p0) is None
        assert await values(consumer, 100) == list(range(100))
        assert consumer.highwater(p0) == 50
        assert began <= consumer.last_poll_timestamp(p0) <= time.time() * 1000
        consumer.seek(p0, 40)
        assert await values(consumer, 10) == list(range(40, 50))
        await consumer.stop()
        await consumer.stop()


@promise
async def a_context_manager_stops_on_errors_too(topic: str) -> None:
    await fill(topic, range(10))
    consumer = AIOKafkaConsumer(topic, bootstrap_servers=BOOTSTRAP, auto_offset_reset="earliest")
    with suppress(ValueError):
        async with consumer as entered:
            assert entered is consumer
            assert consumer._fetcher is not None
            read = [record.value async for _, record in azip(range(10), consumer)]
            assert len(read) == 10
            raise ValueError
    assert consumer._closed


async def azip(numbers: range, consumer: AIOKafkaConsumer) -> AsyncIterator[tuple[int, Any]]:
    for number in numbers:
        yield number, await consumer.__anext__()


@promise
async def an_unclosed_consumer_warns(topic: str) -> None:
    consumer = AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP)
    await consumer.start()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del consumer
        await asyncio.sleep(0)
        gc.collect()
    assert any("Unclosed AIOKafkaConsumer" in str(each.message) for each in caught), caught
    await asyncio.sleep(0.1)
    loop.set_exception_handler(None)


@promise
async def an_unclosed_producer_warns(topic: str) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=BOOTSTRAP)
    await producer.start()
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda *_: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del producer
        gc.collect()
    assert any("Unclosed AIOKafkaProducer" in str(each.message) for each in caught), caught
    await asyncio.sleep(0.1)
    loop.set_exception_handler(None)


@promise
async def a_loop_may_be_passed_and_is_deprecated(topic: str) -> None:
    for client in (AIOKafkaConsumer, AIOKafkaProducer):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            client(bootstrap_servers=BOOTSTRAP, loop=asyncio.get_running_loop())
        assert any(issubclass(each.category, DeprecationWarning) for each in caught), client


@promise
async def two_tasks_read_a_partition_each(topic: str) -> None:
    await fill(topic, range(30), range(30, 60))
    async with reading(topic) as consumer:

        async def read(number: int) -> list[int]:
            place = TopicPartition(topic, number)
            return [int((await consumer.getone(place)).value) for _ in range(30)]

        assert await asyncio.gather(read(0), read(1)) == [list(range(30)), list(range(30, 60))]


@promise
async def without_a_group_each_consumer_has_all_and_none_commits(topic: str) -> None:
    await fill(topic, range(20), range(20, 40))
    for options in ({"enable_auto_commit": False}, {}):
        async with reading(topic, group_id=None, **options) as consumer:
            assert await values(consumer, 40) == list(range(40))
            await fails(IllegalOperation, consumer.commit())
            place = TopicPartition(topic, 0)
            await fails(IllegalOperation, consumer.commit({place: 1}))
            await fails(IllegalOperation, consumer.committed(place))


@promise
async def getmany_takes_partitions(topic: str) -> None:
    await fill(topic, range(30), range(30, 60))
    p0, p1 = TopicPartition(topic, 0), TopicPartition(topic, 1)
    async with reading(topic) as consumer:
        for place, expected in ((p0, list(range(30))), (p1, list(range(30, 60)))):
            read: list[int] = []
            while len(read) < 30:
                for found, records in (await consumer.getmany(place, timeout_ms=1000)).items():
                    assert found == place
                    read += [int(record.value) for record in records]
            assert read == expected


@promise
async def records_larger_than_a_fetch_come_one_by_one(topic: str) -> None:
    sizes = (10, 50_000, 50)
    async with sending() as producer:
        for size in sizes:
            await producer.send_and_wait(topic, b"x" * size, partition=0)
    place = TopicPartition(topic, 0)
    async with reading(topic, max_partition_fetch_bytes=4000) as consumer:
        assert [len((await consumer.getone()).value) for _ in sizes] == list(sizes)
    async with reading(topic, max_partition_fetch_bytes=4000) as consumer:
        for size in sizes:
            found = await consumer.getmany(timeout_ms=1000)
            assert [len(record.value) for record in found[place]] == [size], found


@promise
async def the_next_member_resumes(topic: str) -> None:
    await fill(topic, range(30), range(30, 60))
    group = f"resume-{MARK}"
    async with reading(topic, group_id=group) as first, reading(topic, group_id=group) as second:
        read = [int((await first.getone()).value) for _ in range(10)]
        await first.stop()
        while len(read) < 60:
            read.append(int((await second.getone()).value))
        assert sorted(read) == list(range(60)), sorted(read)


@promise
async def assign_and_subscribe_exclude_each_other(topic: str) -> None:
    await fill(topic, range(10), range(10, 20))
    async with reading(topic) as consumer:
        await fails(IllegalStateError, lambda: consumer.assign([TopicPartition(topic, 0)]))
        consumer.unsubscribe()
        consumer.assign([TopicPartition(topic, 0)])
        assert await values(consumer, 10) == list(range(10))
        await consumer.commit()
        assert await consumer.position(TopicPartition(topic, 0)) == 10
        consumer.unsubscribe()
        consumer.assign([TopicPartition(topic, 1)])
        assert await values(consumer, 10) == list(range(10, 20))


@promise
async def a_pattern_is_subscribed_and_offsets_are_sought(topic: str) -> None:
    await fill(topic, range(10), range(10, 20))
    group = f"pattern-{MARK}"
    place = TopicPartition(topic, 0)
    options = {"group_id": group, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    consumer = AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP, **options)
    consumer.subscribe(pattern=f"^{topic[:-1]}.*")
    await consumer.start()
    await consumer.seek_to_committed()
    assert await values(consumer, 20) == list(range(20))
    await consumer.commit({place: OffsetAndMetadata(9, "")})
    await consumer.seek_to_committed(place)
    assert (await consumer.getone(place)).value == b"9"
    await consumer.commit({place: OffsetAndMetadata(10, "")})
    await consumer.stop()
    consumer = AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP, **options)
    consumer.subscribe(topics=(topic,))
    await consumer.start()
    await consumer.seek_to_committed()
    assert await values(consumer, 10) == list(range(10, 20))
    assert consumer.subscription() == {topic}
    await consumer.stop()


@promise
async def wrong_subscriptions_are_refused(topic: str) -> None:
    async with reading(topic) as consumer:
        both = lambda: consumer.subscribe(topics=(topic,), pattern="some")  # noqa: E731
        await fails(TypeError, both)
        await fails(TypeError, lambda: consumer.subscribe(topics=(), pattern=None))
        await fails(ValueError, lambda: consumer.subscribe(pattern="^(some("))
        await fails(TypeError, lambda: consumer.subscribe("some_topic"))
        await fails(TypeError, lambda: consumer.subscribe(topics=["some"], listener=object()))


@promise
async def each_codec_is_read(topic: str) -> None:
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        async with sending(compression_type=codec) as producer:
            await producer.send_and_wait(topic, f"{codec} ".encode() * 30, partition=1)
    async with reading(topic) as consumer:
        read = [(await consumer.getone()).value.split()[0] for _ in range(4)]
        assert read == [b"gzip", b"snappy", b"lz4", b"zstd"]


@promise
async def seek_drops_what_was_fetched(topic: str) -> None:
    await fill(topic, [1, 2, 3])
    place = TopicPartition(topic, 0)
    async with reading(topic) as consumer:
        assert (await consumer.getone()).value == b"1"
        consumer.seek(place, 0)
        assert await values(consumer, 2) == [1, 2]
        consumer.seek(place, 1)
        found = await consumer.getmany(timeout_ms=1000)
        assert [record.value for record in found[place]] == [b"2", b"3"]
        consumer.seek(place, 2)
        assert (await consumer.getone()).value == b"3"
        assert await consumer.getmany(timeout_ms=0) == {}
        consumer.seek(place, 2)
        found = await consumer.getmany(timeout_ms=1000)
        assert [record.value for record in found[place]] == [b"3"]


@promise
async def seek_to_both_ends(topic: str) -> None:
    await fill(topic, [1, 2, 3])
    place = TopicPartition(topic, 0)
    async with reading(topic) as consumer:
        begin = await consumer.position(place)
        first = await consumer.getone()
        await consumer.seek_to_beginning()
        assert (await consumer.getone()).value == first.value
        await consumer.seek_to_beginning(place)
        assert (await consumer.getone()).value == first.value
        assert await consumer.position(place) == begin + 1
        await consumer.seek_to_end()
        assert await consumer.position(place) == begin + 3
        waiting = asyncio.create_task(consumer.getone())
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await fill(topic, [4, 5, 6])
        assert (await waiting).value == b"4"
        await consumer.seek_to_end(place)
        waiting = asyncio.create_task(consumer.getone())
        await asyncio.sleep(0.1)
        await fill(topic, [7, 8])
        assert (await waiting).value == b"7"
        assert await consumer.position(place) == begin + 7


@promise
async def wrong_seeks_are_refused(topic: str) -> None:
    p0, p1 = TopicPartition(topic, 0), TopicPartition(topic, 1)
    async with reading() as consumer:
        consumer.assign([p0])
        await fails(IllegalStateError, lambda: consumer.seek_to_beginning(p1))
        await fails(IllegalStateError, lambda: consumer.seek_to_committed(p1))
        await fails(IllegalStateError, lambda: consumer.seek_to_end(p1))
    async with reading(topic) as consumer:
        await fails(ValueError, lambda: consumer.seek(p0, -1))
        await fails(ValueError, lambda: consumer.seek(p0, ""))
        await fails(TypeError, lambda: consumer.seek_to_beginning(1))
        await fails(TypeError, lambda: consumer.seek_to_committed(1))
        await fails(TypeError, lambda: consumer.seek_to_end(1))


@promise
async def without_a_group_topics_are_subscribed_before_and_after_start(topic: str) -> None:
    await fill(topic, range(10), range(10, 20))
    for starts_first in (False, True):
        consumer = AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP, auto_offset_reset="earliest")
        if starts_first:
            await consumer.start()
        consumer.subscribe(topics=(topic,))
        if not starts_first:
            await consumer.start()
        assert await values(consumer, 20) == list(range(20))
        await consumer.stop()


@promise
async def partitions_are_assigned_before_and_after_start(topic: str) -> None:
    await fill(topic, range(10))
    place = TopicPartition(topic, 0)
    for starts_first in (False, True):
        for group in (None, f"assign-{MARK}-{starts_first}"):
            consumer = AIOKafkaConsumer(
                bootstrap_servers=BOOTSTRAP,
                auto_offset_reset="earliest",
                group_id=group,
                enable_auto_commit=False,
            )
            if starts_first:
                await consumer.start()
            consumer.assign([place])
            if not starts_first:
                await consumer.start()
            assert await values(consumer, 5) == list(range(5))
            if group:
                await consumer.commit()
                assert await consumer.committed(place) == 5
            await consumer.stop()


@promise
async def a_listener_without_a_group_is_accepted(topic: str) -> None:
    await fill(topic, [1])
    watch = Watch()
    consumer = AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP, auto_offset_reset="earliest")
    consumer.subscribe([topic], listener=watch)
    async with consumer:
        assert (await consumer.getone()).value == b"1"
    assert watch.calls == []


@promise
async def a_record_has_sizes_and_times(topic: str) -> None:
    began = time.time() * 1000 - 1
    await fill(topic, ["some-message#1"])
    async with reading(topic) as consumer:
        record = await consumer.getone()
    assert (record.serialized_key_size, record.serialized_value_size) == (-1, 14)
    assert record.timestamp >= began
    assert record.timestamp_type == 0


@promise
async def getmany_obeys_its_limits(topic: str) -> None:
    await fill(topic, range(100))

    async def number(**options: Any) -> int:
        found = await consumer.getmany(timeout_ms=1000, **options)
        return sum(map(len, found.values()))

    async with reading(topic, max_poll_records=48) as consumer:
        assert await number() == 48
        assert await number(max_records=42) == 42
        assert await number(max_records=None) == 10
        await fill(topic, [0])
        assert await number(max_records=100) == 1
        await fails(ValueError, consumer.getmany(max_records=0))
    zero = lambda: AIOKafkaConsumer(topic, bootstrap_servers=BOOTSTRAP, max_poll_records=0)  # noqa: E731
    await fails(ValueError, zero)


@promise
async def getmany_returns_all_that_was_fetched(topic: str) -> None:
    await fill(topic, ())
    async with sending(linger_ms=50) as producer:
        await asyncio.gather(
            *[await producer.send(topic, b"%d" % number, partition=0) for number in range(700)]
        )
    async with reading(topic) as consumer:
        await consumer.getone()
        found = await consumer.getmany(timeout_ms=1000)
        assert sum(map(len, found.values())) > 500


@promise
async def wrong_options_of_a_consumer_are_refused(topic: str) -> None:
    def make(**options: Any) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(topic, bootstrap_servers=BOOTSTRAP, **options)

    words = "`security_protocol` should be SSL or PLAINTEXT"
    await fails(ValueError, lambda: make(security_protocol="SOME"), words)
    words = "`ssl_context` is mandatory if security_protocol=='SSL'"
    await fails(ValueError, lambda: make(security_protocol="SSL", ssl_context=None), words)
    words = "sasl_plain_username and sasl_plain_password required for PLAIN sasl"
    await fails(ValueError, lambda: make(security_protocol="SASL_PLAINTEXT"), words)

    async def isolated() -> None:
        consumer = make(isolation_level="READ_CCC")
        try:
            await consumer.start()
        finally:
            await consumer.stop()

    await fails(ValueError, isolated, "Incorrect isolation level READ_CCC")


@promise
async def wrong_commits_are_refused(topic: str) -> None:
    place = TopicPartition(topic, 0)
    async with reading(topic, enable_auto_commit=False) as consumer:
        commit = consumer.commit
        await fails(ValueError, commit({}))
        await fails(ValueError, commit("something"))
        await fails(ValueError, commit({place: (1, "metadata", 100)}))
        words = "Key should be TopicPartition instance"
        await fails(TypeError, commit({"my_topic": OffsetAndMetadata(1, "")}), words)
        await fails(TypeError, commit({place: (1, 1000)}), "Metadata should be a string")
        await fails(TypeError, commit({place: (1, b"\x00")}), "Metadata should be a string")
        await fails(IllegalStateError, commit({TopicPartition(topic, 10): 1}), "is not assigned")
    async with reading() as consumer:
        words = "Not subscribed to any topics"
        await fails(IllegalStateError, consumer.commit({place: 1}), words)
        consumer.subscribe(topics={topic})
        await fails(IllegalStateError, consumer.commit({place: 1}), "No partitions assigned")


@promise
async def a_position_waits_for_its_assignment(topic: str) -> None:
    await fill(topic, [1, 2, 3])
    place = TopicPartition(topic, 0)
    async with reading(topic, enable_auto_commit=False) as consumer:
        assert await consumer.position(place) == 0
        await consumer.getone()
        assert await consumer.position(place) == 1
        await fails(IllegalStateError, consumer.position(TopicPartition(topic, 1000)))
        consumer.subscribe((topic, f"{topic}-other"))
        await consumer._subscription.wait_for_assignment()
        assert place in consumer.assignment()
        position = asyncio.create_task(consumer.position(place))
        await asyncio.sleep(0)
        consumer.subscribe((topic,))
        assert await position == 0
        consumer.subscribe((topic, f"{topic}-other"))
        await consumer._subscription.wait_for_assignment()
        position = asyncio.create_task(consumer.position(place))
        await asyncio.sleep(0)
        consumer.unsubscribe()
        with suppress(IllegalStateError):
            await position


@promise
async def a_commit_takes_offsets_with_and_without_metadata(topic: str) -> None:
    await fill(topic, [1, 2, 3])
    place = TopicPartition(topic, 0)
    async with reading(topic) as consumer:
        await consumer.getone()
        await consumer.commit({place: 1})
        assert await consumer.committed(place) == 1
        await consumer.commit({place: (2, "My metadata 2")})
        assert await consumer.committed(place) == 2
        await consumer.commit({place: OffsetAndMetadata(3, "")})
        assert await consumer.committed(place) == 3


@promise
async def a_member_without_subscription_stops(topic: str) -> None:
    async with reading(heartbeat_interval_ms=100) as consumer:
        await asyncio.sleep(0.1)
        consumer.subscribe([topic])
        await asyncio.sleep(0.01)
        consumer.unsubscribe()


@promise
async def a_topic_that_is_made_later_is_read_from_now_on(topic: str) -> None:
    later = f"{topic}-later"
    async with reading(later, auto_offset_reset="latest", group_id=None) as consumer:
        waiting = asyncio.create_task(consumer.getone())
        await asyncio.sleep(0.5)
        assert not waiting.done()
        await fill(later, [7])
        assert (await waiting).value == b"7"


async def subscribed(consumer: AIOKafkaConsumer, topics: set[str]) -> None:
    await until(lambda: consumer.subscription() == topics, 5)


@promise
async def a_pattern_finds_topics_that_are_made_later(topic: str) -> None:
    for group in (f"later-{MARK}", None):
        stem = f"{topic}-made-{group}"
        options = {"metadata_max_age_ms": 200, "fetch_max_wait_ms": 50, "group_id": group}
        async with reading(**options) as consumer, sending() as producer:
            consumer.subscribe(pattern=f"^{stem}-.*$")
            waiting = asyncio.create_task(consumer.getone())
            await asyncio.sleep(0.3)
            assert not waiting.done()
            assert consumer.subscription() == set()
            for made in ({f"{stem}-1"}, {f"{stem}-1", f"{stem}-2"}):
                await producer.client._wait_on_metadata(max(made))
                await subscribed(consumer, made)
                assert not waiting.done()
                assert consumer._client.cluster.topics() >= made
            await producer.send(f"{stem}-1", b"7")
            assert (await asyncio.wait_for(waiting, 5)).value == b"7"


async def shared(members: list[AIOKafkaConsumer], places: set[TopicPartition]) -> None:
    await until(lambda: {each for member in members for each in member.assignment()} == places)


@promise
async def a_new_topic_is_shared_by_the_members(topic: str) -> None:
    stem = f"{topic}-new"
    watches = (Watch(), Watch())
    client = AIOKafkaClient(bootstrap_servers=BOOTSTRAP)
    await client.bootstrap()
    members = []
    for watch in watches:
        member = AIOKafkaConsumer(
            bootstrap_servers=BOOTSTRAP,
            metadata_max_age_ms=200,
            group_id=f"new-{MARK}",
            heartbeat_interval_ms=100,
        )
        member.subscribe(pattern=f"^{stem}-.*$", listener=watch)
        await member.start()
        assert member.assignment() == set()
        members.append(member)
    expected: set[TopicPartition] = set()
    for number in (1, 2):
        made = f"{stem}-{number}"
        await client._wait_on_metadata(made)
        expected |= {
            TopicPartition(made, each) for each in client.cluster.partitions_for_topic(made)
        }
        await shared(members, expected)
    for member in members:
        await member.stop()
    await client.close()


@promise
async def stop_ends_a_waiting_getone(topic: str) -> None:
    async with reading(topic) as consumer:
        waiting = asyncio.create_task(consumer.getone())
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await consumer.stop()
        await fails(ConsumerStoppedError, lambda: asyncio.wait_for(waiting, 5))
        await fails(ConsumerStoppedError, consumer.getone())


@promise
async def stop_ends_a_waiting_getmany_without_records(topic: str) -> None:
    async with reading(topic) as consumer:
        waiting = asyncio.create_task(consumer.getmany(timeout_ms=10_000))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await consumer.stop()
        assert waiting.done()
        assert waiting.result() == {}
        await fails(ConsumerStoppedError, consumer.getmany(timeout_ms=10_000))
        await fails(ConsumerStoppedError, consumer.getmany(timeout_ms=0))


@promise
async def stop_ends_an_iteration(topic: str) -> None:
    async def iterate() -> None:
        async for record in consumer:
            raise AssertionError(record)

    async with reading(topic, group_id=None) as consumer:
        waiting = asyncio.create_task(iterate())
        await asyncio.sleep(0.1)
        assert not waiting.done()
        await consumer.stop()
        await asyncio.wait_for(waiting, 5)
        await fails(ConsumerStoppedError, iterate())


@promise
async def without_a_reset_the_reader_is_told(topic: str) -> None:
    await fill(topic, [1])
    place = TopicPartition(topic, 0)

    async def iterate() -> None:
        async for record in consumer:
            raise AssertionError(record)

    async with reading(topic, auto_offset_reset="none", group_id=None) as consumer:
        await fails(NoOffsetForPartitionError, iterate())
    async with reading(topic, auto_offset_reset="none") as consumer:

        async def twice(read: Callable[[], Awaitable[Any]]) -> None:
            for _ in range(2):
                await read()

        missing, outside = NoOffsetForPartitionError, OffsetOutOfRangeError
        await fails(missing, twice(lambda: consumer.getmany(timeout_ms=1000)))
        await fails(missing, twice(consumer.getone))
        consumer.seek(place, 19_999)
        await fails(outside, twice(lambda: consumer.getmany(place, timeout_ms=1000)))
        await fails(outside, twice(lambda: consumer.getone(place)))


@promise
async def internal_topics_can_be_subscribed(topic: str) -> None:
    await fill(topic, [1])
    async with reading(topic) as consumer:
        await consumer.getone()
        await consumer.commit()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=BOOTSTRAP, group_id=f"internal-{MARK}", exclude_internal_topics=False
    )
    consumer.subscribe(pattern="^__.*$")
    async with consumer:
        assert "__consumer_offsets" in consumer.subscription()
        await consumer._client.force_metadata_update()
        assert "__consumer_offsets" in consumer.subscription()


@promise
async def a_new_subscription_drops_what_was_fetched(topic: str) -> None:
    second, third = f"{topic}-2", f"{topic}-3"
    await fill(topic, [1, 2, 3])
    await fill(second, [5, 6])
    await fill(third, [8])
    place = TopicPartition(topic, 0)
    for read_some in (False, True):
        async with reading(topic) as consumer:
            await consumer.getone()
            assert place in consumer._fetcher._records
            for other, expected in ((second, b"5"), (third, b"8")):
                consumer.subscribe([other])
                there = TopicPartition(other, 0)
                if read_some:
                    found = await consumer.getmany(there, timeout_ms=5000, max_records=1)
                    assert found[there][0].value == expected
                else:
                    assert (await consumer.getone(there)).value == expected
                assert place not in consumer._fetcher._records


@promise
async def a_listener_is_told_of_each_assignment(topic: str) -> None:
    await fill(topic, range(5), range(5, 10))
    p0, p1 = TopicPartition(topic, 0), TopicPartition(topic, 1)
    watches, members = (Watch(), Watch()), []
    for watch in watches:
        member = AIOKafkaConsumer(
            bootstrap_servers=BOOTSTRAP,
            group_id=f"told-{MARK}",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
        )
        member.subscribe([topic], listener=watch)
        await member.start()
        members.append(member)
        if len(members) == 1:
            assert watch.calls == [("revoked", set()), ("assigned", {p0, p1})], watch.calls
    await asyncio.gather(members[0].getone(), members[1].getone())
    mine, theirs = members[0].assignment(), members[1].assignment()
    assert {*mine, *theirs} == {p0, p1}
    assert watches[0].calls[2:] == [("revoked", {p0, p1}), ("assigned", set(mine))]
    assert watches[1].calls == [("revoked", set()), ("assigned", set(theirs))]
    for member in members:
        await member.stop()


@promise
async def a_listener_may_be_a_coroutine_that_commits_and_seeks(topic: str) -> None:
    await fill(topic, range(3))
    place = TopicPartition(topic, 0)
    seen: list[Any] = []

    class Seek(ConsumerRebalanceListener):  # type: ignore[misc]
        async def on_partitions_revoked(self, revoked: Any) -> None:
            pass

        async def on_partitions_assigned(self, assigned: Any) -> None:
            await asyncio.create_task(self.seek())

        async def seek(self) -> None:
            seen.append(await consumer.committed(place))
            seen.append(await consumer.position(place))
            await consumer.seek_to_end(place)
            seen.append(await consumer.position(place))

    consumer = AIOKafkaConsumer(
        bootstrap_servers=BOOTSTRAP, group_id=f"deadlock-{MARK}", auto_offset_reset="earliest"
    )
    consumer.subscribe([topic], listener=Seek())
    async with consumer:
        await until(lambda: seen == [None, 0, 3])


@promise
async def a_commit_does_not_wait_for_a_fetch(topic: str) -> None:
    await fill(topic, range(10))
    async with reading(topic, fetch_max_wait_ms=10_000) as consumer:
        await consumer.getmany(timeout_ms=1000)
        polling = asyncio.create_task(consumer.getmany(timeout_ms=1000))
        await asyncio.sleep(0.2)
        began = time.monotonic()
        await consumer.commit()
        assert not polling.done()
        assert time.monotonic() - began < 0.5
        await polling


@promise
async def offsets_are_found_by_time(topic: str) -> None:
    p0, p1 = TopicPartition(topic, 0), TopicPartition(topic, 1)
    now = int(time.time() * 1000)
    await fill(topic, [1], timestamp_ms=now - 2000)
    await fill(topic, [1], [1], timestamp_ms=now)
    async with reading(topic) as consumer:
        for asked, expected in (
            (now - 2000, OffsetAndTimestamp(0, now - 2000)),
            (now - 1000, OffsetAndTimestamp(1, now)),
            (now, OffsetAndTimestamp(1, now)),
            (0, OffsetAndTimestamp(0, now - 2000)),
            (9_999_999_999_999, None),
        ):
            assert await consumer.offsets_for_times({p0: asked}) == {p0: expected}, asked
        assert await consumer.offsets_for_times({}) == {}
        assert await consumer.beginning_offsets([p0, p1]) == {p0: 0, p1: 0}
        assert await consumer.end_offsets([p0, p1]) == {p0: 2, p1: 1}
        assert (await consumer.offsets_for_times({p0: now, p1: now}))[p1].offset == 0
        await fails(ValueError, consumer.offsets_for_times({p0: -1}))
    async with reading(topic, request_timeout_ms=1000, fetch_max_wait_ms=100) as consumer:
        unknown = {TopicPartition(topic, 100): 0}
        await fails(KafkaTimeoutError, consumer.offsets_for_times(unknown))


@promise
async def the_coordinator_shows_its_options(topic: str) -> None:
    options: dict[str, Any] = {
        "session_timeout_ms": 12_345,
        "heartbeat_interval_ms": 3456,
        "retry_backoff_ms": 567,
        "auto_commit_interval_ms": 6789,
        "exclude_internal_topics": False,
        "enable_auto_commit": True,
    }
    async with reading(topic, group_id="shows", **options) as consumer:
        coordinator = consumer._coordinator
        assert coordinator.group_id == "shows"
        shown = {name: getattr(coordinator, f"_{name}") for name in options}
        assert shown == options, shown


@promise
async def a_session_that_is_too_short_is_refused(topic: str) -> None:
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=BOOTSTRAP,
        group_id="too-short",
        session_timeout_ms=200,
        heartbeat_interval_ms=100,
    )
    await fails(InvalidSessionTimeoutError, consumer.start())
    await consumer.stop()


@promise
async def serializers_and_deserializers_see_none(topic: str) -> None:
    def dump(value: Any) -> bytes | None:
        return None if value is None else json.dumps(value).encode()

    def load(value: bytes | None) -> Any:
        return None if value is None else json.loads(value.decode())

    async with sending(key_serializer=dump, value_serializer=dump) as producer:
        await producer.send_and_wait(topic, key={"key": 1}, value=["v1", "v2"], partition=0)
        await producer.send_and_wait(topic, key={"key": 2}, partition=0)
    async with reading(topic, key_deserializer=load, value_deserializer=load) as consumer:
        first, second = await consumer.getone(), await consumer.getone()
    assert (first.key, first.value) == ({"key": 1}, ["v1", "v2"])
    assert (second.key, second.value) == ({"key": 2}, None)


@promise
async def the_middle_of_a_batch_is_read_from_there_on(topic: str) -> None:
    place = TopicPartition(topic, 0)
    async with sending(compression_type="gzip") as producer:
        batch = producer.create_batch()
        for number in range(10):
            batch.append(key=b"123", value=b"%d" % number, timestamp=None)
        meta = await (await producer.send_batch(batch, topic=topic, partition=0))
    async with reading(topic) as consumer:
        consumer.seek(place, meta.offset + 5)
        found = await consumer.getmany(timeout_ms=2000)
        assert len(found[place]) == 5
        assert await consumer.position(place) == meta.offset + 10


@promise
async def headers_are_a_tuple_of_pairs(topic: str) -> None:
    await fill(topic, [0], headers=[("header1", b"17")])
    async with reading(topic) as consumer:
        assert (await consumer.getone()).headers == (("header1", b"17"),)


@promise
async def paused_partitions_give_nothing(topic: str) -> None:
    await fill(topic, range(5), range(5))
    p0 = TopicPartition(topic, 0)

    async def partitions(number: int) -> set[int]:
        return {(await consumer.getone()).partition for _ in range(number)}

    async with reading(topic) as consumer:
        assert consumer.paused() == set()
        assert await partitions(10) == {0, 1}
        await consumer.seek_to_beginning()
        consumer.pause(p0)
        assert consumer.paused() == {p0}
        assert await partitions(5) == {1}
        await consumer.seek_to_beginning()
        consumer.resume(p0)
        assert consumer.paused() == set()
        assert await partitions(10) == {0, 1}
        waiting = asyncio.create_task(consumer.getone())
        await asyncio.sleep(0.1)
        consumer.pause(p0)
        await fill(topic, [10])
        await fails(TimeoutError, lambda: asyncio.wait_for(waiting, 0.5))


@promise
async def a_member_that_does_not_poll_leaves_and_comes_back(topic: str) -> None:
    await fill(topic, range(10), range(10, 20))
    group = f"stuck-{MARK}"
    common = {"group_id": group, "heartbeat_interval_ms": 100}
    async with (
        reading(topic, max_poll_interval_ms=2000, **common) as stuck,
        reading(topic, **common) as other,
    ):
        await until(lambda: len(stuck.assignment()) == len(other.assignment()) == 1)
        began = time.monotonic()
        assert set(await values(other, 20)) == set(range(20))
        assert 1 < time.monotonic() - began < 6
        await other.getmany(timeout_ms=100)  # so that the last one counts as worked on
        await fill(topic, range(20, 30), range(30, 40))
        for _ in range(5):
            assert int((await stuck.getone()).value) >= 20


@promise
async def a_static_member_keeps_its_partitions(topic: str) -> None:
    await fill(topic, range(10), range(10, 20))
    watches, members = (Watch(), Watch()), []
    for number, watch in enumerate(watches):
        member = AIOKafkaConsumer(
            bootstrap_servers=BOOTSTRAP,
            group_id=f"static-{MARK}",
            auto_offset_reset="earliest",
            group_instance_id=f"static-{number}",
        )
        member.subscribe([topic], listener=watch)
        await member.start()
        await member.seek_to_committed()
        members.append(member)
    first, second = members
    assert [first._group_instance_id, second._group_instance_id] == ["static-0", "static-1"]
    mine, theirs = first.assignment(), second.assignment()
    assert len(mine) == len(theirs) == 1
    assert watches[0].number("assigned") == watches[0].number("revoked") == 2
    second.unsubscribe()
    second.subscribe([topic], listener=watches[1])
    await second._subscription.wait_for_assignment()
    assert second.assignment() == theirs
    assert watches[1].number("assigned") == 2
    assert watches[0].number("assigned") == 2
    for member in members:
        await member.stop()


@promise
async def a_member_that_unsubscribes_gives_its_partitions_away(topic: str) -> None:
    await fill(topic, range(10), range(10, 20))
    watches, members = (Watch(), Watch()), []
    for watch in watches:
        member = AIOKafkaConsumer(
            bootstrap_servers=BOOTSTRAP,
            group_id=f"dynamic-{MARK}",
            auto_offset_reset="earliest",
            heartbeat_interval_ms=100,
        )
        member.subscribe([topic], listener=watch)
        await member.start()
        await member.seek_to_committed()
        members.append(member)
    first, second = members
    for step, rounds in ((second.unsubscribe, 3), (None, 4), (second.stop, 5)):
        done = second.subscribe([topic], listener=watches[1]) if step is None else step()
        if asyncio.iscoroutine(done):
            await done
        await watches[0].was_assigned(rounds)
    assert len(first.assignment()) == 2
    await first.stop()


# The producer.


@promise
async def wrong_options_of_a_producer_are_refused(topic: str) -> None:
    def make(**options: Any) -> AIOKafkaProducer:
        return AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, **options)

    await fails(ValueError, lambda: make(acks=122))
    await fails(ValueError, lambda: make(compression_type="my_custom"))
    await fails(ValueError, lambda: make(acks=1, enable_idempotence=True))
    words = "`security_protocol` should be SSL or PLAINTEXT"
    await fails(ValueError, lambda: make(security_protocol="SOME"), words)
    words = "`ssl_context` is mandatory if security_protocol=='SSL'"
    await fails(ValueError, lambda: make(security_protocol="SSL", ssl_context=None), words)


@promise
async def a_producer_shows_its_state(topic: str) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, enable_idempotence=True)
    assert producer._sender._acks == -1
    assert producer._txn_manager is not None
    async with producer as entered:
        assert entered is producer
        assert producer._sender._sender_task is not None
        assert await producer.partitions_for(topic) == {0, 1}
        assert not producer._closed
    assert producer._closed


@promise
async def partitions_for_makes_a_topic(topic: str) -> None:
    async with sending() as producer:
        assert 0 in await producer.partitions_for(f"{topic}-made")


@promise
async def send_returns_what_can_be_awaited(topic: str) -> None:
    async with sending() as producer:
        await fails(TypeError, producer.send(topic, "hello, Kafka!", partition=0))
        meta = await (await producer.send(topic, b"hello, Kafka!", partition=0))
        assert (meta.topic, meta.partition, meta.offset) == (topic, 0, 0)
        assert (await (await producer.send(topic, b"second", partition=1))).partition == 1
        assert (await (await producer.send(topic, b"value", key=b"KEY"))).partition in {0, 1}
        assert (await producer.send_and_wait(topic, b"value")).partition in {0, 1}
        await producer.stop()
        await producer.stop()
        await fails(ProducerClosed, producer.send(topic, b"value", key=b"KEY"))


@promise
async def without_acks_there_is_no_result(topic: str) -> None:
    async with sending(acks=0) as producer:
        sent = [await producer.send(topic, b"x", partition=number) for number in (0, 1)]
        done, _ = await asyncio.wait(sent)
        assert [each.result() for each in done] == [None, None]
        assert await producer.send_and_wait(topic, b"x", partition=0) is None


@promise
async def what_send_returns_is_a_future(topic: str) -> None:
    async with sending() as producer:
        sent = await producer.send(topic, b"x", partition=0)
        assert isinstance(sent, asyncio.Future)
        called: list[Any] = []
        sent.add_done_callback(called.append)
        meta = await sent
        await asyncio.sleep(0)
        assert called == [sent]
        assert sent.result() == meta
        assert sent.exception() is None
        assert not sent.cancelled()


@promise
async def serializers_are_used_and_sizes_are_limited(topic: str) -> None:
    options: dict[str, Any] = {
        "key_serializer": lambda key: key.upper().encode(),
        "value_serializer": lambda value: json.dumps(value).encode(),
        "acks": "all",
        "max_request_size": 1000,
    }
    async with sending(**options) as producer:
        first = await (await producer.send(topic, {"k": 1.5, 23: "v"}, key="some key"))
        second = await (await producer.send(topic, "some str", key="some key"))
        assert (second.partition, second.offset) == (first.partition, first.offset + 1)
        too_large = {"k": "*VALUE" * 800}
        await fails(MessageSizeTooLargeError, producer.send(topic, too_large, key="some key"))


@promise
async def a_serializer_s_own_error_comes_through(topic: str) -> None:
    def refuse(value: Any) -> bytes:
        raise LookupError("mine")

    async with sending(value_serializer=refuse) as producer:
        await fails(LookupError, producer.send(topic, "x"), "mine")
    await fill(topic, [1])
    async with reading(topic, value_deserializer=refuse) as consumer:
        await fails(LookupError, consumer.getone(), "mine")


@promise
async def a_batch_is_filled_and_sent(topic: str) -> None:
    size = 10_000
    async with sending(max_batch_size=size) as producer:
        offset = (await producer.send_and_wait(topic, b"first", partition=0)).offset
        batch = producer.create_batch()
        assert batch.record_count() == 0
        number = 0
        while batch.append(key=b"key", value=b"value", timestamp=None) is not None:
            number += 1
        assert batch.record_count() == number > 0
        meta = await (await producer.send_batch(batch, topic, partition=0))
        assert (meta.topic, meta.partition, meta.offset) == (topic, 0, offset + 1)
        batch = producer.create_batch()
        assert batch.append(key=None, value=b"m" * (size + 1), timestamp=None) is not None
        batch = producer.create_batch()
        batch.append(key=None, value=b"short", timestamp=None)
        assert batch.append(key=None, value=b"m" * (size + 1), timestamp=None) is None
    await fails(ProducerClosed, producer.send_batch(batch, topic, partition=0))


@promise
async def an_empty_batch_gives_none(topic: str) -> None:
    async with sending() as producer:
        sent = await producer.send_batch(producer.create_batch(), topic, partition=0)
        assert await sent is None


@promise
async def flush_waits_for_all(topic: str) -> None:
    async with sending() as producer:
        first = await producer.send(topic, b"text1")
        second = await producer.send(topic, b"text2")
        assert not first.done()
        assert not second.done()
        await producer.flush()
        assert first.done()
        assert second.done()


@promise
async def a_time_of_one_s_own_is_kept(topic: str) -> None:
    async with sending() as producer:
        now = time.time() * 1000
        meta = await producer.send_and_wait(topic, b"text1", partition=0)
        assert abs(meta.timestamp - now) < 1000
        meta = await producer.send_and_wait(topic, b"text1", partition=0, timestamp_ms=123_123_123)
        assert (meta.timestamp, meta.timestamp_type) == (123_123_123, 0)


@promise
async def a_missing_partition_is_refused(topic: str) -> None:
    async with sending() as producer:
        await fails(AssertionError, producer.send(topic, b"x", partition=99))


@promise
async def a_topic_that_cannot_be_made_is_unknown(topic: str) -> None:
    async with sending(request_timeout_ms=1000) as producer:
        unknown = producer.send_and_wait("no such topic, as its name is wrong", b"x")
        await fails(Exception, unknown)
        assert UnknownTopicOrPartitionError.errno == 3


@promise
async def an_idempotent_producer_writes(topic: str) -> None:
    async with sending(enable_idempotence=True) as producer:
        headers = [("type", b"Normal")]
        meta = await producer.send_and_wait(topic, b"hello", partition=0, headers=headers)
    async with reading(topic) as consumer:
        record = await consumer.getone()
    assert (record.offset, record.timestamp) == (meta.offset, meta.timestamp)
    assert (record.key, record.value) == (None, b"hello")


# Transactions.


@promise
async def a_transaction_is_read_when_it_is_committed(topic: str) -> None:
    for commits, topic in ((True, topic), (False, f"{topic}-2")):  # noqa: B020, PLR1704
        place = TopicPartition(topic, 0)
        async with (
            sending(transactional_id=f"read-{MARK}") as producer,
            sending() as plain,
            reading(topic, group_id=None, isolation_level="read_committed") as consumer,
        ):
            await producer.begin_transaction()
            inside = await producer.send_and_wait(topic, b"inside", partition=0)
            outside = await plain.send_and_wait(topic, b"outside", partition=0)
            waiting = asyncio.create_task(consumer.getone())
            await asyncio.sleep(0.7)
            assert not waiting.done()
            assert consumer.last_stable_offset(place) == 0
            assert consumer.highwater(place) == 2
            if commits:
                await producer.commit_transaction()
                record = await waiting
                assert (record.offset, record.value) == (inside.offset, b"inside")
                record = await consumer.getone()
            else:
                await producer.abort_transaction()
                record = await waiting
            assert (record.offset, record.value) == (outside.offset, b"outside")
            await fails(TimeoutError, lambda: asyncio.wait_for(consumer.getone(), 0.7))
            assert consumer.last_stable_offset(place) == 3
            assert consumer.highwater(place) == 3


@promise
async def a_reader_passes_the_markers(topic: str) -> None:
    for level in ("read_committed", "read_uncommitted"):
        async with (
            sending(transactional_id=f"marker-{MARK}") as producer,
            reading(group_id=None, isolation_level=level, fetch_max_bytes=10) as consumer,
        ):
            async with producer.transaction():
                meta = await producer.send_and_wait(topic, b"one", partition=0)
            place = meta.topic_partition
            consumer.assign([place])
            consumer.seek(place, meta.offset + 1)
            await fails(TimeoutError, lambda: asyncio.wait_for(consumer.getone(), 0.7))
            assert await consumer.position(place) == meta.offset + 2
            async with producer.transaction():
                await producer.send_and_wait(topic, b"two", partition=0)
            assert (await consumer.getone()).value == b"two"


@promise
async def aborted_records_are_not_read(topic: str) -> None:
    kept = []
    async with sending(transactional_id=f"several-{MARK}") as producer:
        for number in range(10):
            await producer.begin_transaction()
            await producer.send(topic, b"%d" % number, partition=0)
            if number % 3 == 0:
                await producer.commit_transaction()
                kept.append(number)
            else:
                await producer.abort_transaction()
    async with reading(topic, isolation_level="read_committed") as consumer:
        assert await values(consumer, len(kept)) == kept
        await fails(TimeoutError, lambda: asyncio.wait_for(consumer.getone(), 0.5))


@promise
async def empty_transactions_end(topic: str) -> None:
    async with sending(transactional_id=f"empty-{MARK}") as producer:
        await producer.begin_transaction()
        await producer.commit_transaction()
        await producer.begin_transaction()
        await producer.abort_transaction()


@promise
async def a_later_producer_fences_the_former(topic: str) -> None:
    name = f"fence-{MARK}"
    async with (
        sending(transactional_id=name, client_id="p1") as former,
        sending(transactional_id=name, client_id="p2") as later,
    ):
        async with later.transaction():
            await later.send_and_wait(topic, b"2")

        async def write() -> None:
            async with former.transaction():
                await former.send_and_wait(topic, b"1")

        await fails(ProducerFenced, write())


@promise
async def the_producer_id_stays(topic: str) -> None:
    seen = []
    for _ in range(2):
        async with sending(transactional_id=f"pid-{MARK}") as producer:
            seen.append(producer._txn_manager.producer_id)
    assert seen[0] == seen[1] >= 0, seen


@promise
async def a_lost_record_breaks_the_sequence(topic: str) -> None:
    async with sending(transactional_id=f"sequence-{MARK}") as producer:

        async def write() -> None:
            async with producer.transaction():
                await producer.send_and_wait(topic, b"msg1", partition=0)
                place = TopicPartition(topic, 0)
                producer._txn_manager.increment_sequence_number(place, 1)
                await producer.send_and_wait(topic, b"msg2", partition=0)

        await fails(OutOfOrderSequenceNumber, write())


@promise
async def offsets_are_part_of_a_transaction(topic: str) -> None:
    await fill(topic, range(30), range(30, 60))
    group = f"offsets-{MARK}"
    async with (
        reading(topic, group_id=group, enable_auto_commit=False) as consumer,
        sending(transactional_id=f"offsets-{MARK}") as producer,
    ):
        places = consumer.assignment()
        assert len(places) == 2
        for place in places:
            await consumer.commit({place: 0})
            assert await consumer.committed(place) == 0

        async def move(*, fails: bool) -> None:
            while found := await consumer.getmany(timeout_ms=1000, max_records=20):
                async with producer.transaction():
                    for records in found.values():
                        for record in records:
                            await producer.send(f"{topic}-out", b"OUT-" + record.value, partition=0)
                    ends = {place: records[-1].offset + 1 for place, records in found.items()}
                    await producer.send_offsets_to_transaction(ends, group)
                    if fails:
                        raise ValueError

        with suppress(ValueError):
            await move(fails=True)
        assert [await consumer.committed(place) for place in places] == [0, 0]
        await consumer.seek_to_committed()
        await move(fails=False)
        assert [await consumer.committed(place) for place in places] == [30, 30]


@promise
async def a_commit_flushes(topic: str) -> None:
    async with sending(transactional_id=f"flush-{MARK}") as producer:
        await producer.begin_transaction()
        sent = [await producer.send(topic, b"Super msg") for _ in range(10)]
        for value in (b"1", b"2"):
            batch = producer.create_batch()
            batch.append(timestamp=None, key=None, value=value)
            batch.close()
            sent.append(await producer.send_batch(batch, topic, partition=0))
        await producer.commit_transaction()
        assert all(each.done() for each in sent)


@promise
async def a_cancelled_commit_goes_on(topic: str) -> None:
    async with sending(transactional_id=f"cancel-{MARK}") as producer:
        for end in (producer.commit_transaction, producer.abort_transaction):
            await producer.begin_transaction()
            await producer.send(topic, b"x", partition=0)
            ending = asyncio.create_task(end())
            await asyncio.sleep(0)
            ending.cancel()
            with suppress(asyncio.CancelledError):
                await ending
            await asyncio.sleep(0.5)
            await producer.begin_transaction()
            await producer.abort_transaction()


@promise
async def transactions_out_of_order_are_refused(topic: str) -> None:
    async with sending() as producer:
        for call in (
            producer.begin_transaction,
            producer.commit_transaction,
            producer.abort_transaction,
        ):
            await fails(IllegalOperation, call())
        await fails(IllegalOperation, lambda: producer.send_offsets_to_transaction({}, "group"))
        await fails(IllegalOperation, producer.transaction().__aenter__)
    async with sending(transactional_id=f"order-{MARK}") as producer:
        await fails(IllegalOperation, producer.send_offsets_to_transaction({}, group_id=None))
        await fails(IllegalOperation, producer.send(topic, b"x"))
        async with producer.transaction():
            await fails(ValueError, producer.send_offsets_to_transaction({}, group_id=None))


# The client.


@promise
async def a_client_is_shown_before_it_is_connected(topic: str) -> None:
    three = ["127.0.0.1:9092", "127.0.0.2:9092", "127.0.0.3:9092"]
    for servers in (three, ",".join(three)):
        client = AIOKafkaClient(bootstrap_servers=servers)
        assert repr(client) == "<AIOKafkaClient client_id=aiokafka-0.14.0>"
        hosts = sorted((host, port) for host, port, *_ in client.hosts)
        assert hosts == [(f"127.0.0.{number}", 9092) for number in (1, 2, 3)]
        assert client.get_random_node() is None


@promise
async def a_client_connects_and_asks(topic: str) -> None:
    nowhere = AIOKafkaClient(bootstrap_servers="127.0.0.1:1", request_timeout_ms=1000)
    await fails(KafkaConnectionError, nowhere.bootstrap())
    client = AIOKafkaClient(bootstrap_servers=BOOTSTRAP)
    await client.bootstrap()
    assert topic in (await client.fetch_all_metadata()).topics()
    for _ in range(2):
        client.set_topics([topic, f"{topic}-t3"])
    client.add_topic(topic)
    await client.bootstrap()
    node = client.get_random_node()
    answer = await client.send(node, MetadataRequest([topic]))
    assert isinstance(answer, Response)
    assert [each[1] for each in answer.topics] == [topic]
    assert await client.ready(node)
    assert not await client.ready(98_765)
    await client.close()


@promise
async def a_cluster_takes_a_response(topic: str) -> None:
    cluster = ClusterMetadata()
    assert cluster.brokers() == set()
    brokers = [(0, "broker_1", 4567), (1, "broker_2", 5678)]
    topics = [
        (0, "topic_1", [(0, 0, 1, [1, 2], [1, 2])]),
        (0, "topic_2", [(5, 0, -1, [], []), (5, 1, 1, [], [])]),
        (5, "topic_no_partitions", []),
        (3, "topic_unknown", []),
        (0, "topic_3", [(0, 0, 0, [0], [0]), (9, 1, 1, [1, 0], [1, 0])]),
    ]
    cluster.update_metadata(MetadataResponse_v0(brokers, topics))
    shown = sorted((node, host, port) for node, host, port, *_ in cluster.brokers())
    assert shown == brokers
    assert cluster.topics() == {"topic_1", "topic_2", "topic_3"}
    assert cluster.partitions_for_topic("topic_2") == {0, 1}
    assert cluster.partitions_for_topic("topic_3") == {0, 1}
    assert cluster.available_partitions_for_topic("topic_2") == {1}
    assert cluster.leader_for_partition(TopicPartition("topic_1", 0)) == 1
    assert cluster.partitions_for_broker(0) == {TopicPartition("topic_3", 0)}
    cluster.update_metadata(MetadataResponse_v0([], topics))
    assert len(cluster.brokers()) == 2


@promise
async def a_builder_counts_its_bytes(topic: str) -> None:
    async with sending(max_batch_size=1000) as producer:
        builder = producer.create_batch()
        assert (builder.size(), builder.record_count()) == (61, 0)
        for number in (1, 2, 3):
            size = builder.size()
            metadata = builder.append(key=b"test key", value=b"test value", timestamp=None)
            assert metadata.size > 0
            assert builder.size() == size + metadata.size
            assert builder.record_count() == number
        size = builder.size()
        builder.close()
        assert builder.append(key=b"k", value=b"v", timestamp=None) is None
        assert (builder.size(), builder.record_count()) == (size, 3)


# The administrator.


@asynccontextmanager
async def administrating() -> AsyncIterator[AIOKafkaAdminClient]:
    admin = AIOKafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    await admin.start()
    try:
        yield admin
    finally:
        await admin.close()


@promise
async def topics_are_made_listed_and_deleted(topic: str) -> None:
    made = f"{topic}-admin"
    async with administrating() as admin:
        answer = await admin.create_topics([NewTopic(made, 1, 1)])
        [(name, code, text)] = answer.topic_errors
        assert (name, code, bool(text)) == (made, 0, False)
        await found(admin.list_topics, lambda there: made in there)
        describe = lambda: admin.describe_topics([made])  # noqa: E731
        await found(describe, lambda topics: len(topics[0]["partitions"]) == 1)
        await admin.create_partitions({made: NewPartitions(total_count=2)})
        [after] = await found(describe, lambda topics: len(topics[0]["partitions"]) == 2)
        assert {each["partition"] for each in after["partitions"]} == {0, 1}
        answer = await admin.delete_topics([made])
        assert [tuple(each) for each in answer.topic_error_codes] == [(made, 0)]
        await found(admin.list_topics, lambda there: made not in there)


@promise
async def configs_are_described_and_altered(topic: str) -> None:
    async with administrating() as admin:
        metadata = await admin._get_cluster_metadata()
        assert len(metadata.brokers) == 1
        assert metadata.topics is not None
        [node] = admin._client.cluster._brokers.keys()
        described = await admin.describe_cluster()
        assert [each["node_id"] for each in described["brokers"]] == [node]
        for kind, name in ((ConfigResourceType.TOPIC, topic), (ConfigResourceType.BROKER, node)):
            [answer] = await admin.describe_configs([ConfigResource(kind, name)])
            [(code, text, found, called, *_)] = answer.resources
            assert (code, bool(text), found, called) == (0, False, kind, str(name))
        wanted = {"cleanup.policy": "delete"}
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, wanted)
        await admin.alter_configs([resource])
        [answer] = await admin.describe_configs([resource])
        [(name, value, *_)] = answer.resources[0][4]
        assert (name, value) == ("cleanup.policy", "delete")


@promise
async def groups_are_listed_and_described(topic: str) -> None:
    await fill(topic, [1, 2])
    group = f"admin-{MARK}"
    async with (
        administrating() as admin,
        reading(topic, group_id=group, enable_auto_commit=False) as consumer,
    ):
        assert group in [each for each, *_ in await admin.list_consumer_groups()]
        [answer] = await admin.describe_consumer_groups([group])
        [(code, name, *_)] = answer.groups
        assert (code, name) == (0, group)
        record = await consumer.getone()
        await consumer.commit()
        place = TopicPartition(topic, record.partition)
        for options in ({}, {"partitions": [place]}):
            stored = await admin.list_consumer_group_offsets(group, **options)
            assert stored[place].offset == record.offset + 1


async def create(topics: list[str]) -> None:
    async with administrating() as admin:
        await admin.create_topics([NewTopic(topic, 2, 1) for topic in topics])
        while not set(topics) <= set(await admin.list_topics()):
            await asyncio.sleep(0.05)


async def main() -> int:
    wanted = [each for each in promises if not CHOSEN or each.__name__ in CHOSEN]
    topics = [f"promise-{MARK}-{number}-" for number in range(len(wanted))]
    await create(topics)
    failures = 0
    for keep, topic in zip(wanted, topics, strict=True):
        began = time.monotonic()
        try:
            async with asyncio.timeout(30):
                await keep(topic)
        except BaseException as error:  # noqa: BLE001 - the others are tried all the same
            failures += 1
            at = traceback.extract_tb(error.__traceback__)
            line = next((each for each in reversed(at) if each.filename == __file__), at[-1])
            print(f"{keep.__name__} broken at {line.lineno}: {line.line} {error!r}", flush=True)
        else:
            print(keep.__name__, "kept", flush=True)
        if (took := time.monotonic() - began) > 3:
            print(f"  {took:.1f} s", file=sys.stderr)
    return failures


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
