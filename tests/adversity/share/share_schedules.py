"""The run of a schedule: a share group, its members, and what happens to them and to the cluster.

Half of the members are share workers, the others poll and acknowledge by themselves. `play_share`
goes through the steps in virtual time and ends all trouble. Then the group has to be done with
every record soon, and each one must have been handled.
"""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaShareConsumer, ShareWorkers
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import AcknowledgeType, ConsumerRecord, TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from tests.adversity.cluster_troubles import ClusterStep, ClusterTroubles
from tests.adversity.group.group_steps import NODES
from tests.consumer.batches import batch

TOPIC, PARTITIONS, GROUP, PLACES = "t", 3, "g", 3
FIRST_RECORDS = 6
LOCK_MS = 15_000
MOST_DELIVERIES = 10
FAILS_OF_TEN = 1
DONE_WITHIN_S = 90.0
"""Lost answers cost a request timeout each, and locks that nobody gives back end by themselves."""
LOOK_EVERY_S = 0.5
MAX_TURNS = 400_000

Place = tuple[int, int]
"""Partition and offset."""


class Join(NamedTuple):
    """A member takes a place that is free."""

    place: int
    has_workers: bool


class Stop(NamedTuple):
    """A member ends in order."""

    place: int


class Kill(NamedTuple):
    """The process of a member ends."""

    place: int


class CutOff(NamedTuple):
    """A member reaches no broker, until `Reconnect`."""

    place: int


class Expel(NamedTuple):
    """The coordinator gives a member up."""

    place: int


class EndSessions(NamedTuple):
    """The nodes forget their share sessions."""


class MoveLeader(NamedTuple):
    """A partition gets another leader."""

    partition: int
    node: int


class Write(NamedTuple):
    """Records are written."""

    partition: int
    records: int


class Wait(NamedTuple):
    """Time goes by."""

    ms: int


Step = Join | Stop | Kill | CutOff | Expel | EndSessions | MoveLeader | Write | Wait | ClusterStep


class ApplicationError(Exception):
    """What a handler may raise."""


class Member:
    """A member of the group, from its start to its end."""

    def __init__(self, name: str, play: "SharePlay", *, has_workers: bool, seed: int) -> None:
        self.name = name
        self.is_dead = False
        self.consumer = play.consumer(name, seed)
        self._play = play
        self._rng = random.Random(seed)
        self._is_stopping = False
        self._workers = (
            None
            if not has_workers
            else ShareWorkers(
                self.consumer,
                self.handle,
                concurrency=2,
                max_records=8,
                commit_interval_ms=200,
                drain_timeout_ms=500,
                retry_backoff_ms=50,
                clock=play.clock,
                rng=random.Random(seed),
            )
        )
        self.task = asyncio.create_task(self._live(), name=name)

    def stop(self) -> None:
        self._is_stopping = True
        if self._workers is not None:
            self._workers.stop()

    def die(self) -> None:
        self.is_dead = True
        self.task.cancel()

    async def _live(self) -> None:
        try:
            if self._workers is None:
                await self._poll()
            else:
                async with self._workers:
                    await self._workers.run()
        except KafkaError as error:
            self._play.tell(f"{self.name} ends: {error!r}")
            if not error.retriable and not self._is_stopping and not self.is_dead:
                self._play.complain(f"{self.name} was ended by {error!r}")
        except asyncio.CancelledError:
            self._play.tell(f"{self.name} is cancelled")

    async def _poll(self) -> None:
        async with self.consumer as consumer:
            while not self._is_stopping:
                for records in (await consumer.getmany(500)).values():
                    for record in records:
                        try:
                            await self.handle(record)
                        except ApplicationError:
                            consumer.acknowledge(record, AcknowledgeType.RELEASE)
                        else:
                            consumer.acknowledge(record)
            await consumer.commit(2000)

    async def handle(self, record: ConsumerRecord[Any, Any]) -> None:
        """Take no time or some, or fail."""
        await self._play.clock.sleep(self._rng.choice([0, 0.001, 0.05, 0.4]))
        if self.is_dead:
            await asyncio.Event().wait()  # what a dead process would do
        if self._rng.randrange(10) < FAILS_OF_TEN and record.delivery_count < MOST_DELIVERIES // 2:
            raise ApplicationError
        self._play.handled.add((record.partition, record.offset))


