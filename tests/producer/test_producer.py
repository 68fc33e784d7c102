"""The facade: what `send` and its neighbours promise. Faults and time are in tests/scenarios."""

import asyncio
import functools
import gc
import inspect
import random
import warnings
from collections.abc import Awaitable, Coroutine
from typing import Any

import pytest

from aiokafka_lite.errors import (
    IllegalArgumentError,
    IllegalStateError,
    InvalidRecordError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    ProducerClosed,
    SerializationError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import RecordMetadata, TimestampType, TopicPartition
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.producer.partition.partitioner import (
    DefaultPartitioner,
    RoundRobinPartitioner,
)
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.serialization import json_serializer
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import jumping_clock, kafka, producing, written
from tests.support.coroutine_functions import is_coroutine_function


def test_the_constructor_needs_no_loop_and_does_no_io() -> None:
    producer = AIOKafkaProducer(bootstrap_servers="nowhere.invalid:1")
    assert "not started" in repr(producer)


async def test_records_go_out_with_key_value_headers_and_timestamp() -> None:
    """A record arrives with its key, value, headers and timestamp (C1, C7)."""
    async with kafka() as broker, producing(broker) as producer:
        ack = await producer.send(
            "orders", b"v", key=b"k", timestamp_ms=12345, headers=[("a", b"1"), ("b", None)]
        )
        assert isinstance(ack, RecordAck)
        assert not ack.done()
        assert await ack == RecordMetadata(
            "orders", 0, TopicPartition("orders", 0), 0, 12345, TimestampType.CREATE_TIME, 0
        )
        (record,) = broker.log(("orders", 0)).records()
        assert (record.key, record.value, record.timestamp) == (b"k", b"v", 12345)
        assert tuple(record.headers) == (("a", b"1"), ("b", None))


async def test_send_does_not_wait_for_the_broker() -> None:
    """`send` returns before the broker has answered (C2)."""
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"0")
        before = len(broker.requests_of(ProduceRequest))
        acks = [await producer.send("orders", b"%d" % number) for number in range(1, 6)]
        assert not any(ack.done() for ack in acks)
        assert len(broker.requests_of(ProduceRequest)) == before
        offsets = [metadata.offset for metadata in await asyncio.gather(*acks)]
        assert offsets == [1, 2, 3, 4, 5]
        assert written(broker) == [b"%d" % number for number in range(6)]


async def test_timestamps_are_each_records_own() -> None:
    """The metadata of each record of a batch has the record's own timestamp (H3)."""
    async with kafka() as broker, producing(broker, linger_ms=1000) as producer:
        acks = [await producer.send("orders", b"v", timestamp_ms=ms) for ms in (50, 10, 99)]
        await producer.flush()
        assert [ack.result().timestamp for ack in acks] == [50, 10, 99]


async def test_log_append_time_is_the_brokers() -> None:
    """With log-append time the metadata has the broker's timestamp (C1, C7)."""
    async with kafka() as broker:
        broker.create_topic("orders", configs={"message.timestamp.type": "LogAppendTime"})
        async with producing(broker) as producer:
            metadata = await producer.send_and_wait("orders", b"v", timestamp_ms=5)
            assert metadata.timestamp_type == TimestampType.LOG_APPEND_TIME
            assert metadata.timestamp is not None
            assert metadata.timestamp > 5


async def test_acks_zero_ends_at_once_with_an_unknown_offset() -> None:
    """With `acks=0` a record is acknowledged at once, with offset -1 (2d-16)."""
    async with kafka() as broker, producing(broker, acks=0) as producer:
        assert (await (await producer.send("orders", b"v"))).offset == -1
        await broker.wait_until(lambda: written(broker) == [b"v"])


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
async def test_compressed_records_arrive(codec: str) -> None:
    async with kafka() as broker, producing(broker, compression_type=codec) as producer:
        values: list[bytes | None] = [b"value %d " % number * 20 for number in range(300)]
        for value in values:
            await producer.send("orders", value)
        await producer.flush()
        assert written(broker) == values
        assert producer._engine.pool.used_bytes == 0


