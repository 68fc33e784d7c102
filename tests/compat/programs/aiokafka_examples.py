"""Seven small programs with the imports and calls of those that aiokafka shows its users.

`python aiokafka_examples.py BOOTSTRAP TLS_BOOTSTRAP CA_FILE FOLDER` runs all of them, and prints
for each its name and "ran", or a traceback.
"""

import asyncio
import json
import pathlib
import random
import sys
import traceback
from collections import Counter
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.errors import KafkaError, OffsetOutOfRangeError
from aiokafka.helpers import create_ssl_context
from aiokafka.producer import AIOKafkaProducer as ProducerOfThePackage
from aiokafka.structs import ConsumerRecord, TopicPartition

BOOTSTRAP, TLS_BOOTSTRAP, CA_FILE, FOLDER = sys.argv[1:]


async def simple_produce() -> None:
    producer = AIOKafkaProducer(bootstrap_servers=BOOTSTRAP)
    await producer.start()
    try:
        metadata = await producer.send_and_wait("ex-simple", b"Super message")
        assert (metadata.topic, metadata.offset) == ("ex-simple", 0)
        future = await producer.send("ex-simple", b"Second message", key=b"key")
        assert (await future).timestamp > 0
        await producer.flush()
    except KafkaError as error:
        raise AssertionError(error) from error
    finally:
        await producer.stop()


async def simple_consume() -> None:
    consumer = AIOKafkaConsumer(
        "ex-simple",
        bootstrap_servers=BOOTSTRAP,
        group_id="ex-simple",
        auto_offset_reset="earliest",
        auto_commit_interval_ms=1000,
    )
    await consumer.start()
    values = []
    try:
        async for message in consumer:
            assert isinstance(message, ConsumerRecord)
            values.append(message.value)
            if len(values) == 2:
                break
    finally:
        await consumer.stop()
    assert sorted(values) == [b"Second message", b"Super message"]


async def batch_produce() -> None:
    producer = ProducerOfThePackage(bootstrap_servers=BOOTSTRAP, max_batch_size=1000)
    await producer.start()
    try:
        batch = producer.create_batch()
        number = batches = 0
        partitions = tuple(await producer.partitions_for("ex-batch"))
        while number < 100:
            value = b"Test message %d" % number
            metadata = batch.append(key=None, value=value, timestamp=None)
            if metadata is None:
                await producer.send_batch(batch, "ex-batch", partition=random.choice(partitions))
                batch = producer.create_batch()
                batches += 1
                continue
            number += 1
        batch.close()
        assert batch.record_count() > 0
        future = await producer.send_batch(batch, "ex-batch", partition=random.choice(partitions))
        record = await future
        assert record.partition in partitions
        assert batches > 1
    finally:
        await producer.stop()


async def idempotent_produce() -> None:
    producer = AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, enable_idempotence=True)
    await producer.start()
    try:
        await producer.send_and_wait("ex-idempotent", b"Super idempotent message")
    finally:
        await producer.stop()


async def transactional_produce() -> None:
    producer = AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, transactional_id="ex-transactional")
    await producer.start()
    try:
        async with producer.transaction():
            kept = await producer.send_and_wait("ex-transactional", b"kept")
        try:
            async with producer.transaction():
                await producer.send_and_wait("ex-transactional", b"taken back")
                raise ValueError  # noqa: TRY301 - as an application would
        except ValueError:
            pass
    finally:
        await producer.stop()
    consumer = AIOKafkaConsumer(
        "ex-transactional",
        bootstrap_servers=BOOTSTRAP,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    )
    await consumer.start()
    try:
        message = await consumer.getone()
        assert (message.value, message.offset) == (b"kept", kept.offset)
        assert await consumer.getmany(timeout_ms=300) == {}
    finally:
        await consumer.stop()


