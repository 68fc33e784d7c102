import asyncio
from collections.abc import Awaitable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from aiokafka_lite.errors import IllegalArgumentError, MessageSizeTooLargeError, SerializationError
from aiokafka_lite.producer.append.producer_interceptors import ProducerRecord
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.producer.partition.partitioner import RoundRobinPartitioner
from aiokafka_lite.serialization import json_serializer
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.producer.world import kafka, producing, producing_on, written


async def test_values_arrive_in_order_in_full_batches() -> None:
    """The values of `send_many` arrive in order, in full batches (C2, C5)."""
    values: list[bytes | None] = [b"value %d" % number for number in range(3000)]
    async with (
        kafka() as broker,
        producing(broker, linger_ms=1000, max_batch_size=1000) as producer,
    ):
        bulk = await producer.send_many("orders", values, timestamp_ms=77)
        assert len(bulk) == 3000
        assert await bulk is bulk
        assert [metadata.offset for metadata in bulk.metadata()] == list(range(3000))
        assert {metadata.timestamp for metadata in bulk.metadata()} == {77}
        assert written(broker) == values
        assert len(bulk._firsts) == len(bulk._batches) < 80
        assert producer._engine.pool.used_bytes == 0


async def test_values_spread_over_the_partitions_batch_by_batch() -> None:
    """Values without a key spread over the partitions, a batch at a time (2d-5)."""
    async with (
        kafka(num_partitions=4) as broker,
        producing(broker, linger_ms=1000, max_batch_size=500) as producer,
    ):
        bulk = await (await producer.send_many("orders", (b"v" * 50 for _ in range(400))))
        counts = [len(written(broker, partition=partition)) for partition in range(4)]
        assert sum(counts) == 400
        assert all(counts)  # about 57 batches: a partition is left out once in three million times
        assert len(list(bulk.metadata())) == 400


async def test_pairs_go_where_their_keys_belong_and_keep_their_order() -> None:
    """Each pair goes to its key's partition, and pairs of one key keep their order (2d-4)."""
    pairs = [(b"%d" % (number % 7), b"%d" % number) for number in range(900)]
    async with (
        kafka(num_partitions=3) as broker,
        producing(broker, linger_ms=1000, max_batch_size=600) as producer,
    ):
        bulk = await (await producer.send_many("orders", pairs))
        for partition in range(3):
            assert written(broker, partition=partition) == [
                value for key, value in pairs if (murmur2(key) & 0x7FFFFFFF) % 3 == partition
            ]
        logs = [list(broker.log(("orders", partition)).records()) for partition in range(3)]
        for (key, value), metadata in zip(pairs, bulk.metadata(), strict=True):
            record = logs[metadata.partition][metadata.offset]
            assert (record.key, record.value) == (key, value)


async def test_anything_that_send_takes_may_be_mixed() -> None:
    """`send_many` takes values and pairs of any type that `send` takes, mixed (C3)."""
    items = [
        b"a",
        bytearray(b"b"),
        (b"k", b"c"),
        (None, b"d"),
        (b"k", None),
        memoryview(b"e"),
        b"f",
    ]
    async with kafka() as broker, producing(broker, linger_ms=1000) as producer:
        bulk = await producer.send_many("orders", items, 0, headers=[("h", b"x")])
        await bulk
        assert written(broker) == [b"a", b"b", b"c", b"d", None, b"e", b"f"]
        keys = [record.key for record in broker.log(("orders", 0)).records()]
        assert keys == [None, None, b"k", None, b"k", None, None]
        headers = [tuple(record.headers) for record in broker.log(("orders", 0)).records()]
        assert headers == [(("h", b"x"),)] * 7


async def test_serializers_see_every_value_also_bytes() -> None:
    async with (
        kafka() as broker,
        producing(broker, linger_ms=1000, value_serializer=lambda v: b"<" + v + b">") as producer,
    ):
        await (await producer.send_many("orders", [b"%d" % number for number in range(5)]))
        assert written(broker) == [b"<%d>" % number for number in range(5)]


async def test_interceptors_see_every_record() -> None:
    class Marking:
        def on_send(self, record: ProducerRecord) -> ProducerRecord:
            return replace(record, value=b"<" + record.value + b">")

    async with (
        kafka() as broker,
        producing(broker, linger_ms=1000, interceptors=[Marking()]) as producer,
    ):
        await (await producer.send_many("orders", [b"%d" % number for number in range(5)]))
        assert written(broker) == [b"<%d>" % number for number in range(5)]


