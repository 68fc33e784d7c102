"""Code of the user that the client calls, and that calls the client: serializers, partitioners,
interceptors, observers, log handlers, deserializers and listeners.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from aiokafka_lite.abc import ConsumerRebalanceListener
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import ConsumerStoppedError, KafkaError
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.producer import AIOKafkaProducer
from tests.scenarios.consuming import embedded, fill
from tests.scenarios.reentering import lost_or_doubled

TOPIC = "t"
P0, P1 = TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)
Act = Callable[[], None]


class CallsBack(Observer):
    """Acts at every event, by any of the ways in which a client calls its user."""

    def __init__(self) -> None:
        self.act: Act | None = None
        self.times = 0

    def come(self, *_: object, **__: object) -> None:
        """Act, unless this is called because of that."""
        act, self.act = self.act, None
        if act is not None:
            try:
                act()
                self.times += 1
            finally:
                self.act = act

    def serialize(self, value: bytes | None) -> bytes | None:
        self.come()
        return value

    def choose(self, key: bytes | None, every: Sequence[int], available: Sequence[int]) -> int:
        self.come()
        return every[0]

    def on_send(self, record: Any) -> Any:
        self.come()
        return record

    def on_acknowledgement(self, *_: object) -> None:
        self.come()

    batch_sent = batch_acknowledged = request_answered = come
    records_returned = records_fetched = come


class SendsLogs(logging.Handler):
    """A log handler that ships to Kafka."""

    def __init__(self, calls: CallsBack) -> None:
        super().__init__(logging.DEBUG)
        self.calls = calls

    def emit(self, record: logging.LogRecord) -> None:
        self.calls.come()


def options_of(calls: CallsBack, way: str) -> dict[str, Any]:
    ways: dict[str, dict[str, Any]] = {
        "value_serializer": {"value_serializer": calls.serialize},
        "key_serializer": {"key_serializer": calls.serialize},
        "partitioner": {"partitioner": calls.choose},
        "interceptor": {"interceptors": [calls]},
        "observer": {"observer": calls},
        "log": {},
    }
    return ways[way]


@pytest.fixture
def debug_log(caplog: pytest.LogCaptureFixture) -> logging.Logger:
    caplog.set_level(logging.DEBUG, "aiokafka_lite")
    return logging.getLogger("aiokafka_lite")


@pytest.mark.parametrize("linger_ms", [0, 2])
@pytest.mark.parametrize(
    "way", ["value_serializer", "key_serializer", "partitioner", "interceptor", "observer", "log"]
)
async def test_what_sends_inside_of_a_send_loses_nothing(
    way: str, linger_ms: int, debug_log: logging.Logger
) -> None:
    """Each record is acknowledged, and is there once, where its ack tells (C1)."""
    calls, numbers = CallsBack(), itertools.count()
    acks: dict[bytes, Any] = {}
    handler = SendsLogs(calls)
    async with embedded({TOPIC: 1}) as broker:
        async with AIOKafkaProducer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers,
            linger_ms=linger_ms,
            max_batch_size=600,
            **options_of(calls, way),
        ) as producer:
            await producer.partitions_for(TOPIC)

            def send_another() -> None:
                if len(acks) < 200:
                    value = b"%d by %s" % (next(numbers), way.encode())
                    acks[value] = producer.send_nowait(TOPIC, value, b"key")

            calls.act = send_another
            if way == "log":
                debug_log.addHandler(handler)
            try:
                for _ in range(60):
                    value = b"%d by caller" % next(numbers)
                    acks[value] = await producer.send(TOPIC, value, b"key")
                    value = b"%d by caller" % next(numbers)
                    acks[value] = await producer.send_and_wait(TOPIC, value, b"key")
                await producer.flush()
            finally:
                debug_log.removeHandler(handler)
                calls.act = None
            await producer.flush()
        assert calls.times > 30
        assert lost_or_doubled(broker, acks) == []
        assert len(list(broker.records(TOPIC))) == len(acks)


@pytest.mark.parametrize("call", ["flush", "stop"])
async def test_an_interceptor_may_flush_and_stop(call: str) -> None:
    """A flush returns, and a stop ends the producer: nothing waits for itself (C8)."""
    calls = CallsBack()
    begun: list[asyncio.Future[None]] = []
    async with embedded({TOPIC: 1}) as broker:
        async with AIOKafkaProducer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers, interceptors=[calls]
        ) as producer:
            await producer.partitions_for(TOPIC)
            calls.act = lambda: begun.append(asyncio.ensure_future(getattr(producer, call)()))
            acks: dict[bytes, Any] = {}
            for number in range(10):
                value = b"%d" % number
                try:
                    acks[value] = await producer.send_and_wait(TOPIC, value)
                except KafkaError:
                    assert call == "stop"
            calls.act = None
            async with asyncio.timeout(10):
                await asyncio.gather(*begun)
        assert begun
        assert lost_or_doubled(broker, acks) == []


@pytest.mark.parametrize("action", ["seek", "seek other", "pause other", "assign one"])
@pytest.mark.parametrize("way", ["deserializer", "observer", "log"])
async def test_what_moves_a_consumer_inside_of_a_poll_wins(
    action: str, way: str, debug_log: logging.Logger
) -> None:
    """A seek is not forgotten, and what is dropped meanwhile disturbs no poll (A6)."""
    calls = CallsBack()
    handler = SendsLogs(calls)
    options: dict[str, Any] = {}
    if way == "deserializer":
        options["value_deserializer"] = calls.serialize
    elif way == "observer":
        options["observer"] = calls
    async with embedded({TOPIC: 2}) as broker:
        for tp in (P0, P1):
            fill(broker, tp, *[5] * 20)
        async with AIOKafkaConsumer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers,
            auto_offset_reset="earliest",
            **options,
        ) as consumer:
            consumer.assign([P0, P1])
            await consumer.getone()
            moves: dict[str, Act] = {
                "seek": lambda: consumer.seek(P0, 50),
                "seek other": lambda: consumer.seek(P1, 50),
                "pause other": lambda: consumer.pause(P1),
                "assign one": lambda: consumer.assign([P0]),
            }
            is_done = False

            def once() -> None:
                nonlocal is_done
                if not is_done:
                    is_done = True
                    moves[action]()

            for tp in (P0, P1):
                consumer.seek(tp, 0)
            calls.act = once
            if way == "log":
                debug_log.addHandler(handler)
            try:
                while not is_done:
                    await consumer.getmany(timeout_ms=50, max_records=3)
            finally:
                debug_log.removeHandler(handler)
                calls.act = None
            found = await read_to_end(consumer, {P1} if action == "seek other" else {P0})
            for offsets in found.values():
                assert offsets == list(range(100 - len(offsets), 100))
            if action.startswith("seek"):
                assert len(found[P0 if action == "seek" else P1]) == 50
            else:
                assert P1 not in found


async def read_to_end(
    consumer: AIOKafkaConsumer[Any, Any], awaited: set[TopicPartition]
) -> dict[TopicPartition, list[int]]:
    """Poll until those partitions are read to their end; return the offsets of all."""
    found: dict[TopicPartition, list[int]] = {}
    async with asyncio.timeout(10):
        while any(found.get(tp, [0])[-1] < 99 for tp in awaited):
            for tp, records in (await consumer.getmany(timeout_ms=50)).items():
                found.setdefault(tp, []).extend(record.offset for record in records)
    return found


class Listens(ConsumerRebalanceListener):
    """Calls the consumer when partitions come."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act

    async def on_partitions_assigned(self, assigned: Any) -> None:
        result = self.act()
        if result is not None:
            await result

    async def on_partitions_revoked(self, revoked: Any) -> None:
        """They go when the consumer stops."""


