"""Time and memory are bounded, whatever the brokers do; time is the clock's, and jumps."""

import asyncio
import gc
import tracemalloc

import pytest

from aiokafka_lite.errors import (
    BufferExhaustedError,
    CoordinatorLoadInProgressError,
    DeliveryTimeoutError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    ProducerClosed,
)
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import jumping_clock, kafka, producing, producing_on, written
from tests.support.patience import eventually


@pytest.mark.parametrize("idempotent", [True, False])
async def test_with_dead_brokers_every_record_fails_within_delivery_timeout(
    idempotent: bool,
) -> None:
    """With dead brokers every record fails within `delivery_timeout_ms` (2d-13, H2)."""
    clock = jumping_clock()
    async with producing_on(
        clock,
        delivery_timeout_ms=40_000,
        enable_idempotence=idempotent,
    ) as (broker, producer):
        broker.stop_node(1)
        began_s = clock.monotonic()
        acks = [await producer.send("orders", b"v") for _ in range(10)]
        outcomes = await asyncio.gather(*acks, return_exceptions=True)
        assert all(isinstance(outcome, DeliveryTimeoutError) for outcome in outcomes)
        assert 40 <= clock.monotonic() - began_s < 41
        assert producer._engine.pool.used_bytes == 0
        # …and the producer is as good as new when the broker is back.
        broker.start_node(1)
        await producer.send_and_wait("orders", b"v2")
        assert written(broker)[-1] == b"v2"


async def test_a_record_that_waits_for_a_producer_id_fails_within_delivery_timeout() -> None:
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        broker.faults.fail(InitProducerIdRequest, CoordinatorLoadInProgressError, times=None)
        async with producing(
            broker, clock=clock, request_timeout_ms=10_000, delivery_timeout_ms=12_000
        ) as producer:
            await producer.partitions_for("orders")
            began_s = clock.monotonic()
            with pytest.raises(DeliveryTimeoutError, match="no broker has given a producer id"):
                await producer.send_and_wait("orders", b"v")
            assert 11 < clock.monotonic() - began_s < 16


async def test_a_batch_in_flight_expires_too_and_its_late_answer_is_ignored() -> None:
    """A batch in flight expires too, and its late answer changes nothing (2d-13)."""
    clock = jumping_clock()
    async with producing_on(
        clock,
        delivery_timeout_ms=10_000,
        request_timeout_ms=10_000,
    ) as (broker, producer):
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"1")
        with pytest.raises(DeliveryTimeoutError, match="after 1 attempt"):
            await ack
        broker.faults.release()
        await producer.send_and_wait("orders", b"2")
        assert written(broker)[-1] == b"2"
        assert producer._engine.pool.used_bytes == 0


async def test_retries_are_bounded_by_their_number_when_it_is_given() -> None:
    async with kafka() as broker, producing(broker, retries=2) as producer:
        await producer.send_and_wait("orders", b"v")
        broker.forget_requests()
        broker.faults.fail(ProduceRequest, NotLeaderForPartitionError, times=3)
        with pytest.raises(NotLeaderForPartitionError):
            await producer.send_and_wait("orders", b"v")
        assert len(broker.requests_of(ProduceRequest)) == 3
        await producer.send_and_wait("orders", b"v2")
        assert written(broker) == [b"v", b"v2"]


async def test_backoff_between_retries_grows() -> None:
    """The backoff between the attempts of a batch grows (2d-8)."""
    clock = jumping_clock()
    async with producing_on(
        clock,
        retry_backoff_ms=1000,
        retry_backoff_max_ms=60_000,
    ) as (broker, producer):
        broker.faults.fail(ProduceRequest, NotLeaderForPartitionError, times=4)
        began_s = clock.monotonic()
        await producer.send_and_wait("orders", b"v")
        assert 15 * 0.8 <= clock.monotonic() - began_s <= 15 * 1.2 + 0.1  # 1 + 2 + 4 + 8 seconds


async def test_memory_is_bounded_and_its_end_says_which_option() -> None:
    """With a dead broker memory is bounded, and the error names `buffer_memory` (C4, C5)."""
    clock = jumping_clock()
    async with producing_on(
        clock,
        buffer_memory=10_000,
        max_batch_size=1000,
        max_block_ms=3000,
        linger_ms=5,
    ) as (broker, producer):
        broker.stop_node(1)
        acks: list[RecordAck] = []
        began_s = clock.monotonic()

        async def fill() -> None:
            while True:
                acks.append(await producer.send("orders", b"x" * 100))
                assert producer._engine.pool.used_bytes <= 10_000

        with pytest.raises(
            BufferExhaustedError, match=r"max_block_ms=3000.*of buffer_memory=10000"
        ) as caught:
            await fill()
        assert isinstance(caught.value, KafkaTimeoutError)
        assert 2.9 < clock.monotonic() - began_s < 4
        assert 50 < len(acks) < 100
        broker.start_node(1)
        await asyncio.gather(*acks)
        assert producer._engine.pool.used_bytes == 0


