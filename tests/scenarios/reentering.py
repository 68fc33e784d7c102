"""Walks an interruption over the places of a call where one may come, and says what went wrong.

    python -m tests.scenarios.reentering producer collector 40 1

Each call of a client is interrupted by each other one, at every first of the first forty places. A
line is printed for each finding. With AIOKAFKA_LITE_PURE=1 it tries the twins in Python.
"""

import asyncio
import itertools
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Iterator
from functools import partial
from typing import Any

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaShareConsumer,
    KeyedWorkers,
    ShareWorkers,
)
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import IllegalStateError, ProducerClosed
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.reentry import ALL_WAYS, Interruption, Way

TOPIC = "t"
TP = TopicPartition(TOPIC, 0)
ENOUGH = 4
"""After so many places that a call did not reach, one behind the other, it has no more of them."""


class Places:
    """The places to try, until a call does not reach `ENOUGH` of them, one behind the other."""

    def __init__(self, places: Iterable[int]) -> None:
        self._places = places
        self._misses = 0

    def __iter__(self) -> Iterator[int]:
        for place in self._places:
            yield place
            if self._misses == ENOUGH:
                return

    def note(self, interruption: Interruption) -> None:
        """Note whether the place was reached."""
        self._misses = 0 if interruption.came else self._misses + 1


class Calls(ABC):
    """A client's calls, by their names."""

    at_once: Collection[str] = ()
    """Those that do not wait."""

    def __init__(self) -> None:
        self._begun: list[asyncio.Future[None]] = []

    @abstractmethod
    async def run(self, name: str) -> None:
        """Make a call."""

    def call(self, name: str) -> None:
        """Begin a call; `end` waits for it."""
        call = self.run(name)
        if name in self.at_once:
            try:
                call.send(None)
            except StopIteration:
                return
        self._begun.append(asyncio.ensure_future(call))

    async def end(self) -> None:
        """Wait for all calls."""
        for call in self._begun:
            await call
        self._begun.clear()


def said(
    interruption: Interruption,
    place: int,
    found: Iterable[str],
    *,
    but: tuple[type[Exception], ...] = (),
) -> list[str]:
    """Return what was found at one place, with the error of what came there. `but`: errors that are
    right there, as of a call that comes too late.
    """
    error = interruption.error
    errors = [] if error is None or isinstance(error, but) else [repr(error)]
    return [f"at {place}: {what}" for what in (*errors, *found)]


# Producers…


class ProducerCalls:
    """A producer's calls, by their names. Each sends values of its own."""

    names = ("send", "send_nowait", "send_and_wait", "send_many", "flush")

    def __init__(
        self,
        producer: AIOKafkaProducer[Any, Any],
        partition: int | None,
        but: tuple[type[Exception], ...] = (),
    ) -> None:
        """`but`: as of `said`."""
        self._producer = producer
        self._but = but
        self._place: dict[str, Any] = {"partition": partition}
        self._numbers = itertools.count()
        self.acks: dict[bytes, Any] = {}
        self._begun: list[tuple[bytes | None, Coroutine[Any, Any, Any]]] = []

    def _value(self) -> bytes:
        number = next(self._numbers)
        return b"%d" % number + b"." * (900 if number % 3 else 1)

    def call(self, name: str) -> None:
        """Begin a call; `end` waits for it."""
        value = self._value()
        producer = self._producer
        if name == "send_nowait":
            self.acks[value] = producer.send_nowait(TOPIC, value, **self._place)
        elif name == "send_many":
            values = [value, value + b"2"]
            self._begun.append((None, producer.send_many(TOPIC, values, **self._place)))
        elif name in {"send", "send_and_wait"}:
            self._begun.append((value, getattr(producer, name)(TOPIC, value, **self._place)))
        else:  # flush, commit_transaction, stop
            self._begun.append((None, getattr(producer, name)()))

    async def run(self, name: str) -> None:
        """Make a call."""
        self.call(name)
        await self._end_newest()

    async def _end_newest(self) -> None:
        if self._begun:
            value, call = self._begun.pop()
            try:
                result = await call
            except self._but:
                return
            if value is not None:
                self.acks[value] = result

    async def end(self) -> None:
        """Wait for all calls."""
        while self._begun:
            await self._end_newest()