async def test_serializers_run_key_first_and_see_the_headers() -> None:
    """The key is serialized before the value, and both serializers see the headers (C3)."""
    calls: list[str] = []

    def key_serializer(key: int) -> bytes:
        calls.append("key")
        return str(key).encode()

    class ValueSerializer:
        def serialize(
            self, topic: str, headers: list[tuple[str, bytes | None]], obj: object
        ) -> bytes:
            calls.append("value")
            headers.append(("topic", topic.encode()))
            return json_serializer(obj)

    async with (
        kafka() as broker,
        producing(broker, key_serializer=key_serializer, value_serializer=ValueSerializer()) as p,
    ):
        given = [("a", b"1")]
        await p.send_and_wait("orders", {"x": 1}, key=7, headers=given)
        assert calls == ["key", "value"]
        (record,) = broker.log(("orders", 0)).records()
        assert (record.key, record.value) == (b"7", b'{"x":1}')
        assert tuple(record.headers) == (("a", b"1"), ("topic", b"orders"))
        assert given == [("a", b"1")]
        await p.send_and_wait("orders", None, key=7)
        assert calls == ["key", "value", "key"]  # a null stays a null


async def test_a_serializer_may_make_a_null() -> None:
    async with kafka() as broker, producing(broker, value_serializer=lambda _: None) as producer:
        await producer.send_and_wait("orders", {"x": 1})
        assert written(broker) == [None]


async def test_changes_to_headers_and_buffers_after_send_have_no_effect() -> None:
    """Changing headers or buffers after `send` does not change the record (C3)."""
    async with kafka() as broker, producing(broker) as producer:
        headers, value = [("a", b"1")], bytearray(b"value")
        ack = await producer.send("orders", value, headers=headers)
        headers.append(("b", b"2"))
        value[:] = b"xxxxx"
        await ack
        (record,) = broker.log(("orders", 0)).records()
        assert record.value == b"value"
        assert tuple(record.headers) == (("a", b"1"),)


async def test_what_cannot_be_sent_raises_and_queues_nothing() -> None:
    """A record that cannot be sent raises and queues nothing (C4)."""
    clock = jumping_clock()
    async with (
        kafka(clock=clock) as broker,
        producing(broker, clock=clock, max_request_size=1000, max_block_ms=6000) as producer,
    ):
        await producer.send_and_wait("orders", b"first")
        with pytest.raises(AssertionError, match="Need at least one: key or value"):
            await producer.send("orders")
        with pytest.raises(TypeError, match=r"value is of type str.*value_serializer"):
            await producer.send("orders", "text")
        with pytest.raises(SerializationError, match="header 0, 'a', has a value of type str"):
            await producer.send("orders", b"v", headers=[("a", "1")])  # type: ignore[list-item]
        with pytest.raises(MessageSizeTooLargeError, match=r"1,0\d\d bytes.*size of 1,000"):
            await producer.send("orders", b"x" * 1000)
        for partition in (-1, "0", True, 1.0):
            with pytest.raises(IllegalArgumentError, match="no partition of 'orders'"):
                await producer.send("orders", b"v", partition=partition)  # type: ignore[arg-type]
        for timestamp in (-(2**63) - 1, 1.5, "5", 2**63):
            with pytest.raises(IllegalArgumentError, match="timestamp_ms="):
                await producer.send("orders", b"v", timestamp_ms=timestamp)  # type: ignore[arg-type]
        for topic in (None, "", 5):
            with pytest.raises(IllegalArgumentError, match="no topic's name"):
                await producer.send(topic, b"v")  # type: ignore[arg-type]
        with pytest.raises(KafkaTimeoutError, match=r"partition 3 of topic 'orders'.*1 partitions"):
            await producer.send("orders", b"v", partition=3)
        assert not producer._engine.accumulator.incomplete
        assert written(broker) == [b"first"]


async def test_a_record_larger_than_buffer_memory_is_refused_at_once() -> None:
    """A record larger than `buffer_memory` is refused at once (C3)."""
    async with kafka() as broker, producing(broker, buffer_memory=500) as producer:
        with pytest.raises(MessageSizeTooLargeError, match="buffer_memory of 500 bytes"):
            await producer.send("orders", b"x" * 600)
        await producer.send_and_wait("orders", b"x" * 300)


async def test_a_record_larger_than_a_batch_travels_alone() -> None:
    """A record larger than `max_batch_size` gets a batch of its own (C5)."""
    async with kafka() as broker, producing(broker, max_batch_size=100) as producer:
        for size in (10, 5000, 10):
            await producer.send("orders", b"x" * size)
        await producer.flush()
        assert [len(value or b"") for value in written(broker)] == [10, 5000, 10]