@pytest.mark.parametrize("action", ["seek", "pause", "commit", "stop soon"])
async def test_a_listener_may_move_pause_commit_and_stop(action: str) -> None:
    """What a listener calls has its effect, and nothing waits for itself (B1)."""
    begun: list[asyncio.Future[None]] = []
    async with embedded({TOPIC: 1}) as broker:
        fill(broker, P0, 10)
        consumer = AIOKafkaConsumer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        actions: dict[str, Callable[[], Any]] = {
            "seek": lambda: consumer.seek(P0, 5),
            "pause": lambda: consumer.pause(P0),
            "commit": lambda: consumer.commit({P0: 3}),
            "stop soon": lambda: begun.append(asyncio.ensure_future(consumer.stop())),
        }
        consumer.subscribe([TOPIC], listener=Listens(actions[action]))
        async with consumer, asyncio.timeout(10):
            if action == "stop soon":
                with pytest.raises(ConsumerStoppedError):
                    await read_to_end(consumer, {P1})
                await asyncio.gather(*begun)
                return
            if action == "pause":
                while consumer.paused() != {P0}:
                    assert await consumer.getmany(timeout_ms=20) == {}
                consumer.resume(P0)
            first = {"seek": 5, "pause": 0, "commit": 3}[action]
            assert (await consumer.getone()).offset == first
            if action == "commit":
                assert await consumer.committed(P0) == 3