class SharePlay:
    """One run of a schedule."""

    def __init__(self, broker: EmbeddedBroker, clock: FakeClock, network: VirtualNetwork) -> None:
        self.clock = clock
        self.complaints: list[str] = []
        self.handled: set[Place] = set()
        self._written: set[Place] = set()
        self._story: list[str] = []
        self._broker = broker
        self._network = network
        self._troubles = ClusterTroubles(broker, network, GROUP)
        self._places: dict[int, Member] = {}
        self._everyone: list[Member] = []

    def __str__(self) -> str:
        return "\n".join(self._story)

    def tell(self, sentence: str) -> None:
        self._story.append(f"{self.clock.monotonic():9.3f} {sentence}")

    def complain(self, sentence: str) -> None:
        self.tell(f"!! {sentence}")
        self.complaints.append(sentence)

    def consumer(self, name: str, seed: int) -> AIOKafkaShareConsumer[Any, Any]:
        return AIOKafkaShareConsumer(
            TOPIC,
            bootstrap_servers=self._broker.bootstrap_servers,
            client_id=name,
            group_id=GROUP,
            share_acknowledgement_mode="explicit",
            share_acquire_mode="record_limit",
            max_poll_records=4,
            fetch_max_wait_ms=200,
            request_timeout_ms=3000,
            default_api_timeout_ms=60_000,
            stop_timeout_ms=3000,
            retry_backoff_ms=20,
            retry_backoff_max_ms=200,
            reconnect_backoff_ms=20,
            reconnect_backoff_max_ms=200,
            clock=self.clock,
            rng=random.Random(seed),
        )

    async def configure(self) -> None:
        """Let locks be short, and records be delivered often."""
        configs = {
            "share.auto.offset.reset": "earliest",
            "share.record.lock.duration.ms": str(LOCK_MS),
            "share.delivery.count.limit": str(MOST_DELIVERIES),
        }
        async with AIOKafkaAdminClient(
            bootstrap_servers=self._broker.bootstrap_servers, clock=self.clock
        ) as admin:
            group = ConfigResource(ConfigResourceType.GROUP, GROUP, configs=configs)
            (await admin.incremental_alter_configs([group])).raise_first()

    def write(self, partition: int, count: int) -> None:
        tp = TopicPartition(TOPIC, partition)
        first = self._broker.log(tp).log_end_offset
        self._broker.append(tp, batch([b"value"] * count, first))
        self._written |= {(partition, offset) for offset in range(first, first + count)}

    async def step(self, step: Step) -> None:
        """Let one step happen."""
        self.tell(f"-- {step}")
        match step:
            case Join(place, has_workers):
                self._join(place, has_workers=has_workers)
            case Wait(ms):
                await self.clock.sleep(ms / 1000)
            case Write(partition, records):
                self.write(partition, records)
            case MoveLeader(partition, node):
                if node in self._troubles.alive:
                    self._broker.move_leader((TOPIC, partition), node)
            case EndSessions():
                if self._broker.group(GROUP).shares:
                    self._broker.end_share_sessions(GROUP)
            case Stop() | Kill() | CutOff() | Expel():
                self._of_member(step)
            case _:
                self._troubles.happens(step)
        await asyncio.sleep(0)

    def _join(self, place: int, *, has_workers: bool) -> None:
        former = self._places.get(place)
        if former is not None and not former.task.done():
            return
        seed = len(self._everyone)
        member = Member(f"m{place}.{seed}", self, has_workers=has_workers, seed=seed)
        self._places[place] = member
        self._everyone.append(member)

    def _of_member(self, step: Stop | Kill | CutOff | Expel) -> None:
        member = self._places.get(step.place)
        if member is None or member.task.done():
            return
        match step:
            case Stop():
                member.stop()
            case Kill():
                self._troubles.crash(member.name)
                member.die()
            case CutOff():
                self._network.isolate(member.name)
            case Expel():
                engine = member.consumer._life.engine
                member_id = None if engine is None else engine.membership.member_id
                if member_id is not None and member_id in self._broker.group(GROUP).members:
                    self._broker.expel_share_member(GROUP, member_id)

    @property
    def _is_done(self) -> bool:
        shares = self._broker.group(GROUP).shares
        return all(
            (tp := TopicPartition(TOPIC, partition)) in shares
            and shares[tp].start_offset == self._broker.log(tp).log_end_offset
            for partition in range(PARTITIONS)
        )

    async def finish(self) -> None:
        """End all trouble, and let the members finish everything."""
        self.tell("-- all trouble is over")
        self._troubles.heal()
        until_s = self.clock.monotonic() + DONE_WITHIN_S
        while not self.complaints and not self._is_done:
            if self.clock.monotonic() > until_s:
                self.complain(f"not done: {self._broker.group(GROUP).shares}")
            if all(member.task.done() for member in self._places.values()):
                self._join(0, has_workers=bool(len(self._everyone) % 2))
            await self.clock.sleep(LOOK_EVERY_S)
        lost = self._written - self.handled
        if not self.complaints and lost:
            self.complain(f"the group is done with records that nobody has handled: {lost}")

    async def leave(self) -> None:
        """Let all members leave."""
        for member in self._everyone:
            member.stop()
        await asyncio.gather(*(member.task for member in self._everyone))


async def play_share(
    clock: FakeClock, network: VirtualNetwork, *, schedule: Sequence[Step]
) -> SharePlay:
    """Let a schedule happen to members; return the play, with its complaints."""
    async with EmbeddedBroker(
        NODES, auto_create_topics=False, clock=clock, rng=random.Random(1)
    ) as broker:
        broker.create_topic(TOPIC, PARTITIONS)
        play = SharePlay(broker, clock, network)
        await play.configure()
        for partition in range(PARTITIONS):
            play.write(partition, FIRST_RECORDS)
        try:
            for step in (
                Join(0, has_workers=True),
                Join(1, has_workers=False),
                Wait(20),
                *schedule,
            ):
                await play.step(step)
            await play.finish()
            await play.leave()
        except Exception as error:
            error.add_note(str(play))
            raise
    return play