async def test_an_unknown_topic_is_named() -> None:
    """A `send` to an unknown topic raises an error that names it (C4)."""
    clock = jumping_clock()
    async with (
        kafka(clock=clock, auto_create_topics=False) as broker,
        producing(broker, clock=clock, max_block_ms=6000) as producer,
    ):
        with pytest.raises(UnknownTopicOrPartitionError, match="'nowhere'"):
            await producer.send("nowhere", b"v")
        with pytest.raises(UnknownTopicOrPartitionError, match="'nowhere'"):
            await producer.partitions_for("nowhere")


async def test_partitions_for_gives_all_partitions() -> None:
    async with kafka(num_partitions=3) as broker, producing(broker) as producer:
        assert await producer.partitions_for("orders") == {0, 1, 2}
        assert await producer.partitions_for("orders") == {0, 1, 2}


async def test_partitions_are_chosen_in_their_order_of_precedence() -> None:
    """The partition is the named one, else the partitioner's, the key's, or sticky (C3, 2d-4)."""
    async with kafka(num_partitions=8) as broker, producing(broker) as producer:
        explicit = await producer.send_and_wait("orders", b"v", key=b"foobar", partition=3)
        assert explicit.partition == 3
        keyed = await producer.send_and_wait("orders", b"v", key=b"foobar")
        assert keyed.partition == (murmur2(b"foobar") & 0x7FFFFFFF) % 8
        sticky = {(await producer.send_and_wait("orders", b"v")).partition for _ in range(20)}
        assert len(sticky) == 1
        with pytest.raises(IllegalArgumentError, match="partition=<str, 1 long>"):
            await producer.send("orders", b"v", partition="5")  # type: ignore[arg-type]


async def test_custom_partitioners_see_bytes_and_partitions() -> None:
    """A partitioner gets the key's bytes, all partitions and the available ones (C3)."""
    seen: list[object] = []

    def partitioner(key: bytes | None, everything: list[int], available: list[int]) -> int:
        seen.append((key, everything, available))
        return everything[-1]

    async with (
        kafka(num_partitions=3) as broker,
        producing(broker, partitioner=partitioner, key_serializer=str.encode) as producer,
    ):
        assert (await producer.send_and_wait("orders", b"v", key="k")).partition == 2
        assert seen == [(b"k", [0, 1, 2], [0, 1, 2])]
        assert (await producer.send_and_wait("orders", b"v", key="k", partition=1)).partition == 1
        assert len(seen) == 1
    async with (
        kafka(num_partitions=3) as broker,
        producing(broker, partitioner=lambda *_: 9) as producer,
    ):
        with pytest.raises(IllegalArgumentError, match=r"chose 9 for topic 'orders'.*0 to 2"):
            await producer.send("orders", b"v")


@pytest.mark.parametrize(
    "partitioner", [RoundRobinPartitioner(), DefaultPartitioner(random.Random(1))]
)
async def test_ready_made_partitioners(partitioner: DefaultPartitioner) -> None:
    async with (
        kafka(num_partitions=3) as broker,
        producing(broker, partitioner=partitioner) as producer,
    ):
        chosen = [(await producer.send_and_wait("orders", b"v")).partition for _ in range(30)]
        assert set(chosen) == {0, 1, 2}


async def test_records_without_key_move_on_when_a_batch_is_full() -> None:
    """Records without a key go to another partition once a batch is full (2d-5)."""
    async with (
        kafka(num_partitions=5) as broker,
        producing(broker, max_batch_size=1000, linger_ms=10_000) as producer,
    ):
        for _ in range(500):
            await producer.send("orders", b"x" * 100)
        await producer.flush()
        counts = [broker.log(("orders", number)).high_watermark for number in range(5)]
        assert sum(counts) == 500
        assert sum(count > 0 for count in counts) > 1
        batches = sum(len(list(broker.log(("orders", number)).batches())) for number in range(5))
        assert batches < 80  # eight to nine records each


async def test_send_gives_others_a_turn_now_and_then() -> None:
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"v")
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        for _ in range(60_000):
            await producer.send("orders", b"x" * 100)
        assert turns > 10
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_sends_of_one_caller_keep_their_order_however_they_are_awaited() -> None:
    async with kafka() as broker, producing(broker, max_batch_size=500) as producer:
        await producer.partitions_for("orders")
        await asyncio.gather(*(producer.send("orders", b"%d" % n) for n in range(300)))
        await asyncio.gather(*(producer.send_and_wait("orders", b"%d" % n) for n in range(300)))
        assert written(broker) == [b"%d" % n for n in range(300)] * 2