async def test_with_dead_brokers_memory_stays_flat_however_much_is_sent() -> None:
    """With dead brokers the memory that Python has allocated stays flat (C4, C5)."""
    async with (
        kafka() as broker,
        producing(broker, buffer_memory=400_000) as producer,
    ):
        await producer.send_and_wait("orders", b"v")
        broker.stop_node(1)
        accepted: list[RecordAck] = []
        error: Exception | None = None

        async def try_to_send(times: int) -> int:
            nonlocal error
            refused = 0
            for _ in range(times):
                try:
                    accepted.append(producer.send_nowait("orders", b"x" * 200))
                except BufferExhaustedError as raised:
                    error = raised
                    refused += 1
                await asyncio.sleep(0)
            return refused

        tracemalloc.start()
        try:
            assert await try_to_send(2200) > 300
            gc.collect()  # attempts to connect leave cycles behind
            full_bytes = tracemalloc.get_traced_memory()[0]
            assert full_bytes < 1_500_000
            assert await try_to_send(5000) == 5000
            gc.collect()
            grown_bytes = tracemalloc.get_traced_memory()[0] - full_bytes
            assert grown_bytes < 500_000, "the records would be 1,100,000"
        finally:
            tracemalloc.stop()
        assert "buffer_memory=400000" in str(error)
        await producer.stop(timeout_ms=0)
        assert all(isinstance(ack.exception(), ProducerClosed) for ack in accepted)


async def test_what_lingers_is_sent_at_once_for_who_waits_for_its_memory() -> None:
    async with (
        kafka() as broker,
        producing(broker, linger_ms=3_600_000, buffer_memory=1000, max_batch_size=1000) as producer,
    ):
        broker.create_topic("orders", 2)
        await producer.send("orders", b"1", partition=0)
        await producer.flush()
        lingering = await producer.send("orders", b"2", partition=0)
        for _ in range(10):  # the sender has gone to sleep again
            await asyncio.sleep(0)
        await producer.send("orders", b"3", partition=1)
        assert (await lingering).offset == 1


async def test_who_waits_for_memory_is_served_in_order_when_the_broker_answers() -> None:
    """Calls that wait for memory go on in order when the broker answers (2d-3)."""
    async with (
        kafka() as broker,
        producing(broker, buffer_memory=3000, max_batch_size=1000) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        broker.faults.stall(ProduceRequest, times=None)
        sends = [
            asyncio.create_task(producer.send_and_wait("orders", b"%d" % number + b"x" * 900))
            for number in range(9)
        ]
        while (
            not producer._engine.pool.waiting
        ):  # the first of them; the others wait for their turn
            await asyncio.sleep(0)
        assert producer._engine.pool.used_bytes <= 3000
        broker.faults.release()
        offsets = [metadata.offset for metadata in await asyncio.gather(*sends)]
        assert offsets == list(range(1, 10))


async def test_metadata_and_memory_share_max_block() -> None:
    """Waiting for metadata and for memory share `max_block_ms` (C3)."""
    clock = jumping_clock()
    async with producing_on(
        clock,
        buffer_memory=1000,
        max_batch_size=1000,
        max_block_ms=5000,
        linger_ms=10_000,  # the metadata must not lie behind a stalled request
    ) as (broker, producer):
        broker.create_topic("bills")  # else its first metadata are an error
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"x" * 900)
        broker.faults.delay(MetadataRequest, 3.0, times=1)
        began_s = clock.monotonic()
        with pytest.raises(BufferExhaustedError):
            await producer.send("bills", b"v")
        assert 4.9 < clock.monotonic() - began_s < 5.5
        broker.faults.release()
        await ack


async def test_stop_with_dead_brokers_ends_in_time() -> None:
    """`stop` ends within its timeout with dead brokers (H2)."""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        async with producing(broker, clock=clock) as producer:
            await producer.send_and_wait("orders", b"v")
            broker.stop_node(1)
            acks = [await producer.send("orders", b"v") for _ in range(10)]
            began_s = clock.monotonic()
            await producer.stop(timeout_ms=7000)
            assert 7 <= clock.monotonic() - began_s < 13
        for ack in acks:
            with pytest.raises(ProducerClosed):
                await ack


@pytest.mark.parametrize("way", ["stop", "async with"])
async def test_stop_and_async_with_go_on_sending_for_all_of_stop_timeout_ms(way: str) -> None:
    """Brokers that come back in time get what was queued; after that it fails."""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            clock=clock,
            stop_timeout_ms=50_000,
            reconnect_backoff_ms=2000,
            retry_backoff_ms=2000,
            retry_backoff_max_ms=2000,
        )
        await producer.start()
        await producer.send_and_wait("orders", b"v")
        broker.stop_node(1)
        began_s = clock.monotonic()
        ack = await producer.send("orders", b"w")
        ending = producer.stop() if way == "stop" else producer.__aexit__(None, None, None)
        await asyncio.wait_for(ending, 60)
        assert 49 <= clock.monotonic() - began_s <= 52
        with pytest.raises(ProducerClosed):
            await ack


