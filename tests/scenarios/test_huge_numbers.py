"""Numbers that no C type and no field of a message can hold, wherever a call takes one."""

import inspect
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.producer.producer import AIOKafkaProducer
from tests.producer.world import jumping_clock
from tests.scenarios.consuming import embedded, fill

TP = TopicPartition("t", 0)
NUMBERS = (10**30, 2**64, 2**63, -(10**30), -1, True)
SAID = (KafkaError, ValueError, TypeError)
"""What such a call may raise. An OverflowError would be none of these."""

Call = Callable[[Any, Any], Any]


def sent_batch(producer: AIOKafkaProducer[Any, Any], number: Any) -> Any:
    builder = producer.create_batch()
    builder.append(key=None, value=b"v", timestamp=None)
    return producer.send_batch(builder, "t", partition=number)


SENDS: dict[str, Call] = {
    "send(partition)": lambda it, number: it.send("t", b"v", partition=number),
    "send(timestamp_ms)": lambda it, number: it.send("t", b"v", timestamp_ms=number),
    "send_nowait(partition)": lambda it, number: it.send_nowait("t", b"v", partition=number),
    "send_nowait(timestamp_ms)": lambda it, number: it.send_nowait("t", b"v", timestamp_ms=number),
    "send_many(partition)": lambda it, number: it.send_many("t", [b"v"], partition=number),
    "send_many(timestamp_ms)": lambda it, number: it.send_many("t", [b"v"], timestamp_ms=number),
    "append(timestamp)": lambda it, number: it.create_batch().append(
        key=None, value=b"v", timestamp=number
    ),
    "send_batch(partition)": sent_batch,
    "send_arrow(partition)": lambda it, number: it.send_arrow(
        pa.table({"value": [b"v"]}), "t", partition=number
    ),
    "send_arrow(timestamp_ms)": lambda it, number: it.send_arrow(
        pa.table({"value": [b"v"]}), "t", timestamp_ms=number
    ),
}
READS: dict[str, Call] = {
    "getmany(max_records)": lambda it, number: it.getmany(max_records=number, timeout_ms=1),
    "getmany_arrow(max_records)": lambda it, number: it.getmany_arrow(
        max_records=number, timeout_ms=1
    ),
    "getmany_arrow(max_bytes)": lambda it, number: it.getmany_arrow(max_bytes=number, timeout_ms=1),
    "getmany_arrow(until)": lambda it, number: it.getmany_arrow(until={TP: number}, timeout_ms=1),
    "seek": lambda it, number: it.seek(TP, number),
    "seek(OffsetAndMetadata)": lambda it, number: it.seek(TP, OffsetAndMetadata(number, "")),
    "seek_to_timestamp": lambda it, number: it.seek_to_timestamp(number, TP),
    "commit": lambda it, number: it.commit({TP: number}),
    "commit(OffsetAndMetadata)": lambda it, number: it.commit({TP: OffsetAndMetadata(number, "")}),
    "assign": lambda it, number: it.assign([TopicPartition("t", number)]),
    "pause": lambda it, number: it.pause(TopicPartition("t", number)),
    "committed": lambda it, number: it.committed(TopicPartition("t", number)),
    "beginning_offsets": lambda it, number: it.beginning_offsets([TopicPartition("t", number)]),
    "offsets_for_times": lambda it, number: it.offsets_for_times({TP: number}),
}


async def try_each_number(client: Any, call: Call, again: Callable[[], object]) -> None:
    for number in NUMBERS:
        try:
            result = call(client, number)
            if inspect.isawaitable(result):
                await result
        except SAID as error:
            assert not isinstance(error, OverflowError)  # noqa: PT017  it is an ArithmeticError
            assert not isinstance(error.__cause__, OverflowError), number  # noqa: PT017
        again()


@pytest.mark.parametrize("name", SENDS)
async def test_a_producer_takes_or_refuses_any_number(name: str) -> None:
    """A producer says what is wrong with a number, and goes on (C4)."""
    clock = jumping_clock()
    async with (
        embedded({"t": 2}, clock=clock) as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, clock=clock) as producer,
    ):
        await producer.partitions_for("t")
        await try_each_number(producer, SENDS[name], lambda: None)
        assert (await producer.send_and_wait("t", b"v", partition=1)).offset >= 0


@pytest.mark.parametrize("name", READS)
async def test_a_consumer_takes_or_refuses_any_number(name: str) -> None:
    """A consumer says what is wrong with a number, and goes on (B6)."""
    clock = jumping_clock()
    async with embedded({"t": 1}, clock=clock) as broker:
        fill(broker, TP, 3)
        async with AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            clock=clock,
        ) as consumer:

            def again() -> None:
                consumer.assign([TP])
                consumer.resume(TP)
                consumer.seek(TP, 0)

            again()
            await try_each_number(consumer, READS[name], again)
            assert (await consumer.getone()).offset == 0