class LocalState:
    """Counts of keys, kept in a file for each partition with the offset behind them."""

    def __init__(self) -> None:
        self.counts: dict[TopicPartition, Counter[str]] = {}
        self.offsets: dict[TopicPartition, int] = {}

    def dump(self) -> None:
        for tp, counts in self.counts.items():
            text = json.dumps({"last_offset": self.offsets[tp], "counts": counts})
            self.path(tp).write_text(text)

    def load(self, partitions: set[TopicPartition]) -> None:
        self.counts.clear()
        for tp in partitions:
            state: dict[str, Any] = {"last_offset": -1, "counts": {}}
            if self.path(tp).exists():
                state = json.loads(self.path(tp).read_text())
            self.counts[tp] = Counter(state["counts"])
            self.offsets[tp] = state["last_offset"]

    def path(self, tp: TopicPartition) -> pathlib.Path:
        return pathlib.Path(FOLDER, f"{tp.topic}-{tp.partition}.json")


class SeekToState(ConsumerRebalanceListener):  # type: ignore[misc] # aiokafka's has no types
    def __init__(self, consumer: AIOKafkaConsumer[str, bytes], state: LocalState) -> None:
        self.consumer = consumer
        self.state = state

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self.state.dump()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self.state.load(assigned)
        for tp in assigned:
            last_offset = self.state.offsets[tp]
            if last_offset < 0:
                await self.consumer.seek_to_beginning(tp)
            else:
                self.consumer.seek(tp, last_offset + 1)


async def local_state_consumer() -> None:
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP) as producer:
        for number in range(10):
            await producer.send("ex-state", b"v", key=b"even" if number % 2 == 0 else b"odd")
    first = await count_keys(until=10)
    assert first == {"even": 5, "odd": 5}
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP) as producer:
        await producer.send("ex-state", b"v", key=b"odd")
    assert await count_keys(until=11) == {"even": 5, "odd": 6}


async def count_keys(until: int) -> dict[str, int]:
    consumer: AIOKafkaConsumer[str, bytes] = AIOKafkaConsumer(
        bootstrap_servers=BOOTSTRAP,
        group_id="ex-state",
        enable_auto_commit=False,
        auto_offset_reset="none",
        key_deserializer=lambda key: key.decode() if key else "",
    )
    await consumer.start()
    state = LocalState()
    consumer.subscribe(topics=["ex-state"], listener=SeekToState(consumer, state))
    try:
        while sum(sum(counts.values()) for counts in state.counts.values()) < until:
            try:
                found = await consumer.getmany(timeout_ms=1000)
            except OffsetOutOfRangeError as error:
                await consumer.seek_to_beginning(*error.args[0])
                continue
            for tp, messages in found.items():
                state.counts[tp].update(message.key or "" for message in messages)
                state.offsets[tp] = messages[-1].offset
        state.dump()
        return dict(sum(state.counts.values(), Counter()))
    finally:
        await consumer.stop()


async def ssl_consume_produce() -> None:
    context = create_ssl_context(cafile=CA_FILE)
    producer = AIOKafkaProducer(
        bootstrap_servers=TLS_BOOTSTRAP, security_protocol="SSL", ssl_context=context
    )
    try:
        await producer.start()
        sent = await producer.send_and_wait("ex-ssl", b"Super message", partition=0)
    finally:
        await producer.stop()
    consumer = AIOKafkaConsumer(
        "ex-ssl", bootstrap_servers=TLS_BOOTSTRAP, security_protocol="SSL", ssl_context=context
    )
    try:
        await consumer.start()
        consumer.seek(TopicPartition("ex-ssl", 0), sent.offset)
        fetched = await consumer.getone()
    finally:
        await consumer.stop()
    assert (fetched.offset, fetched.value) == (sent.offset, b"Super message")


PROGRAMS = (
    simple_produce,
    simple_consume,
    batch_produce,
    idempotent_produce,
    transactional_produce,
    local_state_consumer,
    ssl_consume_produce,
)


async def main() -> int:
    failures = 0
    for program in PROGRAMS:
        try:
            async with asyncio.timeout(30):
                await program()
        except Exception:  # noqa: BLE001 - the others run all the same
            failures += 1
            print(program.__name__, "failed", traceback.format_exc())
        else:
            print(program.__name__, "ran")
    return failures


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