async def test_stop_with_an_open_transaction_and_no_answers_ends_in_time() -> None:
    """To abort, and to wait for what is on its way, share the bound."""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        async with producing(broker, clock=clock, transactional_id="t") as producer:
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"1")
            broker.faults.stall(ProduceRequest)
            ack = await producer.send("orders", b"2")
            await eventually(lambda: len(broker.requests_of(ProduceRequest)) == 2)
            began_s = clock.monotonic()
            await producer.stop(timeout_ms=8000)
            assert 7.9 <= clock.monotonic() - began_s < 8.5
        with pytest.raises(ProducerClosed):
            await ack
        broker.faults.release()


async def test_nothing_is_taken_any_more_once_stop_has_begun() -> None:
    """Also while it waits for what was sent before, and a batch of that has room."""
    async with (
        kafka() as broker,
        producing(broker, max_in_flight_requests_per_connection=1) as producer,
    ):
        await producer.send_and_wait("orders", b"1")
        broker.faults.stall(ProduceRequest)
        await producer.send("orders", b"2")
        await eventually(lambda: len(broker.requests_of(ProduceRequest)) == 2)
        ack = await producer.send("orders", b"3")
        stop = asyncio.create_task(producer.stop())
        await asyncio.sleep(0)
        with pytest.raises(ProducerClosed):
            producer.send_nowait("orders", b"4")
        for way in (producer.send, producer.send_and_wait):
            with pytest.raises(ProducerClosed):
                await way("orders", b"4")
        with pytest.raises(ProducerClosed):
            await producer.send_many("orders", [b"4"])
        broker.faults.release()
        await stop
        assert (await ack).offset == 2
        assert written(broker) == [b"1", b"2", b"3"]
        await producer.flush()  # there is nothing left to wait for
        await producer.stop()


async def test_stop_wakes_who_waits_for_memory_or_metadata() -> None:
    """`stop` ends calls that wait for memory or metadata with an error (C4)."""
    async with (
        kafka(auto_create_topics=False) as broker,
        producing(broker, buffer_memory=1000, max_batch_size=1000) as producer,
    ):
        broker.create_topic("orders")
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"x" * 900)
        for_memory = asyncio.create_task(producer.send("orders", b"x" * 900))
        for_metadata = asyncio.create_task(producer.send("nowhere", b"v"))
        for_partition = asyncio.create_task(producer.send("orders", b"v", partition=7))
        while not producer._engine.pool.waiting:
            await asyncio.sleep(0)
        await producer.stop(timeout_ms=20)
        for waiting in (for_memory, for_metadata, for_partition, ack):
            with pytest.raises(ProducerClosed):
                await waiting
        broker.faults.release()


@pytest.mark.parametrize("partition", [None, 7])
async def test_stop_is_what_is_told_to_who_waits_for_an_answer_about_metadata(
    partition: int | None,
) -> None:
    """And not that the question came to nothing."""
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(MetadataRequest, times=None)
        topic = "new" if partition is None else "orders"
        waiting = asyncio.create_task(producer.send(topic, b"v", partition=partition))
        asked = len(broker.requests_of(MetadataRequest))
        await eventually(lambda: len(broker.requests_of(MetadataRequest)) > asked)
        await producer.stop()
        with pytest.raises(ProducerClosed):
            await waiting
        broker.faults.release()


async def test_nobody_to_connect_to_fails_the_start_in_time_and_names_the_address() -> None:
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        broker.stop_node(1)
        with pytest.raises(KafkaConnectionError, match=broker.bootstrap_servers):
            async with producing(broker, clock=clock, request_timeout_ms=5000):
                pass
        assert clock.monotonic() <= 6


async def test_memory_granted_in_the_moment_of_the_stop_takes_no_record_any_more() -> None:
    """Memory that is granted as the producer stops takes no record (C5)."""
    async with (
        kafka() as broker,
        producing(broker, buffer_memory=1000, max_batch_size=1000) as producer,
    ):
        await producer.send_and_wait("orders", b"v")
        held = producer._engine.pool.take_nowait(1000)
        assert held is not None
        sending = asyncio.create_task(producer.send("orders", b"x" * 900))
        while not producer._engine.pool.waiting:
            await asyncio.sleep(0)
        producer._engine.pool.give(held)
        await producer.stop()
        with pytest.raises(ProducerClosed):
            await sending
        assert producer._engine.pool.used_bytes == 0
