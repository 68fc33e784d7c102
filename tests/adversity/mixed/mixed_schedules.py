"""Producers that are used in every way at once, while topics come, go and grow, and brokers say of
them what is not so. What else may happen is in `producer_schedules`.
"""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    InvalidProducerEpoch,
    KafkaError,
)
from aiokafka_lite.producer.append.producer_interceptors import ProducerRecord
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from tests.adversity.producer.producer_schedules import (
    NODES,
    TOPIC,
    MoveLeader,
    Play,
    Step,
    producer_options,
)
from tests.adversity.producer.send_calls import Call, Caller, CancelCalls, Form, Way
from tests.adversity.producer.send_model import Written
from tests.adversity.schedule_strategies import random_seeds
from tests.adversity.topic_changes import (
    PARTITIONS,
    CreateTopic,
    DeleteTopic,
    GrowTopic,
    Refresh,
    Topics,
    Wrong,
)
from tests.adversity.transaction.transaction_schedules import DropOf, FailOf

BAD_NAMES = ["\udc80", "x" * 40_000, "no/topic"]


class RefuseId(NamedTuple):
    """The producer has to ask for another id, and is refused it once."""

    partition: int


class BadName(NamedTuple):
    """A call names a topic that no request can carry."""

    name: str


class Burst(NamedTuple):
    """Calls for one partition, one after the other before any of them runs."""

    calls: tuple[Call, ...]


MixedStep = (
    Step
    | Burst
    | Call
    | CancelCalls
    | CreateTopic
    | DeleteTopic
    | GrowTopic
    | Refresh
    | RefuseId
    | DropOf
    | FailOf
    | BadName
)


class MixedOptions(NamedTuple):
    """How the producer is set up."""

    linger_ms: int = 0
    batch_bytes: int = 300
    buffer_memory: int = 33_554_432
    interceptor: str = ""
    """"sync", or "async" that waits for a turn of the loop."""
    serializes: bool = False
    seed: int = 0
    """Of the random choices that the producer and the brokers make."""

    def for_producer(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "max_batch_size": self.batch_bytes,
            "linger_ms": self.linger_ms,
            "buffer_memory": self.buffer_memory,
        }
        if self.serializes:
            options["value_serializer"] = bytes
        if self.interceptor:
            options["interceptors"] = [_Sync() if self.interceptor == "sync" else _Async()]
        return options

    @property
    def keeps_order(self) -> bool:
        """Whether calls that overlap keep their order; an `on_send` may wait as long as it likes,
        and a batch made by hand goes past it.
        """
        return self.interceptor != "async"


class _Sync:
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        return record


class _Async:
    async def on_send(self, record: ProducerRecord) -> ProducerRecord:
        await asyncio.sleep(0)
        return record


@dataclass(slots=True)
class MixedStory:
    """Everything that came of a schedule."""

    caller: Caller
    topics: Topics
    logs: list[Written]

    def __str__(self) -> str:
        return "\n".join([str(self.caller), *map(str, self.logs)])