def lost_or_doubled(broker: EmbeddedBroker, acks: dict[bytes, Any]) -> list[str]:
    """Say which record is not where its ack tells, and which is there twice."""
    log = {(record.partition, record.offset): record.value for record in broker.records(TOPIC)}
    found = []
    for value, ack in acks.items():
        if isinstance(ack, RecordAck):
            if not ack.done():
                found.append("an ack has no outcome")
                continue
            if ack.exception() is not None:
                continue
        told = ack.result() if isinstance(ack, RecordAck) else ack
        if log.get((told.partition, told.offset)) != value:
            found.append(f"a record is not at {told.partition}/{told.offset}, as its ack tells")
    if len(set(log.values())) != len(log):
        found.append("a record is there twice")
    return found


async def walk_producer(
    way: Way,
    outer: str,
    inner: str,
    places: Iterable[int],
    *,
    partition: int | None,
    **options: Any,
) -> list[str]:
    """Interrupt `outer` by `inner`, once at each of `places`; return the findings."""
    found, tried = [], Places(places)
    async with EmbeddedBroker() as broker:
        broker.create_topic(TOPIC, 2)
        options = {"bootstrap_servers": broker.bootstrap_servers, "max_batch_size": 1000, **options}
        producer = AIOKafkaProducer[Any, Any](**options)
        await producer.start()
        await producer.send_and_wait(TOPIC, b"first", partition=0)
        but = (ProducerClosed,) if "stop" in (outer, inner) else ()
        calls = ProducerCalls(producer, partition, but)
        for place in tried:
            with way(lambda: calls.call(inner), after=place) as interruption:
                await calls.run(outer)
            await calls.end()
            is_stopped = outer == "stop" or (inner == "stop" and interruption.came)
            if not is_stopped:
                await producer.flush()
            found += said(interruption, place, lost_or_doubled(broker, calls.acks), but=but)
            calls.acks.clear()
            tried.note(interruption)
            if is_stopped:
                producer = AIOKafkaProducer(**options)
                await producer.start()
                await producer.send_and_wait(TOPIC, b"first %d" % place, partition=0)
                calls._producer = producer
        await producer.stop()
    return found


async def walk_transactions(
    way: Way, outer: str, inner: str, places: Iterable[int], **options: Any
) -> list[str]:
    """The same, in transactions, one after the other."""
    found, tried = [], Places(places)
    async with EmbeddedBroker() as broker:
        broker.create_topic(TOPIC, 2)
        options = {"bootstrap_servers": broker.bootstrap_servers, "max_batch_size": 1000, **options}
        async with AIOKafkaProducer[Any, Any](transactional_id="x", **options) as producer:
            await producer.partitions_for(TOPIC)
            but = (IllegalStateError,)  # of a send after the commit has begun
            calls = ProducerCalls(producer, 0, but)
            for place in tried:
                await producer.begin_transaction()
                calls.call("send_nowait")
                with way(lambda: calls.call(inner), after=place) as interruption:
                    await calls.run(outer)
                await calls.end()
                if outer != "commit_transaction" and not interruption.came:
                    await producer.commit_transaction()
                await producer.flush()
                found += said(interruption, place, lost_or_doubled(broker, calls.acks), but=but)
                calls.acks.clear()
                tried.note(interruption)
    return found


# Consumers…


