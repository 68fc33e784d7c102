"""Walks an interruption over the places of a call where one may come, and says what went wrong.

    python -m tests.scenarios.reentering collector 40 1

Each call of a client is interrupted by each other one, at every first of the first forty places. A
line is printed for each finding. With AIOKAFKA_LITE_PURE=1 it tries the twins in Python.
"""

import asyncio
import sys
from collections.abc import Coroutine, Iterable
from itertools import count, product
from typing import Any

from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.reentry import WAYS, Way

TOPIC = "t"


class ProducerCalls:
    """A producer's calls, by their names. Each sends values of its own."""

    names = ("send", "send_nowait", "send_and_wait", "send_many", "flush")

    def __init__(self, producer: AIOKafkaProducer[Any, Any], partition: int | None) -> None:
        self._producer = producer
        self._place: dict[str, Any] = {"partition": partition}
        self._numbers = count()
        self.acks: dict[bytes, RecordAck] = {}
        self.begun: list[tuple[bytes | None, Coroutine[Any, Any, Any]]] = []

    def _value(self) -> bytes:
        number = next(self._numbers)
        return b"%d" % number + b"." * (900 if number % 3 else 1)

    def call(self, name: str) -> None:
        """Begin a call; `end` waits for it."""
        value = self._value()
        if name == "send_nowait":
            self.acks[value] = self._producer.send_nowait(TOPIC, value, **self._place)
        elif name == "send_many":
            self.begun.append(
                (None, self._producer.send_many(TOPIC, [value, value + b"2"], **self._place))
            )
        elif name == "flush":
            self.begun.append((None, self._producer.flush()))
        else:
            call = getattr(self._producer, name)
            self.begun.append((value, call(TOPIC, value, **self._place)))

    async def run(self, name: str) -> None:
        """Make a call."""
        self.call(name)
        await self._end_newest()

    async def _end_newest(self) -> None:
        if self.begun:
            value, call = self.begun.pop()
            result = await call
            if value is not None:
                self.acks[value] = result

    async def end(self) -> None:
        """Wait for all calls."""
        while self.begun:
            await self._end_newest()
        await self._producer.flush()


def lost_or_doubled(broker: EmbeddedBroker, acks: dict[bytes, Any]) -> list[str]:
    """Say which record is not where its ack tells, and which is there twice."""
    log = {(record.partition, record.offset): record.value for record in broker.records(TOPIC)}
    found = []
    for value, ack in acks.items():
        told = ack.result() if isinstance(ack, RecordAck) else ack
        if log[told.partition, told.offset] != value:
            found.append(f"a record is not at {told.partition}/{told.offset}, as its ack tells")
    if len(set(log.values())) != len(log):
        found.append("a record is there twice")
    return found


async def walk_producer(
    way: Way, outer: str, inner: str, places: Iterable[int], **options: Any
) -> list[str]:
    """Interrupt `outer` by `inner`, once at each of `places`; return the findings."""
    partition = options.pop("partition")
    found = []
    async with EmbeddedBroker() as broker:
        broker.create_topic(TOPIC, 2)
        options = {"bootstrap_servers": broker.bootstrap_servers, "max_batch_size": 1000, **options}
        async with AIOKafkaProducer(**options) as producer:
            await producer.send_and_wait(TOPIC, b"first", partition=0)
            calls = ProducerCalls(producer, partition)
            for place in places:
                with way(lambda: calls.call(inner), after=place) as interruption:
                    await calls.run(outer)
                await calls.end()
                if interruption.error is not None:
                    found.append(f"at {place}: {interruption.error!r}")
                found += [f"at {place}: {what}" for what in lost_or_doubled(broker, calls.acks)]
                calls.acks.clear()
                if not interruption.came:
                    break
    return found


def pairs_of_producer() -> list[tuple[str, str, dict[str, Any]]]:
    """Each call of a producer, what comes in the middle of it, and options."""
    options = [
        {"linger_ms": linger_ms, "partition": partition}
        for linger_ms, partition in ((0, 0), (20, None), (20, 0))
    ]
    return list(product(ProducerCalls.names, ProducerCalls.names, options))


async def walk_all(way: Way, places: Iterable[int]) -> list[str]:
    """Interrupt each call by each other; return the findings."""
    found = []
    for outer, inner, options in pairs_of_producer():
        for what in await walk_producer(way, outer, inner, places, **options):
            found.append(f"{inner}() in {outer}(), {options}, {what}")
    return found


if __name__ == "__main__":
    _way, _end, _step = sys.argv[1:]
    _found = asyncio.run(walk_all(WAYS[_way], range(1, int(_end), int(_step))))
    print(*_found, sep="\n")
    sys.exit(bool(_found))


__all__ = ["ProducerCalls", "lost_or_doubled", "pairs_of_producer", "walk_all", "walk_producer"]
