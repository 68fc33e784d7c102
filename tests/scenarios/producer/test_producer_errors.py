"""What a user is told of records that were not written, and that the producer goes on."""

import pytest

from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    DeliveryTimeoutError,
    InvalidProducerEpoch,
    KafkaError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
)
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import jumping_clock, kafka, producing, producing_on, written


async def test_a_partition_goes_on_after_a_producer_id_was_refused_once() -> None:
    """What was being sent again has failed, and what comes later does not wait for it (2d-18)."""
    clock = jumping_clock()
    async with (
        kafka(clock=clock) as broker,
        producing(broker, clock=clock, delivery_timeout_ms=60_000) as producer,
    ):
        broker.create_topic("orders", partitions=2)
        for partition in (0, 1):
            await producer.send_and_wait("orders", b"first", partition=partition)
        broker.faults.fail(
            ProduceRequest, NotLeaderForPartitionError, times=None, topic_partition=("orders", 1)
        )
        broker.faults.fail(ProduceRequest, InvalidProducerEpoch, topic_partition=("orders", 0))
        broker.faults.fail(InitProducerIdRequest, ClusterAuthorizationFailedError)
        tried_again = await producer.send("orders", b"lost", partition=1)
        await clock.sleep(1.0)
        refused = await producer.send("orders", b"lost", partition=0)
        for ack in (refused, tried_again):
            with pytest.raises(KafkaError):
                await ack
        broker.faults.clear()
        for partition in (0, 1):
            await producer.send_and_wait("orders", b"after", partition=partition)
            assert written(broker, partition=partition) == [b"first", b"after"]


async def test_a_delivery_timeout_says_in_its_text_what_went_wrong() -> None:
    """The reason is not only in its cause: logs keep the text alone (2d-13)."""
    clock = jumping_clock()
    async with producing_on(
        clock,
        delivery_timeout_ms=9000,
        request_timeout_ms=4000,
    ) as (broker, producer):
        broker.faults.fail(
            ProduceRequest, NotLeaderForPartitionError, times=None, topic_partition=("orders", 0)
        )
        with pytest.raises(
            DeliveryTimeoutError,
            match=r"after [2-9] attempts it may have been written; last failure: .*NotLeader",
        ):
            await producer.send_and_wait("orders", b"refused")
        broker.faults.clear()
        broker.stop_node(1)
        with pytest.raises(DeliveryTimeoutError, match="last failure: "):
            await producer.send_and_wait("orders", b"on its way")
        with pytest.raises(
            DeliveryTimeoutError, match=r"never sent; its leader, node 1, cannot be reached: .+"
        ):
            await producer.send_and_wait("orders", b"never sent")
        broker.start_node(1)


async def test_a_record_without_an_answer_is_told_so() -> None:
    """The error of a record whose request got no answer says so (2d-13)."""
    clock = jumping_clock()
    async with producing_on(
        clock,
        delivery_timeout_ms=9000,
        request_timeout_ms=9000,
    ) as (broker, producer):
        broker.faults.stall(ProduceRequest, times=None)
        with pytest.raises(
            DeliveryTimeoutError, match=r"after 1 attempt it may .*; (no answer|last)"
        ):
            await producer.send_and_wait("orders", b"v")
        broker.faults.release()


async def test_a_record_that_a_topic_refuses_for_its_size_is_told_what_can_help() -> None:
    """One record is no smaller in a smaller batch (2d-14)."""
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "500"})
        async with producing(broker) as producer:
            with pytest.raises(MessageSizeTooLargeError) as refused:
                await producer.send_and_wait("orders", b"x" * 2000)
        text = str(refused.value)
        assert text.count("MessageSizeTooLargeError") == 1
        assert "max_batch_size" not in text
        assert "one record; send smaller records, or raise max.message.bytes of orders" in text
        assert ".." not in text
        assert ". The batch has 2" in text


async def test_with_acks_0_send_and_wait_has_nothing_to_return() -> None:
    """As aiokafka: nobody says where the record is."""
    async with kafka() as broker, producing(broker, acks=0) as producer:
        assert await producer.send_and_wait("orders", b"v") is None
        assert (await (await producer.send("orders", b"w"))).offset == -1


async def test_compressed_batches_take_memory_for_what_they_hold() -> None:
    """A partition with little traffic takes max_batch_size, however far its topic's records shrink
    (C5).
    """
    clock = jumping_clock()
    async with (
        kafka(clock=clock) as broker,
        producing(
            broker, clock=clock, compression_type="gzip", linger_ms=60_000, max_batch_size=1000
        ) as producer,
    ):
        broker.create_topic("orders", partitions=21)
        for _ in range(40):  # until the shrinking is known
            await producer.send_many("orders", [b"v" * 100] * 400, partition=20)
            await producer.flush()
        busy = await producer.send_many("orders", [b"v" * 100] * 400, partition=20)
        assert len(busy._batches) < 10
        await producer.flush()
        for partition in range(20):
            await producer.send("orders", b"v" * 100, partition=partition)
        assert producer._engine.pool.used_bytes == 20_000
        await producer.flush()
