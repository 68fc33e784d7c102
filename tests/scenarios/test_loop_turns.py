"""How many turns of the event loop lie between a call and the socket, and between socket and call.

A record that comes alone pays for each turn with a system call and some microseconds of the loop's
own work. DESIGN.md has a table of these numbers.
"""

import asyncio
import struct
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.net.transport import FrameTransport
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.virtual_kafka import VirtualKafka
from aiokafka_lite.testing.virtual_loop import VirtualLoop
from tests.consumer.batches import tps
from tests.scenarios.consuming import fill

(P0,) = tps(0)
_LATENCY_S = 0.001


def prepare(kafka: VirtualKafka) -> None:
    kafka.broker.create_topic("t", 1)
    kafka.network.latency_s = _LATENCY_S


def turn() -> int:
    """Return the number of the loop's present turn."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    return loop._turns


class Sockets:
    """The turns in which clients wrote requests, by their API, and read anything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.written: dict[int, list[int]] = defaultdict(list)
        self.read: list[int] = []
        write, buffer_updated = FrameTransport.write, FrameTransport.buffer_updated

        def noted_write(
            transport: FrameTransport, parts: list[bytes | bytearray | memoryview]
        ) -> None:
            self.written[struct.unpack_from(">h", b"".join(parts), 4)[0]].append(turn())
            write(transport, parts)

        def noted_read(transport: FrameTransport, nbytes: int) -> None:
            self.read.append(turn())
            buffer_updated(transport, nbytes)

        monkeypatch.setattr(FrameTransport, "write", noted_write)
        monkeypatch.setattr(FrameTransport, "buffer_updated", noted_read)


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> Sockets:
    return Sockets(monkeypatch)


def test_a_send_that_comes_alone_is_in_the_socket_at_once_and_its_waiter_runs_a_turn_after(
    virtual_kafka: Callable[..., Any], sockets: Sockets
) -> None:
    """The turn is the task's own."""

    async def main(kafka: VirtualKafka) -> list[tuple[int, int]]:
        prepare(kafka)
        legs = []
        async with AIOKafkaProducer(**kafka.client_options, linger_ms=0) as producer:
            await producer.send_and_wait("t", b"warm", partition=0)
            for _ in range(3):
                called = turn()
                await producer.send_and_wait("t", b"value", partition=0)
                legs.append(
                    (sockets.written[ApiKey.PRODUCE][-1] - called, turn() - sockets.read[-1])
                )
        return legs

    assert virtual_kafka(main) == [(0, 1)] * 3


def test_the_sends_of_a_turn_share_a_batch_unless_the_record_before_came_alone(
    virtual_kafka: Callable[..., Any], sockets: Sockets
) -> None:
    """The first record of a burst is sent alone once. The next bursts leave whole, a turn later."""

    async def main(kafka: VirtualKafka) -> list[list[int]]:
        prepare(kafka)
        bursts = []
        async with AIOKafkaProducer(**kafka.client_options, linger_ms=0) as producer:
            await producer.send_and_wait("t", b"warm", partition=0)
            for _ in range(3):
                called, before = turn(), len(sockets.written[ApiKey.PRODUCE])
                await asyncio.gather(
                    *[await producer.send("t", b"value", partition=0) for _ in range(10)]
                )
                bursts.append([at - called for at in sockets.written[ApiKey.PRODUCE][before:]])
        return bursts

    assert virtual_kafka(main) == [[0, 1], [1], [1]]


@pytest.mark.parametrize("records", [1, 2])
def test_a_record_without_key_or_partition_that_comes_alone_leaves_at_once(
    records: int, virtual_kafka: Callable[..., Any], sockets: Sockets
) -> None:
    """It takes the path of records that may change the sticky partition. It leaves one turn later
    if the request before held two.
    """

    async def main(kafka: VirtualKafka) -> int:
        prepare(kafka)
        async with AIOKafkaProducer(**kafka.client_options, linger_ms=0) as producer:
            await producer.send_and_wait("t", b"warm")
            await producer.send_and_wait("t", b"warm")  # the first one waited for the connection
            await (await producer.send_many("t", [b"before"] * records))
            called = turn()
            await producer.send_and_wait("t", b"value")
            return sockets.written[ApiKey.PRODUCE][-1] - called

    assert virtual_kafka(main) == records - 1


