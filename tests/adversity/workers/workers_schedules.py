"""The run of a schedule: a cluster, members with keyed workers, and what happens to them.

`play_workers` goes through the steps in virtual time, ends all trouble, and lets the members that
are there do the rest. What the model has to complain of by then is what the test judges.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, DeadLetters, KeyedWorkers
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    HandlerFailedError,
    IllegalStateError,
    KafkaError,
)
from aiokafka_lite.model import ConsumerRecord, OffsetAndMetadata, TopicPartition
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from tests.adversity.cluster_troubles import ClusterStep, ClusterTroubles
from tests.adversity.group.group_steps import NODES, FailApi, Latency, MoveCoordinator
from tests.adversity.workers.workers_model import Place, WorkersModel
from tests.consumer.batches import batch

TOPIC, PARTITIONS, GROUP, PLACES, KEYS = "t", 3, "g", 3, 3
FIRST_RECORDS = 8
FAILS_OF_TEN = 2
LONGEST_MS = 400
DRAIN_MS = 300
"""Some handlers are cancelled by a rebalance, others end before."""
STUCK_OF_100 = 1
DEAF_OF_100 = 8
DEAF_MS = 300
"""Some handlers take their cancellation for granted, and go on for a while."""
RETRIES = 1
DEAD_TOPIC = "dead"
HANDLER_TIMEOUT_MS = 4000
DONE_WITHIN_S = 120.0
LOOK_EVERY_S = 0.25
MAX_TURNS = 400_000


class ApplicationError(Exception):
    """What a handler may raise."""


class Join(NamedTuple):
    """A member takes a place that is free."""

    place: int


class Stop(NamedTuple):
    """A member ends in order."""

    place: int


class Cancel(NamedTuple):
    """The task of a member is cancelled."""

    place: int


class Kill(NamedTuple):
    """The process of a member ends."""

    place: int


class CutOff(NamedTuple):
    """A member reaches no broker, until `Reconnect`."""

    place: int


class Rebalance(NamedTuple):
    """A member asks for a rebalance."""

    place: int


class Write(NamedTuple):
    """Records are written."""

    partition: int
    records: int


class Wait(NamedTuple):
    """Time goes by."""

    ms: int


Living = Callable[[Coroutine[Any, Any, None]], Coroutine[Any, Any, None]]
Step = Join | Stop | Cancel | Kill | CutOff | Rebalance | Write | Wait | ClusterStep


@dataclass(frozen=True)
class ModelLetters(DeadLetters):
    """Tells the model of each record that was put aside."""

    member: "Member"

    async def _send(
        self, record: ConsumerRecord[Any, Any], error: BaseException, **origin: Any
    ) -> None:
        await super()._send(record, error, **origin)
        self.member.finishes((record.partition, record.offset))


class Member:
    """A member of the group, from its start to its end."""

    def __init__(self, name: str, play: "WorkersPlay", order: str, seed: int) -> None:
        self.name = name
        self.is_dead = False
        self.task: asyncio.Task[None] | None = None
        self._play = play
        self.consumer = play.consumer(name, seed)
        self.workers = KeyedWorkers(
            self.consumer,
            self.handle,
            concurrency=4,
            order=by_offset if order == "key" else order,  # type: ignore[arg-type]
            max_records=12,
            max_bytes=200,
            commit_interval_ms=500,
            drain_timeout_ms=DRAIN_MS,
            slow_handler_ms=1000,
            handler_timeout_ms=HANDLER_TIMEOUT_MS,
            retry_backoff_ms=50,
            retry_backoff_max_ms=200,
            retries=None if play.producer is None else RETRIES,
            dead_letters=(
                None if play.producer is None else ModelLetters(play.producer, DEAD_TOPIC, self)
            ),
            clock=play.clock,
            rng=random.Random(seed),
        )

    @property
    def is_over(self) -> bool:
        return self.is_dead or self.task is None or self.task.done()

    async def live(self) -> None:
        model = self._play.model
        try:
            async with self.workers:
                await self.workers.run()
        except HandlerFailedError as error:
            model.tell(f"{self.name} ends: {error}")
        except KafkaError as error:
            model.tell(f"{self.name} ends: {error!r}")
            model.commits_fail()  # its last commit may have failed, too
        except asyncio.CancelledError:
            model.tell(f"{self.name} is cancelled")
        else:
            model.tell(f"{self.name} has left")

    async def handle(self, record: ConsumerRecord[Any, Any]) -> None:
        place = (record.partition, record.offset)
        play = self._play
        if self.is_dead:
            await asyncio.Event().wait()  # what a dead process would do
        play.model.begins(self.name, place, play.stored())
        play.attempts[place] += 1
        chance = random.Random(f"{place} {play.attempts[place]}")
        try:
            await self._work(chance)
        except BaseException:
            play.model.stops(self.name, place)
            raise
        self.finishes(place)

    def finishes(self, place: Place) -> None:
        """Tell the model of a finished record, while the process lives."""
        if not self.is_dead:
            self._play.model.finishes(self.name, place)

    async def _work(self, chance: random.Random) -> None:
        """Take no time or some, get stuck, or fail."""
        if chance.randrange(100) < STUCK_OF_100:
            await asyncio.Event().wait()
        is_deaf = chance.randrange(100) < DEAF_OF_100
        try:
            await self._play.clock.sleep(chance.choice([0, 1, 30, LONGEST_MS]) / 1000)
        except asyncio.CancelledError:
            if not is_deaf:
                raise
            await self._play.clock.sleep(DEAF_MS / 1000)
        if chance.randrange(10) < FAILS_OF_TEN:
            raise ApplicationError


class WorkersPlay:
    """One run of a schedule."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        clock: FakeClock,
        network: VirtualNetwork,
        model: WorkersModel,
        *,
        producer: AIOKafkaProducer[Any, Any] | None,
        is_cooperative: bool,
        order: str,
        first_lives: Living | None,
    ) -> None:
        self.broker = broker
        self.producer = producer
        """Of the dead letters; None: there are none."""
        self.clock = clock
        self.model = model
        self.attempts: Counter[Place] = Counter()
        self._network = network
        self._troubles = ClusterTroubles(broker, network, GROUP)
        self._order = order
        self._first_lives = first_lives
        self._places: dict[int, Member] = {}
        self._everyone: list[Member] = []
        self._assignor = CooperativeStickyAssignor if is_cooperative else RangePartitionAssignor

    def consumer(self, name: str, seed: int) -> AIOKafkaConsumer[Any, Any]:
        return AIOKafkaConsumer(
            TOPIC,
            bootstrap_servers=self.broker.bootstrap_servers,
            client_id=name,
            group_id=GROUP,
            partition_assignment_strategy=[self._assignor],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=3000,
            heartbeat_interval_ms=500,
            fetch_max_wait_ms=200,
            request_timeout_ms=3000,
            default_api_timeout_ms=5000,
            retry_backoff_ms=20,
            retry_backoff_max_ms=200,
            reconnect_backoff_ms=20,
            reconnect_backoff_max_ms=200,
            clock=self.clock,
            rng=random.Random(seed),
        )

    def stored(self) -> dict[int, OffsetAndMetadata]:
        """What the group has stored."""
        return {
            tp.partition: OffsetAndMetadata(each.offset, each.metadata or "")
            for tp, each in self.broker.group(GROUP).offsets.items()
        }

    def write(self, partition: int, count: int) -> None:
        tp = TopicPartition(TOPIC, partition)
        first = self.broker.log(tp).log_end_offset
        self.broker.append(tp, batch([b"value"] * count, first))
        self.model.wrote(partition, count)

    async def step(self, step: Step) -> None:
        """Let one step happen."""
        self.model.tell(f"-- {step}")
        match step:
            case Join(place):
                self._join(place)
            case Wait(ms):
                await self.clock.sleep(ms / 1000)
            case Write(partition, records):
                self.write(partition, records)
            case Stop() | Cancel() | Kill() | CutOff() | Rebalance():
                self._of_member(step)
            case _:
                if _hits_commits(step):
                    self.model.commits_fail()
                self._troubles.happens(step)
        await asyncio.sleep(0)
        self.model.seen(self.stored())

    def _join(self, place: int) -> None:
        former = self._places.get(place)
        if former is not None and not former.is_over:
            return
        seed = len(self._everyone)
        member = Member(f"m{place}.{seed}", self, self._order, seed)
        life = member.live()
        if self._first_lives is not None and not self._everyone:
            life = self._first_lives(life)
        member.task = asyncio.create_task(life, name=member.name)
        self._places[place] = member
        self._everyone.append(member)

    def _of_member(self, step: Stop | Cancel | Kill | CutOff | Rebalance) -> None:
        member = self._places.get(step.place)
        if member is None or member.is_over or member.task is None:
            return
        match step:
            case Stop():
                member.workers.stop()
            case Cancel():
                if member.task.cancelling():  # a second time: the last commit may be given up
                    self.model.excuse(member.name)
                member.task.cancel()
            case Kill():
                member.is_dead = True
                self.model.died(member.name)
                self._troubles.crash(member.name)
                member.task.cancel()
            case CutOff():
                self.model.excuse(member.name)
                self._network.isolate(member.name)
            case Rebalance():
                if member.consumer._engine is not None and member.consumer.assignment():
                    # The member is about to leave, or its start() has not returned yet.
                    with suppress(ConsumerStoppedError, IllegalStateError):
                        member.consumer.enforce_rebalance()

    async def finish(self) -> None:
        """End all trouble, and let the members finish everything."""
        self.model.tell("-- all trouble is over")
        self._troubles.heal()
        until_s = self.clock.monotonic() + DONE_WITHIN_S
        while not self.model.complaints and not self.model.is_done(self.stored()):
            if self.clock.monotonic() > until_s:
                self.model.complain(f"not done: {self.stored()} of {dict(self.model.ends)}")
            if all(member.is_over for member in self._places.values()):
                self._join(0)
            await self.clock.sleep(LOOK_EVERY_S)
            self.model.seen(self.stored())

    async def leave(self) -> None:
        """Let all members leave."""
        for member in self._everyone:
            member.workers.stop()
        await asyncio.gather(*(member.task for member in self._everyone if member.task))
        self.model.seen(self.stored())