async def test_send_works_as_a_task_and_through_a_wrapper() -> None:
    """Methods of the producer can be replaced by wrappers of them, as with aiokafka."""
    calls: list[str] = []

    class Traced(AIOKafkaProducer):
        async def send(self, topic: str, *args: object, **kwargs: object) -> RecordAck:
            calls.append(topic)
            return await super().send(topic, *args, **kwargs)  # type: ignore[arg-type]

    async with kafka() as broker:
        async with Traced(bootstrap_servers=broker.bootstrap_servers) as producer:
            ack = await asyncio.create_task(producer.send("orders", b"v"))
            assert (await ack).offset == 0
            assert (await producer.send_and_wait("orders", b"v")).offset == 1
            assert inspect.iscoroutinefunction(producer.send)
        assert calls == ["orders", "orders"]


async def test_flush_waits_for_what_was_there_when_it_began() -> None:
    """`flush` waits for the batches that exist when it is called (C6, 2d-21)."""
    async with kafka() as broker, producing(broker, linger_ms=60_000, request_timeout_ms=9000) as p:
        acks = [await p.send("orders", b"v") for _ in range(3)]
        await asyncio.wait_for(p.flush(), 30)
        assert all(ack.done() for ack in acks)
        assert not (await p.send("orders", b"v")).done()
        await p.flush()
        await p.flush()


async def test_before_start_and_after_stop_every_call_says_so() -> None:
    """Before `start` and after `stop` every call raises an error that says so (C4)."""
    async with kafka() as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
        for call in (producer.send("t", b"v"), producer.flush(), producer.partitions_for("t")):
            with pytest.raises(IllegalStateError, match=r"await producer.start\(\) first"):
                await call
        await producer.start()
        with pytest.raises(IllegalStateError, match="started before"):
            await producer.start()
        await producer.send_and_wait("t", b"v")
        assert not producer._closed  # aiokafka's name, which health checks read
        await producer.stop()
        assert producer._closed
        await producer.stop()
        for call in (producer.send("t", b"v"), producer.partitions_for("t")):
            with pytest.raises(ProducerClosed, match="create another producer"):
                await call
        await producer.flush()  # as in aiokafka: there is nothing left to wait for
        with pytest.raises(ProducerClosed, match="create another producer"):
            await producer.start()


async def test_a_producer_never_started_can_be_stopped() -> None:
    producer = AIOKafkaProducer()
    await producer.stop()
    with pytest.raises(ProducerClosed):
        await producer.start()


async def test_a_start_that_fails_leaves_nothing_and_may_be_repeated() -> None:
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        broker.stop_node(1)
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, clock=clock)
        with pytest.raises(KafkaConnectionError, match=broker.bootstrap_servers):
            await producer.start()
        broker.start_node(1)
        async with producer:
            await producer.send_and_wait("orders", b"v")


async def test_start_send_and_stop_may_be_in_different_tasks() -> None:
    async with kafka() as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
        await asyncio.create_task(producer.start())
        ack = await asyncio.create_task(producer.send("orders", b"v"))
        await asyncio.create_task(producer.stop())
        assert ack.result().offset == 0


async def test_stop_sends_what_is_queued() -> None:
    async with kafka() as broker:
        async with producing(broker, linger_ms=60_000, request_timeout_ms=9000) as producer:
            await producer.send("orders", b"first")
            await producer.flush()
            acks = [await producer.send("orders", b"%d" % n) for n in range(5)]
            await asyncio.sleep(0)
        assert written(broker) == [b"first"] + [b"%d" % n for n in range(5)]
        assert all(ack.done() for ack in acks)


async def test_a_dropped_producer_says_so_and_still_sends_what_it_had() -> None:
    async with kafka() as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, linger_ms=0)
        await producer.start()
        ack = await producer.send("orders", b"v")
        owner = producer.kafka_client.owner
        dropped = [producer]
        del producer
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        with pytest.warns(ResourceWarning, match="Unclosed AIOKafkaProducer .* `async with"):
            dropped.clear()
        asyncio.get_running_loop().set_exception_handler(None)
        assert [context["message"] for context in told] == ["Unclosed AIOKafkaProducer"]
        told.clear()  # it holds the producer
        assert (await ack).offset == 0
        while owner.children:
            await asyncio.sleep(0)
        await owner.close()


