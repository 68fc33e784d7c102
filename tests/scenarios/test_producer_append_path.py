"""C in front of a broker: batches that are too large, leaders that moved, bulk, batches by hand."""

import asyncio

import pytest

from aiokafka_lite.errors import MessageSizeTooLargeError
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import kafka, producing, written


@pytest.mark.parametrize("codec", [None, "gzip", "lz4"])
@pytest.mark.parametrize("idempotent", [True, False])
async def test_batches_a_topic_finds_too_large_are_split_until_they_fit(
    codec: str | None, idempotent: bool
) -> None:
    """C7, C8, 2d-14: no ack is lost, order and callbacks' order stay."""
    called: list[int] = []
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "900"})
        async with producing(
            broker, compression_type=codec, enable_idempotence=idempotent, linger_ms=1000
        ) as producer:
            values: list[bytes | None] = [
                (b"%03d" % number).ljust(100, b".") for number in range(400)
            ]
            acks = []
            for number, value in enumerate(values):
                ack = await producer.send("orders", value, timestamp_ms=1000 + number)
                ack.add_done_callback(lambda ack, number=number: called.append(number))  # type: ignore[misc]
                acks.append(ack)
            await producer.flush()
            written_at = [ack.result() for ack in acks]
            assert [metadata.timestamp for metadata in written_at] == list(range(1000, 1400))
            assert producer._pool.used_bytes == 0
        log = {record.offset: record.value for record in broker.log(("orders", 0)).records()}
        assert [log[metadata.offset] for metadata in written_at] == values
        assert sorted(called) == list(range(400))
        if idempotent:
            assert written(broker) == values
            assert called == sorted(called)


async def test_a_record_that_is_too_large_by_itself_fails_alone() -> None:
    """C4, 2d-14: its neighbours in the batch are written."""
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "500"})
        async with producing(broker, linger_ms=1000) as producer:
            acks = [
                await producer.send("orders", value) for value in (b"a", b"x" * 2000, b"b", b"c")
            ]
            await producer.flush()
            assert isinstance(acks[1].exception(), MessageSizeTooLargeError)
            assert [ack.exception() for ack in (acks[0], *acks[2:])] == [None] * 3
            assert written(broker) == [b"a", b"b", b"c"]
            assert await producer.send_and_wait("orders", b"d")


async def test_a_moved_leader_is_followed_at_once_by_the_hint_of_the_answer() -> None:
    """2d-8, 2d-15, KIP-951: without waiting for metadata, nor for the backoff."""
    async with kafka(nodes=3) as broker:
        broker.create_topic("orders")
        async with producing(
            broker, retry_backoff_ms=30_000, retry_backoff_max_ms=30_000
        ) as producer:
            await producer.send_and_wait("orders", b"before")
            leader = broker.leader(("orders", 0))
            broker.move_leader(("orders", 0), leader % 3 + 1)
            for node_id in {1, 2, 3} - {leader % 3 + 1}:
                # Not at the new leader: what is behind it on its connection would wait, too.
                broker.faults.stall(MetadataRequest, node_id=node_id)
            async with asyncio.timeout(20):
                await producer.send_and_wait("orders", b"after")
            broker.faults.release()
            assert len(broker.requests_of(ProduceRequest)) == 3
            assert written(broker) == [b"before", b"after"]