def test_with_linger_a_record_that_comes_alone_waits_for_others(
    virtual_kafka: Callable[..., Any], sockets: Sockets
) -> None:
    async def main(kafka: VirtualKafka) -> list[int]:
        prepare(kafka)
        async with AIOKafkaProducer(**kafka.client_options, linger_ms=5) as producer:
            await producer.send_and_wait("t", b"warm", partition=0)
            await producer.send_and_wait("t", b"value", partition=0)
            before = len(sockets.written[ApiKey.PRODUCE])
            first = await producer.send("t", b"value", partition=0)
            await asyncio.sleep(0.004)
            second = await producer.send("t", b"value", partition=0)
            await asyncio.gather(first, second)
            return [len(sockets.written[ApiKey.PRODUCE]) - before]

    assert virtual_kafka(main) == [1]


def test_the_callback_of_an_ack_runs_one_turn_after_the_bytes_have_come(
    virtual_kafka: Callable[..., Any], sockets: Sockets
) -> None:
    async def main(kafka: VirtualKafka) -> int:
        prepare(kafka)
        async with AIOKafkaProducer(**kafka.client_options, linger_ms=0) as producer:
            await producer.send_and_wait("t", b"warm", partition=0)
            ack = await producer.send("t", b"value", partition=0)
            called: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            ack.add_done_callback(lambda _: called.set_result(turn()))
            return await called - sockets.read[-1]

    assert virtual_kafka(main) == 1


def test_a_batch_that_waits_for_an_answer_leaves_in_the_turn_of_the_answer(
    virtual_kafka: Callable[..., Any], sockets: Sockets
) -> None:
    async def main(kafka: VirtualKafka) -> int:
        prepare(kafka)
        async with AIOKafkaProducer(
            **kafka.client_options, linger_ms=0, max_in_flight_requests_per_connection=1
        ) as producer:
            await producer.send_and_wait("t", b"warm", partition=0)
            await producer.send("t", b"first", partition=0)
            await asyncio.sleep(_LATENCY_S / 2)
            waits = await producer.send("t", b"second", partition=0)
            await asyncio.sleep(3 * _LATENCY_S)
            answered = sockets.read[-1]
            await waits
            return sockets.written[ApiKey.PRODUCE][-1] - answered

    assert virtual_kafka(main) == 0


async def many(consumer: AIOKafkaConsumer[Any, Any]) -> object:
    return await consumer.getmany(timeout_ms=30_000)


async def one(consumer: AIOKafkaConsumer[Any, Any]) -> object:
    return await consumer.getone()


async def iterated(consumer: AIOKafkaConsumer[Any, Any]) -> object:
    return await anext(consumer)


@pytest.mark.parametrize("poll", [many, one, iterated])
def test_a_record_takes_one_turn_from_the_socket_and_the_next_fetch_leaves_in_the_same(
    poll: Callable[[AIOKafkaConsumer[Any, Any]], Awaitable[object]],
    virtual_kafka: Callable[..., Any],
    sockets: Sockets,
) -> None:
    """The one turn is that of the task that polls."""

    async def main(kafka: VirtualKafka) -> list[tuple[int, int]]:
        prepare(kafka)
        legs = []
        async with AIOKafkaConsumer("t", **kafka.client_options) as consumer:
            await consumer.seek_to_end()
            await consumer.position(P0)
            fill(kafka.broker, P0, 1)
            await poll(consumer)  # its fetch has waited for the connection
            for _ in range(3):
                polling = asyncio.ensure_future(timed(poll(consumer)))
                await asyncio.sleep(10 * _LATENCY_S)  # the fetch waits at the broker
                fill(kafka.broker, P0, 1)
                returned = await polling
                legs.append(
                    (returned - sockets.read[-1], sockets.written[ApiKey.FETCH][-1] - returned)
                )
        return legs

    async def timed(call: Awaitable[object]) -> int:
        assert await call
        return turn()

    assert virtual_kafka(main) == [(1, 0)] * 3
