"""The loops: who is asked when. What answers do is in test_batch_outcomes."""

import asyncio
import logging
from typing import Any
from unittest import mock

import pytest

from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    CoordinatorLoadInProgressError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    ProducerClosed,
)
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.producer.world import jumping_clock, kafka, producing, written


async def test_a_batch_waits_for_linger_by_the_clock() -> None:
    """A batch that is not full is sent once `linger_ms` is over (2d-7)."""
    clock = FakeClock()
    async with (
        kafka(clock=clock) as broker,
        producing(broker, clock=clock, linger_ms=0) as warm,
        producing(broker, clock=clock, linger_ms=100) as producer,
    ):
        broker.create_topic("orders")
        await warm.send_and_wait("orders", b"0")
        flushed = await producer.send("orders", b"1")
        await producer.flush()
        assert flushed.done()
        ack = await producer.send("orders", b"2")
        await clock.advance(0.09)
        assert written(broker) == [b"0", b"1"]
        await clock.advance(0.02)
        assert (await ack).offset == 2


async def test_one_in_flight_is_one_in_flight() -> None:
    """With one request in flight, no second request leaves before the answer (2d-12)."""
    async with (
        kafka() as broker,
        producing(
            broker,
            max_batch_size=200,
            max_in_flight_requests_per_connection=1,
            enable_idempotence=False,
        ) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        broker.faults.fail(ProduceRequest, NotLeaderForPartitionError, times=2)
        for n in range(6):
            await producer.send("orders", b"%d" % n + b"x" * 100)
        while len(broker.requests_of(ProduceRequest)) < 4:
            assert sum(batch.is_in_flight for batch in producer._engine.accumulator.incomplete) <= 1
            await asyncio.sleep(0)
        await producer.flush()
        assert [value and value[:1] for value in written(broker)[1:]] == [
            b"%d" % n for n in range(6)
        ]


async def test_a_node_is_asked_whether_it_answers_before_anything_is_drained_for_it() -> None:
    async with kafka() as broker, producing(broker, enable_idempotence=False) as producer:
        await producer.send_and_wait("orders", b"v")
        asked = [type(received.request) for received in broker.requests]
        assert asked.index(ProduceRequest) > len(asked) - 1 - asked[::-1].index(ApiVersionsRequest)


async def test_one_task_of_its_name_makes_the_connections_of_a_node() -> None:
    async with kafka() as broker, producing(broker) as producer:
        for number in range(3):
            await producer.send_and_wait("orders", b"%d" % number)
            error = KafkaConnectionError("says the test")
            producer.kafka_client.network.disconnect([1], error)
        names = [task.get_name() for task in asyncio.all_tasks()]
        assert [name.partition(": ")[2] for name in names].count("send[1]") == 1


async def test_batches_of_a_node_that_is_down_stay_open_and_unattempted() -> None:
    async with kafka(nodes=2) as broker:
        broker.create_topic("orders", partitions=1, replication_factor=1)
        async with producing(broker, linger_ms=0) as producer:
            await producer.send_and_wait("orders", b"0")
            leader = broker.leader(("orders", 0))
            broker.stop_node(leader)
            first = await producer.send("orders", b"1")
            while producer._engine.sender.batches._nodes[leader].is_connected:
                await asyncio.sleep(0)
            acks = [await producer.send("orders", b"%d" % n) for n in range(2, 50)]
            broker.start_node(leader)
            await asyncio.gather(first, *acks)
            assert written(broker) == [b"%d" % n for n in range(50)]
            assert len(list(broker.log(("orders", 0)).batches())) <= 4


async def test_the_producer_id_is_asked_for_until_it_is_there(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """InitProducerId is retried until there is a producer id."""
    async with kafka() as broker:
        broker.faults.fail(InitProducerIdRequest, CoordinatorLoadInProgressError, times=3)
        with caplog.at_level(logging.WARNING):
            async with producing(broker) as producer:
                await producer.send_and_wait("orders", b"v")
        assert len(broker.requests_of(InitProducerIdRequest)) == 4
        assert sum("producer id" in record.getMessage() for record in caplog.records) == 1


async def test_a_refused_producer_id_fails_what_waits_and_is_asked_for_again() -> None:
    async with kafka() as broker:
        broker.faults.fail(InitProducerIdRequest, ClusterAuthorizationFailedError, times=2)
        async with producing(broker) as producer:
            ack = await producer.send("orders", b"1")
            with pytest.raises(ClusterAuthorizationFailedError):
                await ack
            outcomes = []
            for _ in range(2):
                ack = await producer.send("orders", b"2")
                outcomes.append(await asyncio.gather(ack, return_exceptions=True))
            assert written(broker)[-1:] == [b"2"]


async def test_without_idempotence_no_producer_id_is_asked_for() -> None:
    async with kafka() as broker, producing(broker, enable_idempotence=False) as producer:
        await producer.send_and_wait("orders", b"v")
        assert broker.requests_of(InitProducerIdRequest) == []
        (batch,) = broker.log(("orders", 0)).batches()
        assert batch.data[43:51] == b"\xff" * 8  # producer id -1


async def test_a_flush_may_be_bounded() -> None:
    """`flush` with a timeout raises when the timeout is over (2d-21)."""
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"v")
        with pytest.raises(KafkaTimeoutError, match=r"timeout_ms=20: 1 batches"):
            await producer.flush(timeout_ms=20)
        broker.faults.release()
        await producer.flush(timeout_ms=5000)
        assert ack.done()


async def test_a_cancelled_flush_leaves_no_hurry_behind() -> None:
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"v")
        flush = asyncio.create_task(producer.flush())
        await asyncio.sleep(0)
        flush.cancel()
        with pytest.raises(asyncio.CancelledError):
            await flush
        assert not producer._engine.accumulator.incomplete.is_flushing
        assert not producer._engine.accumulator.incomplete.batches[0]._listeners
        broker.faults.release()
        await ack


