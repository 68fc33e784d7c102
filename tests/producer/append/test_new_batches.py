"""How batches are opened; who waits for memory, and for how long, is in tests/scenarios."""

import pytest

from aiokafka_lite.errors import BufferExhaustedError
from aiokafka_lite.producer.append.appending import Appending
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import kafka, producing


def appending(producer: AIOKafkaProducer, value: bytes) -> Appending:
    """A record for the one partition of "orders", its size checked."""
    route = producer._engine.routes.find("orders")
    assert route is not None
    record = Appending(route.queues[0], None, 0, None, value, (), 0.0)
    record.size = len(value) + 100
    return record


async def test_a_batch_is_opened_while_memory_is_free() -> None:
    """A batch behind others takes more memory, or the usual size if there is no more (C5)."""
    async with kafka() as broker:
        options = {"max_batch_size": 1000, "buffer_memory": 4000, "linger_ms": 1000}
        async with producing(broker, **options) as producer:
            await producer.send_and_wait("orders", b"first")
            broker.faults.stall(ProduceRequest, times=None)
            new_batches, pool = producer._engine.append_path._new_batches, producer._engine.pool
            assert new_batches.open(appending(producer, b"v")) is not None
            held = pool.take_nowait(2500)
            assert held is not None
            large = appending(producer, b"v" * 600)
            assert new_batches.open(large) is None
            with pytest.raises(BufferExhaustedError, match=r"batch of 1000 bytes, and send_nowait"):
                new_batches.open_or_raise(large)
            pool.give(held)
            assert new_batches.open_or_raise(large)._batch_and_index[1] == 0
            broker.faults.release()
            await producer.flush()


async def test_memory_that_is_not_needed_any_more_is_given_back() -> None:
    """A call that finds an open batch after its wait gives its memory back (C5)."""
    async with kafka() as broker, producing(broker, linger_ms=1000) as producer:
        await producer.send_and_wait("orders", b"first")
        new_batches, pool = producer._engine.append_path._new_batches, producer._engine.pool
        record = appending(producer, b"v")
        ack = new_batches.open(record)
        assert ack is not None
        used_bytes = pool.used_bytes
        other = await new_batches.open_when_room(record)
        assert other._batch_and_index == (ack._batch_and_index[0], 1)
        assert pool.used_bytes == used_bytes
        await producer.flush()