async def test_serializers_and_partitioners_are_used() -> None:
    """`send_many` uses the producer's serializers and partitioner (C3)."""
    async with (
        kafka(num_partitions=2) as broker,
        producing(
            broker,
            value_serializer=json_serializer,
            partitioner=RoundRobinPartitioner(),
            linger_ms=1000,
        ) as producer,
    ):
        await (await producer.send_many("orders", [{"n": 1}, {"n": 2}, [3], (None, (4, 5))]))
        assert written(broker) == [b'{"n":1}', b"[3]"]
        assert written(broker, partition=1) == [b'{"n":2}', b"[4,5]"]


async def test_an_error_says_how_many_records_were_queued_and_those_are_sent() -> None:
    """An error of `send_many` says how many records were queued, and those are sent (C4)."""
    async with kafka() as broker, producing(broker, linger_ms=1000) as producer:
        with pytest.raises(SerializationError) as raised:
            await producer.send_many("orders", [b"a", b"b", "text", b"c"])
        assert raised.value.__notes__ == ["2 records of this send_many() were queued before"]
        with pytest.raises(MessageSizeTooLargeError):
            await producer.send_many("orders", [b"c", b"v" * 2_000_000])
        with pytest.raises(AssertionError, match="Need at least one"):
            await producer.send_many("orders", [None])
        await producer.flush()
        assert written(broker) == [b"a", b"b", b"c"]


async def test_what_the_iterable_raises_is_raised() -> None:
    def broken() -> Iterator[bytes]:
        yield b"a"
        yield b"b"
        raise ValueError("no more")

    async with kafka() as broker, producing(broker, linger_ms=1000) as producer:
        with pytest.raises(ValueError, match="no more"):
            await producer.send_many("orders", broken())
        await producer.flush()
        assert written(broker) == [b"a", b"b"]


async def test_it_waits_only_for_memory_and_within_its_bound() -> None:
    """`send_many` sends several times `buffer_memory`, waiting for memory (C5)."""
    async with (
        kafka() as broker,
        producing(broker, max_batch_size=1000, buffer_memory=4000) as producer,
    ):
        most = 0

        def watched() -> Iterator[bytes]:
            nonlocal most
            for number in range(600):
                most = max(most, producer._engine.pool.used_bytes)
                yield b"%05d" % number * 20

        await (await producer.send_many("orders", watched()))
        assert most <= 4000
        assert written(broker) == [b"%05d" % number * 20 for number in range(600)]


async def turns_during(call: Awaitable[object]) -> int:
    """Return how many turns another task gets until the call returns."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.ensure_future(count())
    await call
    counting.cancel()
    return turns


async def test_others_have_their_turn_meanwhile() -> None:
    async with kafka() as broker, producing(broker) as producer:
        await producer.partitions_for("orders")
        turns = await turns_during(producer.send_many("orders", (b"v" * 1000 for _ in range(8000))))
        assert turns > 10


async def test_a_machine_that_has_slept_gives_each_record_no_turn_of_its_own() -> None:
    clock = FakeClock(autojump_threshold_s=0.01)
    async with producing_on(clock, value_serializer=bytes) as (_, producer):
        clock.sleep_through(3600)
        assert await turns_during(producer.send_many("orders", [b"v"] * 300)) < 30


async def test_nothing_to_send_is_nothing_sent() -> None:
    async with kafka() as broker, producing(broker) as producer:
        assert len(await (await producer.send_many("orders", []))) == 0


async def test_what_the_iterator_raises_says_how_many_records_were_queued() -> None:
    """An error of the caller's iterator says how many records were queued (C3)."""

    def values(count: int) -> Iterator[bytes]:
        yield from [b"v"] * count
        raise OSError("the source broke")

    async with kafka() as broker, producing(broker) as producer:
        for count in (0, 1, 5):
            with pytest.raises(OSError, match="the source broke") as broken:
                await producer.send_many("orders", values(count))
            assert broken.value.__notes__ == [
                f"{count} records of this send_many() were queued before"
            ]
        await producer.flush()
        assert len(written(broker)) == 6


@pytest.mark.parametrize("records", [{b"k": b"v"}, b"bytes", "text", bytearray(b"b")], ids=repr)
async def test_what_iterates_over_something_else_than_records_is_refused(records: Any) -> None:
    """`send_many` refuses text, bytes and mappings, which iterate over no records (C4)."""
    async with kafka() as broker, producing(broker) as producer:
        with pytest.raises(IllegalArgumentError, match=f"of type {type(records).__name__}"):
            await producer.send_many("orders", records)
        assert written(broker) == [] if "orders" in broker.cluster.topics else True