class ConsumerCalls(Calls):
    """A consumer's calls, by their names, and what has come of them."""

    names = ("getone", "getmany", "seek", "pause", "commit")
    at_once = frozenset(("seek", "pause"))

    def __init__(self, consumer: AIOKafkaConsumer[Any, Any]) -> None:
        super().__init__()
        self._consumer = consumer
        self.starts: list[int] = []
        """Where reading was to begin, one after the other."""
        self.read: list[int] = []
        """The offsets of the records that were returned."""

    def seek(self, offset: int) -> None:
        """Go on at an offset."""
        self._consumer.seek(TP, offset)
        self.starts.append(offset)

    async def run(self, name: str) -> None:
        """Make a call."""
        consumer = self._consumer
        if name == "getone":
            self.read.append((await consumer.getone()).offset)
        elif name == "getmany":
            polled = await consumer.getmany(timeout_ms=50, max_records=5)
            self.read += [record.offset for record in polled.get(TP, ())]
        elif name == "seek":
            self.seek(self.starts[-1] + 100)
        elif name == "pause":
            consumer.pause(TP)
            asyncio.get_running_loop().call_soon(consumer.resume, TP)
        else:
            await consumer.commit()

    async def end(self) -> None:
        """Wait for all calls, and read one more record."""
        await super().end()
        await self.run("getone")

    def gaps(self) -> list[str]:
        """Say where a record was left out, or returned twice."""
        found = []
        for start in self.starts:
            read = [offset for offset in self.read if start <= offset < start + 100]
            if read != list(range(start, start + len(read))):
                found.append(f"{read} were read after a seek to {start}")
        newest = self.starts[-1]
        if not newest <= self.read[-1] < newest + 100:
            found.append(f"the seek to {newest} was forgotten; {self.read[-1]} came")
        return found


async def walk_consumer(
    way: Way, outer: str, inner: str, places: Iterable[int], **options: Any
) -> list[str]:
    """Interrupt `outer` by `inner`, once at each of `places`; return the findings."""
    found, tried = [], Places(places)
    async with EmbeddedBroker() as broker:
        broker.create_topic(TOPIC, 1)
        async with AIOKafkaProducer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers,
            max_batch_size=300,
            max_backlog_batch_size=300,
        ) as producer:
            await producer.send_many(TOPIC, [b"value"] * 400)
        options = {"group_id": "g", "auto_offset_reset": "earliest", **options}
        async with AIOKafkaConsumer[Any, Any](
            TOPIC,
            bootstrap_servers=broker.bootstrap_servers,
            enable_auto_commit=False,
            **options,
        ) as consumer:
            await consumer.getone()
            calls = ConsumerCalls(consumer)
            for place in tried:
                calls.starts.clear()
                calls.read.clear()
                calls.seek(0)
                for _ in range(place % 3):  # with and without records that were decoded ahead
                    await calls.run("getone")
                with way(lambda: calls.call(inner), after=place) as interruption:
                    await calls.run(outer)
                await calls.end()
                found += said(interruption, place, calls.gaps())
                tried.note(interruption)
    return found


# Share consumers…


async def written_for_shares(broker: EmbeddedBroker) -> None:
    """Let the share group "g" begin at the first record."""
    async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        settings = {"share.auto.offset.reset": "earliest"}
        resource = ConfigResource(ConfigResourceType.GROUP, "g", configs=settings)
        (await admin.incremental_alter_configs([resource])).raise_first()


