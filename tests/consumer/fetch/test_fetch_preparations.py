"""Deserializers that have to wait: polls go on with other partitions, and order is kept."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.serialization import NotPreparedError
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

P0, P1 = tps(0, 1)


class Prepared:
    """A deserializer that has to wait at each value of `unknown`, until `go` is set."""

    def __init__(self, *unknown: bytes) -> None:
        self.unknown = set(unknown)
        self.go = asyncio.Event()
        self.asked: list[bytes] = []
        self.errors: list[Exception] = []

    def __call__(self, data: bytes) -> str:
        if data in self.unknown:
            raise NotPreparedError(f"{data!r} is unknown", lambda: self._prepare(data))
        return data.decode()

    async def _prepare(self, data: bytes) -> None:
        self.asked.append(data)
        await self.go.wait()
        if self.errors:
            raise self.errors.pop()
        self.unknown.discard(data)


async def values(consumer: Any, count: int, *, by_one: bool) -> list[Any]:
    found: list[Any] = []
    async with asyncio.timeout(30):
        while len(found) < count:
            if by_one:
                found.append((await consumer.getone()).value)
            else:
                for records in (await consumer.getmany(timeout_ms=1000)).values():
                    found += [record.value for record in records]
    return found


@pytest.mark.parametrize("by_one", [True, False])
async def test_records_behind_an_unknown_one_wait_for_it_and_keep_their_order(by_one: bool) -> None:
    deserializer = Prepared(b"v2", b"v5")
    deserializer.go.set()
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", value_deserializer=deserializer) as consumer,
    ):
        fill(broker, P0, 4, 4)
        assert await values(consumer, 8, by_one=by_one) == [f"v{n}" for n in range(8)]
        assert deserializer.asked == [b"v2", b"v5"]
        assert await consumer.position(P0) == 8


async def test_other_partitions_are_read_meanwhile_and_the_position_stays() -> None:
    deserializer = Prepared(b"v1")
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, "t", value_deserializer=deserializer) as consumer,
    ):
        fill(broker, P0, 3)
        assert await values(consumer, 1, by_one=False) == ["v0"]
        assert await consumer.getmany(timeout_ms=0) == {}
        assert await consumer.position(P0) == 1
        fill(broker, P1, 1)
        assert (await consumer.getone()).partition == 1
        assert deserializer.asked == [b"v1"]
        deserializer.go.set()
        assert await values(consumer, 2, by_one=False) == ["v1", "v2"]


async def test_a_seek_leaves_the_waiting_record_behind() -> None:
    deserializer = Prepared(b"v0")
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", value_deserializer=deserializer) as consumer,
    ):
        fill(broker, P0, 3)
        assert await consumer.getmany(timeout_ms=50) == {}
        consumer.seek(P0, 2)
        assert await values(consumer, 1, by_one=True) == ["v2"]
        deserializer.go.set()
        assert await consumer.getmany(timeout_ms=0) == {}


async def test_a_poll_raises_why_nothing_was_prepared_and_it_is_tried_again() -> None:
    deserializer = Prepared(b"v0")
    deserializer.errors = [ValueError("no registry")]
    deserializer.go.set()
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", value_deserializer=deserializer, retry_backoff_ms=1) as consumer,
    ):
        fill(broker, P0, 1)
        with pytest.raises(ValueError, match="no registry"):
            await values(consumer, 1, by_one=True)
        assert await values(consumer, 1, by_one=True) == ["v0"]


@pytest.mark.parametrize("by_one", [True, False])
async def test_an_async_deserializer_is_awaited_in_order(by_one: bool) -> None:
    class Slow:
        async def deserialize(self, topic: str, _headers: object, data: bytes) -> str:
            await asyncio.sleep(0)
            if data == b"v700":
                raise ValueError("bad")
            return f"{topic}:{data.decode()}"

    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", value_deserializer=Slow(), max_poll_records=300) as consumer,
    ):
        fill(broker, P0, *[100] * 10)
        assert await values(consumer, 700, by_one=by_one) == [f"t:v{n}" for n in range(700)]
        for _ in range(2):
            with pytest.raises(RecordDeserializationError, match=r"offset 700.*bad") as raised:
                await consumer.getmany(timeout_ms=1000)
        assert raised.value.value_bytes == b"v700"
        consumer.seek(P0, 701)
        assert (await values(consumer, 299, by_one=by_one))[-1] == "t:v999"


async def test_keys_and_values_may_wait_for_different_things() -> None:
    async def key(data: bytes) -> str:
        return data.decode()

    value = Prepared(b"v0")
    value.go.set()
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", key_deserializer=key, value_deserializer=value) as consumer,
    ):
        fill(broker, P0, 2)
        assert await values(consumer, 2, by_one=False) == ["v0", "v1"]