def _hits_commits(step: ClusterStep) -> bool:
    if isinstance(step, FailApi):
        return step.api is not ProduceRequest
    return isinstance(step, Latency | MoveCoordinator)


def by_offset(record: ConsumerRecord[Any, Any]) -> int:
    """The key of a record, as it were."""
    return record.offset % KEYS


def chain_of(order: str, place: Place) -> Hashable:
    """What is handled one after the other."""
    partition, offset = place
    return {"key": (partition, offset % KEYS), "partition": partition}.get(order, place)


def dead_letter_producer(broker: EmbeddedBroker, clock: FakeClock) -> AIOKafkaProducer[Any, Any]:
    """The producer of all members: letters of dead ones do no harm."""
    return AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap_servers,
        client_id="letters",
        request_timeout_ms=1000,
        retry_backoff_ms=20,
        clock=clock,
        rng=random.Random(2),
    )


async def play_steps(play: WorkersPlay, schedule: Sequence[Step]) -> None:
    """Play a schedule to its end."""
    for partition in range(PARTITIONS):
        play.write(partition, FIRST_RECORDS)
    try:
        for step in schedule:
            await play.step(step)
        await play.finish()
        await play.leave()
    except Exception as error:
        error.add_note(str(play.model))
        raise


async def play_workers(
    clock: FakeClock,
    network: VirtualNetwork,
    *,
    schedule: Sequence[Step],
    is_cooperative: bool,
    order: str,
    has_dead_letters: bool,
    first_lives: Living | None = None,
) -> WorkersModel:
    """Let a schedule happen to members; return the model, with its complaints.

    `first_lives`: what becomes of the coroutine of the first member.
    """
    model = WorkersModel(lambda place: chain_of(order, place), clock.monotonic)
    async with EmbeddedBroker(
        NODES,
        auto_create_topics=False,
        group_min_session_timeout_ms=1000,
        max_logged_requests=0,
        clock=clock,
        rng=random.Random(1),
    ) as broker:
        broker.create_topic(TOPIC, PARTITIONS)
        broker.create_topic(DEAD_TOPIC, 1)
        async with dead_letter_producer(broker, clock) as producer:
            play = WorkersPlay(
                broker,
                clock,
                network,
                model,
                producer=producer if has_dead_letters else None,
                is_cooperative=is_cooperative,
                order=order,
                first_lives=first_lives,
            )
            await play_steps(play, schedule)
    return model


__all__ = [
    "MAX_TURNS",
    "PARTITIONS",
    "PLACES",
    "Cancel",
    "CutOff",
    "Join",
    "Kill",
    "Rebalance",
    "Step",
    "Stop",
    "Wait",
    "Write",
    "play_workers",
]