async def test_a_failed_background_task_reaches_the_next_calls_and_the_acks() -> None:
    """The next call raises the unexpected error of a background task."""
    async with kafka() as broker:
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000, request_timeout_ms=9000
        )
        await producer.start()
        ack = await producer.send("orders", b"v")

        def broken(now_s: float) -> None:
            raise ZeroDivisionError("a bug")

        producer._engine.sender._dispatch = broken
        with pytest.raises(KafkaError, match="a bug"):
            await producer.flush()
        with pytest.raises(KafkaError, match="a bug") as caught:
            await ack
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        for call in (producer.send("orders", b"v"), producer.send("new", b"v"), producer.flush()):
            with pytest.raises(KafkaError, match="a bug"):
                await call
        await asyncio.wait_for(producer.stop(), 30)


async def test_a_failed_background_task_reaches_who_waits_for_memory() -> None:
    """Also when the memory is that of a request on its way, which nobody will hear of any more."""
    async with kafka() as broker:
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, buffer_memory=1000, max_batch_size=1000
        )
        await producer.start()
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"x" * 900)
        await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 2)
        waiting = asyncio.create_task(producer.send("orders", b"x" * 900))
        while not producer._engine.pool.waiting:
            await asyncio.sleep(0)

        def broken(now_s: float) -> None:
            raise ZeroDivisionError("a bug")

        producer._engine.sender._dispatch = broken
        producer._engine.sender.wake()
        for lost in (waiting, ack):
            with pytest.raises(KafkaError, match="a bug"):
                await lost
        broker.faults.release()
        await producer.stop()


def test_options_that_do_nothing_are_deprecated() -> None:
    with pytest.warns(DeprecationWarning, match="api_version"):
        AIOKafkaProducer(api_version="auto")
    loop = asyncio.new_event_loop()
    with pytest.warns(DeprecationWarning, match="loop"):
        AIOKafkaProducer(loop=loop)
    loop.close()


def test_a_refused_producer_leaves_nothing_to_close() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KafkaConfigurationError, match="sasl_plain_username"):
            AIOKafkaProducer(security_protocol="SASL_SSL")
        gc.collect()


async def test_older_brokers_get_names_instead_of_topic_ids() -> None:
    """Produce names topics where the broker does not know topic ids (KIP-516)."""
    async with kafka(max_versions={0: 8, 3: 9}) as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"v")
        (request,) = broker.requests_of(ProduceRequest)
        assert request.topic_data[0].name == "orders"


async def test_an_idle_producer_sets_no_timer_of_its_own(kafka_broker: EmbeddedBroker) -> None:
    producer = AIOKafkaProducer(bootstrap_servers=kafka_broker.bootstrap_servers)
    await producer.start()
    await producer.send_and_wait("orders", b"v")
    assert producer._engine.sender._dispatch(producer._clock.monotonic()) is None
    await producer.stop()


async def test_send_and_wait_gives_a_coroutine_that_asyncio_takes() -> None:
    """create_task, gather, shield, wait, wait_for and TaskGroup wait for the record (C1)."""
    async with kafka() as broker, producing(broker) as producer:
        assert is_coroutine_function(AIOKafkaProducer.send_and_wait)
        await producer.send_and_wait("orders", b"0")

        def sending(number: int, key: bytes | None = b"k") -> Coroutine[Any, Any, RecordMetadata]:
            made = producer.send_and_wait("orders", b"%d" % number, key)
            assert isinstance(made, Coroutine)
            return made

        assert (await sending(1)).offset == 1
        assert (await asyncio.create_task(sending(2))).offset == 2
        assert [each.offset for each in await asyncio.gather(*map(sending, (3, 4, 5)))] == [3, 4, 5]
        assert (await asyncio.shield(sending(6))).offset == 6
        assert (await asyncio.wait_for(sending(7), 30)).offset == 7
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(sending(number)) for number in (8, 9)]
        assert [task.result().offset for task in tasks] == [8, 9]
        done, _ = await asyncio.wait([asyncio.ensure_future(sending(10))])
        assert [each.result().offset for each in done] == [10]
        metadata = await next(asyncio.as_completed([sending(11, None)]))
        assert (metadata.offset, metadata.serialized_value_size) == (11, 2)
        many = await asyncio.gather(*map(sending, range(12, 3000)))
        assert [each.offset for each in many] == list(range(12, 3000))
        assert written(broker) == [b"%d" % number for number in range(3000)]