async def test_stopping_fails_what_is_not_acknowledged_in_time() -> None:
    """Stopping fails the records that are not acknowledged within its timeout (2d-22)."""
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"v")
        await producer.stop(timeout_ms=20)
        with pytest.raises(ProducerClosed, match="longer timeout_ms"):
            await ack
        broker.faults.release()


async def test_an_observer_may_send_while_a_batch_is_being_sent() -> None:
    """Its record comes after those that are being sent."""
    echoes: list[RecordAck] = []

    class Echo(Observer):
        def batch_sent(self, *_: object) -> None:
            if len(written(broker)) == 1 and not echoes:
                echoes.append(producer.send_nowait("orders", b"echo", partition=0))

    async with kafka() as broker, producing(broker, observer=Echo()) as producer:
        await producer.send_and_wait("orders", b"0", partition=0)
        assert (await producer.send_and_wait("orders", b"1", partition=0)).offset == 1
        assert (await echoes[0]).offset == 2
        assert written(broker) == [b"0", b"1", b"echo"]


class Retried(Observer):
    """The batches that were sent again."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []

    def batch_retried(self, topic_partition: Any, records: int, error: BaseException) -> None:
        self.errors.append(error)


async def test_requests_that_wait_for_a_connection_are_overtaken_by_none() -> None:
    """No request overtakes one whose task waits for a connection (2d-10)."""
    retried = Retried()
    async with (
        kafka() as broker,
        producing(broker, max_batch_size=200, observer=retried) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        submit = producer.kafka_client.network.submit
        is_free = [True] * 8 + [False]  # from its end

        def free_from_the_second_time_on(*args: Any, **options: Any) -> Any:
            return is_free.pop() and submit(*args, **options)

        with mock.patch.object(
            producer.kafka_client.network, "submit", free_from_the_second_time_on
        ):
            acks = [
                producer.send_nowait("orders", b"%d" % number + b"x" * 100) for number in range(8)
            ]
            offsets = [metadata.offset for metadata in await asyncio.gather(*acks)]
        assert offsets == list(range(1, 9))
        assert retried.errors == []
        with mock.patch.object(producer.kafka_client.network, "submit", wraps=submit) as at_once:
            await producer.send_and_wait("orders", b"last")
        assert at_once.called  # later ones need no task of their own again


async def test_a_connection_that_is_gone_is_made_again_for_the_next_batches() -> None:
    retried = Retried()
    async with (
        kafka() as broker,
        producing(broker, max_batch_size=200, observer=retried) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        (node_id,) = producer._engine.sender.batches._nodes
        producer.kafka_client.network.disconnect([node_id], KafkaConnectionError("says the test"))
        acks = []
        for number in range(8):
            acks.append(await producer.send("orders", b"%d" % number + b"x" * 100))
            await asyncio.sleep(0)
        offsets = [metadata.offset for metadata in await asyncio.gather(*acks)]
        assert offsets == list(range(1, 9))
        assert retried.errors == []


async def test_an_answer_behind_which_nothing_waits_has_the_sender_look_no_more() -> None:
    """And one behind which something waits, lingering say, has it sent in time all the same."""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker, producing(broker, clock=clock) as producer:
        await producer.send_and_wait("orders", b"first")
        looks = mock.Mock(wraps=producer._engine.sender._dispatch)
        with mock.patch.object(producer._engine.sender, "_dispatch", looks):
            await producer.send_and_wait("orders", b"second")
            assert looks.call_count == 0  # it was sent at once
            broker.faults.stall(ProduceRequest)
            acks = [await producer.send("orders", b"third")]
            await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 3)
            producer._engine.accumulator._linger_s = 20.0
            acks.append(await producer.send("orders", b"fourth"))
            broker.faults.release()
            for ack in acks:
                await ack
        assert written(broker) == [b"first", b"second", b"third", b"fourth"]


async def test_the_sender_does_not_look_while_the_next_answer_sends_what_waits() -> None:
    """The only node with batches has as many requests in flight as allowed, until the last."""
    options = {"max_in_flight_requests_per_connection": 1, "max_batch_size": 200}
    async with kafka() as broker, producing(broker, **options) as producer:
        await producer.send_and_wait("orders", b"first")
        broker.faults.stall(ProduceRequest)
        values = [b"%d" % number + b"x" * 100 for number in range(6)]
        acks = [await producer.send("orders", value) for value in values]
        await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 2)
        while producer._engine.sender._wakeup.is_set:
            await asyncio.sleep(0)
        looks = mock.Mock(wraps=producer._engine.sender._dispatch)
        with mock.patch.object(producer._engine.sender, "_dispatch", looks):
            broker.faults.release()
            for ack in acks:
                await ack
        assert looks.call_count == 0
        assert written(broker) == [b"first", *values]