class MixedPlay(Play):
    """One run of a schedule."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        producer: AIOKafkaProducer,
        clock: FakeClock,
        network: VirtualNetwork,
    ) -> None:
        super().__init__(broker, producer, clock, network, PARTITIONS[TOPIC])
        self.topics = Topics(broker)
        self.caller = Caller(clock)
        self.caller.producer = producer
        self._refreshing: list[asyncio.Task[None]] = []

    async def mixed_step(self, step: MixedStep) -> None:
        """Let one step happen."""
        match step:
            case Call():
                await self.caller.make(step)
            case Burst():
                await make_all(self.caller, step)
            case CancelCalls():
                await self.caller.cancel()
            case CreateTopic() | DeleteTopic() | GrowTopic():
                self.topics.step(step)
            case Refresh():
                self.topics.mislead(step)
                self._refreshing.append(asyncio.create_task(self._refresh()))
                await self.clock.sleep(0.1)
            case RefuseId(partition):
                where = (TOPIC, partition)
                self.broker.faults.fail(ProduceRequest, InvalidProducerEpoch, topic_partition=where)
                self.broker.faults.fail(InitProducerIdRequest, ClusterAuthorizationFailedError)
            case DropOf(api):
                self.broker.faults.drop(api)
            case FailOf(api, error, times):
                self.broker.faults.fail(api, error, times)
            case BadName(name):
                await self._send_to(name)
            case MoveLeader() if not self.topics.count(TOPIC):
                pass
            case _:
                await self.step(step)

    async def _refresh(self) -> None:
        with suppress(KafkaError):
            await self.producer.kafka_client.metadata.refresh()

    async def _send_to(self, name: str) -> None:
        try:
            await self.producer.send(name, b"x")
        except KafkaError:
            return
        raise AssertionError(f"{name!r} is a topic")

    async def heal(self) -> None:
        await super().heal()
        self.topics.heal()

    async def to_the_end(self) -> None:
        """Wait until every call has its answer; then each partition gets one more record."""
        await self.caller.settle()
        await asyncio.gather(*self._refreshing)
        last = [
            made
            for topic in PARTITIONS
            for partition in range(self.topics.count(topic))
            for made in await self.caller.make(Call(Way.SEND, topic, partition, None, 1, 0))
        ]
        await self.caller.settle()
        for made in last:
            failed = [fate for fate in made.fates.values() if isinstance(fate, Exception)]
            is_written = made.error is None and not failed
            assert is_written, f"the producer does not recover: {made}"


async def make_all(caller: Caller, burst: Burst) -> None:
    """Make the calls of a burst."""
    for call in burst.calls:
        await caller.make(call)


async def play_mixed(
    clock: FakeClock,
    network: VirtualNetwork,
    *,
    schedule: Sequence[MixedStep],
    options: MixedOptions,
) -> MixedStory:
    """Let a schedule happen to an idempotent producer, and to its end."""
    async with EmbeddedBroker(
        NODES,
        clock=clock,
        max_logged_requests=0,
        auto_create_topics=False,
        rng=random.Random(options.seed),
    ) as broker:
        settings = producer_options(broker, clock, options.seed) | options.for_producer()
        async with AIOKafkaProducer(**settings) as producer:
            play = MixedPlay(broker, producer, clock, network)
            with play.topics.misleading():
                for step in schedule:
                    await play.mixed_step(step)
                await play.heal()
                await play.to_the_end()
            assert producer._engine.pool.used_bytes == 0
            assert not producer._engine.sender._accumulator.incomplete
        return MixedStory(play.caller, play.topics, play.topics.logs())


# What schedules are made of…

_topics = st.sampled_from(["orders", "orders", "orders", "audit"])
_partitions = st.sampled_from([None, 0, 1, 2, 2, 3])
_keys = st.sampled_from([None, None, b"k1", b"k2", b"key-3"])
_sizes = st.sampled_from([0, 0, 60, 150, 450])
_ways = st.sampled_from([Way.SEND, Way.SEND, *Way])
_forms = st.sampled_from([Form.PLAIN, Form.PLAIN, *Form])
calls = st.builds(
    Call,
    _ways,
    _topics,
    _partitions,
    _keys,
    st.integers(1, 5),
    _sizes,
    _forms,
    st.booleans(),
)


def _burst(
    topic: str, partition: int | None, key: bytes | None, kinds: list[tuple[Way, int, Form]]
) -> Burst:
    return Burst(
        tuple(Call(way, topic, partition, key, 1, size, form, False) for way, size, form in kinds)
    )


bursts = st.builds(
    _burst,
    _topics,
    _partitions,
    _keys,
    st.lists(
        st.tuples(st.sampled_from([Way.SEND] * 8 + list(Way)), _sizes, _forms),
        min_size=2,
        max_size=10,
    ),
)
topic_changes: st.SearchStrategy[MixedStep] = st.one_of(
    st.builds(GrowTopic, st.sampled_from(list(PARTITIONS))),
    st.builds(CreateTopic, st.just("audit")),
)
refreshes = st.builds(Refresh, _topics, st.integers(0, 2), st.sampled_from([None, *Wrong]))
mixed_options = st.builds(
    MixedOptions,
    linger_ms=st.sampled_from([0, 10]),
    batch_bytes=st.sampled_from([300, 100]),
    buffer_memory=st.sampled_from([33_554_432, 600]),
    interceptor=st.sampled_from(["", "", "", "sync", "async"]),
    serializes=st.sampled_from([False, False, False, True]),
    seed=random_seeds,
)

__all__ = [
    "BAD_NAMES",
    "BadName",
    "Burst",
    "MixedOptions",
    "MixedStep",
    "MixedStory",
    "RefuseId",
    "bursts",
    "calls",
    "make_all",
    "mixed_options",
    "play_mixed",
    "refreshes",
    "topic_changes",
]