class Numbers:
    """Writes values that follow each other, and says which of them did not come once."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self._broker = broker
        self.written = 0
        self.came: list[int] = []
        """The newest ones, since `missed_or_doubled` was called last."""
        self._first = 0

    def write(self, count: int) -> None:
        for number in range(self.written, self.written + count):
            key = b"%d" % (number % 3)
            self._broker.produce(TOPIC, b"%d" % number, key=key, partition=0)
        self.written += count

    @property
    def are_complete(self) -> bool:
        """Whether so many came as were written."""
        return len(self.came) >= self.written - self._first

    def missed_or_doubled(self) -> list[str]:
        """Say so of those since the call before."""
        came, self.came = self.came, []
        first, self._first = self._first, self.written
        wanted = range(first, self.written)
        return [] if sorted(came) == list(wanted) else [f"{came} came of {wanted}"]


class ShareCalls(Calls):
    """A share consumer's calls, by their names."""

    names = ("getmany", "getone", "commit", "acknowledge", "explain")
    at_once = frozenset(("acknowledge", "explain"))

    def __init__(self, consumer: AIOKafkaShareConsumer[Any, Any], numbers: Numbers) -> None:
        super().__init__()
        self._consumer = consumer
        self._numbers = numbers
        self._newest: Any = None

    async def run(self, name: str) -> None:
        """Make a call."""
        consumer = self._consumer
        try:
            if name == "getmany":
                found = await consumer.getmany(timeout_ms=1000, max_records=3)
                self._came(found.get(TP, ()))
            elif name == "getone":
                self._came([await consumer.getone()])
            elif name == "acknowledge":
                if self._newest is not None:
                    consumer.acknowledge(self._newest)
            elif name == "explain":
                consumer.explain()
            else:
                await consumer.commit()
        except IllegalStateError:
            return  # another call waits for records, or the record was accepted

    def _came(self, records: Iterable[Any]) -> None:
        for record in records:
            self._newest = record
            self._numbers.came.append(int(record.value))

    async def end(self) -> None:
        """Wait for all calls, and read the rest."""
        await super().end()
        while not self._numbers.are_complete:
            before = len(self._numbers.came)
            await self.run("getmany")
            if len(self._numbers.came) == before:
                return


async def walk_share(
    way: Way, outer: str, inner: str, places: Iterable[int], **options: Any
) -> list[str]:
    """Interrupt `outer` by `inner`, once at each of `places`; return the findings."""
    found, tried = [], Places(places)
    async with EmbeddedBroker() as broker:
        broker.create_topic(TOPIC, 1)
        await written_for_shares(broker)
        async with AIOKafkaShareConsumer[Any, Any](
            TOPIC, bootstrap_servers=broker.bootstrap_servers, group_id="g", **options
        ) as consumer:
            numbers = Numbers(broker)
            calls = ShareCalls(consumer, numbers)
            for place in tried:
                numbers.write(16)
                for _ in range(place % 3):
                    await calls.run("getmany")
                with way(lambda: calls.call(inner), after=place) as interruption:
                    await calls.run(outer)
                await calls.end()
                found += said(interruption, place, numbers.missed_or_doubled())
                tried.note(interruption)
    return found


# Workers…


class Handled:
    """What workers have handled, by key in the order of their handlers."""

    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers
        self._by_key: dict[bytes, list[int]] = {}

    async def handle(self, record: Any) -> None:
        number = int(record.value)
        self._numbers.came.append(number)
        self._by_key.setdefault(record.key, []).append(number)
        if not number % 2:
            await asyncio.sleep(0)

    def out_of_order(self) -> list[str]:
        """Say which key was handled in another order than that of its records."""
        by_key, self._by_key = self._by_key, {}
        return [f"{key!r} as {each}" for key, each in by_key.items() if each != sorted(each)]