async def test_records_awaited_together_keep_the_order_of_their_calls_while_some_wait() -> None:
    """A small record that has room is not written before a large one that waits for memory (C7)."""
    async with kafka() as broker:
        options = {"max_batch_size": 1000, "max_request_size": 1000, "buffer_memory": 4000}
        async with producing(broker, **options) as producer:
            await producer.send_and_wait("orders", b"first", partition=0)
            values = [*(bytes((number,)) * 890 for number in range(9)), b"s", b"t"]
            await asyncio.gather(
                *(producer.send_and_wait("orders", value, partition=0) for value in values)
            )
            assert written(broker) == [b"first", *values]


async def test_records_awaited_together_fail_and_are_cancelled_as_tasks_are() -> None:
    """A failure or a cancel of one wait touches no other wait (C1)."""
    async with kafka() as broker, producing(broker) as producer:

        def sending(count: int) -> list[Coroutine[Any, Any, RecordMetadata]]:
            return [producer.send_and_wait("orders", b"v", b"k") for _ in range(count)]

        await asyncio.gather(*sending(2))  # after a record alone, the next would go alone
        broker.faults.fail(ProduceRequest, InvalidRecordError)
        errors = await asyncio.gather(*sending(3), return_exceptions=True)
        assert {type(error) for error in errors} == {InvalidRecordError}
        broker.faults.fail(ProduceRequest, InvalidRecordError)
        with pytest.raises(InvalidRecordError):
            await asyncio.gather(*sending(3))
        broker.faults.stall(ProduceRequest, times=None)
        gathered = asyncio.gather(*sending(3))
        first, second = (asyncio.ensure_future(each) for each in sending(2))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(sending(1)[0], 0.01)
        task = asyncio.create_task(sending(1)[0])
        awaiting = asyncio.create_task(_awaited(second))
        await asyncio.sleep(0)
        for wait in (gathered, first, task):
            assert wait.cancel()
        for cancelled in (gathered, first, task):
            with pytest.raises(asyncio.CancelledError):
                await cancelled
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await awaiting
        called: list[object] = []
        last = asyncio.ensure_future(sending(1)[0])
        last.add_done_callback(called.append)
        last.add_done_callback(print)
        assert last.remove_done_callback(print) == 1
        broker.faults.release()
        assert (await last).offset >= 1
        await asyncio.sleep(0)
        assert called == [last]


async def test_send_and_wait_goes_by_a_send_that_was_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Instrumentation wraps `send`, of the class or of one producer, and sees each record (C1)."""
    seen: list[object] = []
    own = AIOKafkaProducer.send

    async def send(self: Any, topic: str, *rest: Any) -> Any:
        seen.append(rest[0])
        return await own(self, topic, *rest)

    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"first")
        monkeypatch.setattr(AIOKafkaProducer, "send", send)
        await producer.send_and_wait("orders", b"of the class", b"k")
        monkeypatch.undo()
        monkeypatch.setattr(producer, "send", functools.partial(send, producer))
        await producer.send_and_wait("orders", b"of the producer", b"k")
        call = functools.partial(send, producer)
        proxied = type("Proxied", (), {"__func__": own, "__call__": staticmethod(call)})
        monkeypatch.setattr(producer, "send", proxied())  # as wrapt's, which have its attributes
        await producer.send_and_wait("orders", b"of a proxy", b"k")
        assert seen == [b"of the class", b"of the producer", b"of a proxy"]


async def _awaited(wait: Awaitable[RecordMetadata]) -> RecordMetadata:
    return await wait


async def test_an_instance_has_a_dictionary_only_for_what_a_program_sets() -> None:
    """So interpreters keep the place of `send` (see lazy_dictionary.h)."""
    async with kafka() as broker, producing(broker) as producer:
        await producer.send_and_wait("orders", b"0")
        assert gc.get_referents(producer).count({}) == 0
        assert vars(producer) == {}
        producer.mine = 1  # type: ignore[attr-defined]
        assert vars(producer) == {"mine": 1}
