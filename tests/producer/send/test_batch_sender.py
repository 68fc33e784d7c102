"""When a batch leaves: alone at once, others in their turn. Tasks are in test_sender."""

import asyncio
from contextlib import suppress
from unittest import mock

import pytest

from aiokafka_lite.errors import (
    KafkaError,
)
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.produce import ProduceRequest, ProduceResponse
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.producer.world import kafka, producing


async def test_a_batch_lingers_no_longer_behind_one_that_has_no_answer() -> None:
    """A batch leaves when it has lingered, in order, though the one before has no answer (2d-7)."""
    clock = FakeClock()
    async with (
        kafka(clock=clock) as broker,
        producing(broker, clock=clock, linger_ms=100, max_batch_size=200) as producer,
    ):
        first = await producer.send("orders", b"0")
        await producer.flush()
        assert first.done()
        broker.faults.stall(ProduceRequest)
        acks = [await producer.send("orders", b"%d" % n + b"x" * 100) for n in range(2)]
        await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 2)
        await clock.advance(0.11)
        for _ in range(20):
            await asyncio.sleep(0)
        assert [batch.is_in_flight for batch in producer._engine.accumulator.incomplete] == [
            True,
            True,
        ]
        broker.faults.release()
        assert [(await ack).offset for ack in acks] == [1, 2]


async def test_up_to_five_requests_are_in_flight_in_order() -> None:
    """Up to five requests are in flight, and their records keep the order."""
    async with kafka() as broker, producing(broker, max_batch_size=200) as producer:
        await producer.send_and_wait("orders", b"first")
        broker.faults.stall(ProduceRequest, times=None)
        acks = [await producer.send("orders", b"%d" % n + b"x" * 100) for n in range(8)]
        # The broker holds the first; the others lie in its socket.
        await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 2)
        while sum(batch.is_in_flight for batch in producer._engine.accumulator.incomplete) < 5:
            await asyncio.sleep(0)
        for _ in range(50):
            await asyncio.sleep(0)
        assert sum(batch.is_in_flight for batch in producer._engine.accumulator.incomplete) == 5
        broker.faults.release()
        offsets = [metadata.offset for metadata in await asyncio.gather(*acks)]
        assert offsets == list(range(1, 9))


async def test_throttled_nodes_are_left_alone_for_as_long_as_they_said() -> None:
    """A node that throttles gets no request for as long as it said (KIP-219)."""
    clock = FakeClock()
    async with kafka(clock=clock) as broker, producing(broker, clock=clock) as producer:
        await producer.send_and_wait("orders", b"0")
        broker.faults.throttle(ProduceRequest, 2000)
        await producer.send_and_wait("orders", b"1")
        ack = await producer.send("orders", b"2")
        await clock.advance(1.9)
        assert not ack.done()
        await clock.advance(0.2)
        assert (await ack).offset == 2


async def test_a_record_that_comes_alone_is_on_its_way_when_its_send_returns() -> None:
    """One that comes before the response leaves one turn of the loop later."""
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"0")
        while producer._engine.sender._wakeup.is_set:
            await asyncio.sleep(0)
        acks = [await producer.send("orders", b"1"), await producer.send("orders", b"2")]
        lone, other = producer._engine.accumulator.incomplete.batches
        assert lone.is_in_flight
        was_in_flight = [other.is_in_flight]
        for _ in range(2):  # the sender has the second of them
            await asyncio.sleep(0)
            was_in_flight.append(other.is_in_flight)
        assert was_in_flight[0] is False
        assert True in was_in_flight  # its response may have come by now
        assert [(await ack).offset for ack in acks] == [1, 2]


async def test_what_nobody_foresaw_while_a_record_is_sent_at_once_ends_the_producer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The call that sends does not raise it: its record is in its batch."""
    async with kafka() as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=0)
        await producer.start()
        await producer.send_and_wait("orders", b"0")
        fault = ZeroDivisionError("nobody foresaw this")
        network = producer.kafka_client.network
        monkeypatch.setattr(network, "submit", mock.Mock(side_effect=fault))
        ack = await producer.send("orders", b"1")
        with pytest.raises(KafkaError, match="nobody foresaw this"):
            await ack
        with suppress(KafkaError):
            await producer.stop()


async def test_what_nobody_foresaw_in_an_answer_ends_the_producer() -> None:
    async with kafka() as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=0)
        await producer.start()
        await producer.send_and_wait("orders", b"0")
        fault = ZeroDivisionError("nobody foresaw this")
        sender = producer._engine.sender.batches
        sender._outcomes = mock.Mock(wraps=sender._outcomes, written=mock.Mock(side_effect=fault))
        ack = await producer.send("orders", b"1")
        with pytest.raises(KafkaError, match="nobody foresaw this"):
            await ack
        with pytest.raises(KafkaError) as caught:
            await producer.send("orders", b"2")
        assert caught.value.__cause__ is fault
        with suppress(KafkaError):
            await producer.stop()


async def test_a_response_that_all_is_written_is_not_decoded_as_a_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with kafka() as broker, producing(broker) as producer:
        monkeypatch.setattr(ProduceResponse, "decode", mock.Mock(side_effect=AssertionError))
        acks = [await producer.send("orders", b"%d" % number) for number in range(3)]
        assert [(await ack).offset for ack in acks] == [0, 1, 2]