def keyed_workers(broker: EmbeddedBroker, handled: Handled) -> Any:
    consumer = AIOKafkaConsumer[Any, Any](
        TOPIC,
        bootstrap_servers=broker.bootstrap_servers,
        group_id="g",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    return KeyedWorkers(consumer, handled.handle, concurrency=4)


def share_workers(broker: EmbeddedBroker, handled: Handled) -> Any:
    consumer = AIOKafkaShareConsumer[Any, Any](
        TOPIC,
        bootstrap_servers=broker.bootstrap_servers,
        group_id="g",
        share_acknowledgement_mode="explicit",
    )
    return ShareWorkers(consumer, handled.handle, concurrency=4)


def call_workers(name: str, workers: Any) -> None:
    """Make a call of workers, or of their consumer."""
    if name == "explain":
        workers.consumer.explain()
    elif name == "pause":
        workers.consumer.pause(TP)
        asyncio.get_running_loop().call_soon(workers.consumer.resume, TP)
    else:  # statistics, stop
        getattr(workers, name)()


async def walk_workers(
    way: Way, outer: str, inner: str, places: Iterable[int], *, is_shared: bool
) -> list[str]:
    """Interrupt the handling of records by `inner`, once at each of `places`, and go on with other
    workers after a stop; return the findings.
    """
    found, tried = [], Places(places)
    async with EmbeddedBroker() as broker:
        broker.create_topic(TOPIC, 1)
        await written_for_shares(broker)
        numbers = Numbers(broker)
        handled = Handled(numbers)
        places_left = iter(tried)
        place = next(places_left, None)
        while place is not None:
            made = share_workers if is_shared else keyed_workers
            async with made(broker, handled) as workers:
                running = asyncio.ensure_future(workers.run())
                while place is not None and not running.done():
                    numbers.write(6)
                    call = partial(call_workers, inner, workers)
                    with way(call, after=place) as interruption:
                        while not (numbers.are_complete or running.done()):
                            await asyncio.sleep(0.001)
                    if interruption.came and inner == "stop":
                        await running
                        break
                    found += said(interruption, place, numbers.missed_or_doubled())
                    found += said(interruption, place, handled.out_of_order())
                    tried.note(interruption)
                    place = next(places_left, None)
                else:
                    workers.stop()
                    await running
                    continue
            async with made(broker, handled) as workers:  # what the stop has left
                running = asyncio.ensure_future(workers.run())
                while not (numbers.are_complete or running.done()):
                    await asyncio.sleep(0.001)
                workers.stop()
                await running
            found += said(interruption, place, numbers.missed_or_doubled())
            found += said(interruption, place, handled.out_of_order())
            tried.note(interruption)
            place = next(places_left, None)
    return found


# All of them…

Walk = Callable[..., Awaitable[list[str]]]
SENDS = ProducerCalls.names
WALKS: dict[str, tuple[Walk, list[tuple[str, str]], list[dict[str, Any]]]] = {
    "producer": (
        walk_producer,
        list(itertools.product(SENDS, SENDS)),
        [{"linger_ms": 0, "partition": 0}, {"linger_ms": 3, "partition": None}],
    ),
    "stops": (
        walk_producer,
        [*itertools.product(SENDS, ["stop"]), *itertools.product(["stop"], SENDS)],
        [{"linger_ms": 3, "partition": 0}],
    ),
    "transactions": (
        walk_transactions,
        [
            *itertools.product(SENDS, ["commit_transaction"]),
            *itertools.product(["commit_transaction"], SENDS),
        ],
        [{"linger_ms": 3}],
    ),
    "consumer": (
        walk_consumer,
        list(itertools.product(ConsumerCalls.names, ConsumerCalls.names)),
        [{}],
    ),
    "share": (
        walk_share,
        list(itertools.product(("getmany", "getone", "commit"), ShareCalls.names)),
        [{}],
    ),
    "workers": (
        walk_workers,
        [("run", name) for name in ("statistics", "explain", "pause", "stop")],
        [{"is_shared": False}],
    ),
    "share workers": (
        walk_workers,
        [("run", name) for name in ("statistics", "explain", "stop")],
        [{"is_shared": True}],
    ),
}


async def walk(client: str, way: Way, places: Iterable[int]) -> list[str]:
    """Interrupt each call of a client by each other; return the findings."""
    walk_one, pairs, choices = WALKS[client]
    found = []
    for (outer, inner), options in itertools.product(pairs, choices):
        for what in await walk_one(way, outer, inner, places, **options):
            found.append(f"{inner}() in {outer}(), {options}, {what}")
    return found


if __name__ == "__main__":
    _client, _way, _end, _step = sys.argv[1:]
    _found = asyncio.run(walk(_client, ALL_WAYS[_way], range(1, int(_end), int(_step))))
    print(*_found, sep="\n")
    sys.exit(bool(_found))


__all__ = ["WALKS", "ConsumerCalls", "ProducerCalls", "walk"]
