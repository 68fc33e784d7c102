"""A share group under load on a real cluster: its members come, go, pause and die; so do nodes."""

import asyncio
import itertools
import random
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer, AIOKafkaShareConsumer
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.producer.batch.record_ack import RecordAck
from tests.faults.group_faults import Cluster, ProcessMember, coordinator_of, eventually
from tests.faults.group_oracle import History
from tests.faults.share_oracle import Books, Place, books, handled
from tests.faults.share_worker import REQUEST_TIMEOUT_MS, Orders
from tests.faults.worker_process import started
from tests.support.topics import connected, create_topic, delete_topic

PARTITIONS = 6
RECORDS_AT_ONCE, EVERY_S = 10, 0.1
FIRST_MEMBERS = 3
PAUSE_S = 8.0
"""Longer than locks and sessions of the group."""
SETTLE_S = 2.0
PATIENCES = 3
QUIET_MS = 8_000
PROPERTIES = {
    "group.share.min.session.timeout.ms": "1000",
    "group.share.session.timeout.ms": "6000",
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.heartbeat.interval.ms": "1000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "5000",
    "group.share.delivery.count.limit": "10",
}


class ShareRound:
    """The members of one round, the records written, and what the journals show."""

    def __init__(self, cluster: Cluster, topic: str, folder: Path) -> None:
        self.hurt: dict[str, list[float]] = defaultdict(list)
        self._cluster = cluster
        self._topic = topic
        self._folder = folder
        self._history = History(folder)
        self._members: list[ProcessMember] = []
        self._numbers = itertools.count(1)
        self._acks: list[RecordAck] = []
        self._end_of_records = asyncio.Event()
        folder.mkdir(parents=True)

    @property
    def group_id(self) -> str:
        return f"{self._topic}-group"

    async def play(self, rng: random.Random, accident: str) -> Books:
        """Hurt members and nodes while records are written; return the books."""
        producing = asyncio.create_task(self._produce(), name="producer")
        try:
            for _ in range(FIRST_MEMBERS):
                await self._join()
            await _within("the first members work", self._all_at_work)
            await self._kill(rng.choice(self._ready()))
            await self._join()
            paused = rng.choice(self._ready())
            self._hurt(paused)
            paused.process.send_signal(signal.SIGSTOP)
            try:
                await self._hurt_nodes(accident)
                await asyncio.sleep(PAUSE_S)
            finally:
                paused.process.send_signal(signal.SIGCONT)
            await self._join()
            await _within("the member that was added is ready", self._all_ready)
            left = [each for each in self._members if each is not paused]
            await self._stop(rng.choice(left))
            await asyncio.sleep(SETTLE_S)
            self._end_of_records.set()
            await producing
            records = self._records()
            await self._until_handled(records)
            for member in tuple(self._members):
                await self._stop(member)
        finally:
            producing.cancel()
            for member in self._members:
                with suppress(ProcessLookupError):
                    member.kill()
                await member.process.wait()
        return books(self._history.refresh(), records, self.hurt)

    async def _until_handled(self, records: set[Place]) -> None:
        try:
            await _within(
                "all records are handled", lambda: handled(self._history.refresh()) >= records
            )
        except AssertionError as error:
            raise AssertionError(self._story_of_missing(records)) from error

    def _story_of_missing(self, records: set[Place]) -> str:
        """Tell what the journals say of the first records that were not handled."""
        events = self._history.refresh()
        missing = sorted(records - handled(events))
        alive = [each.name for each in self._members if each.process.returncode is None]
        story = [f"{len(missing)} were not handled: {missing[:20]}; {alive} are alive"]
        for place in missing[:5]:
            words = [str(number) for number in place]
            told = [event for event in events if list(event.details[:2]) == words]
            story += [f"{place}: {event}" for event in told]
        return "\n".join(story)

    async def _hurt_nodes(self, accident: str) -> None:
        match accident:
            case "coordinator":
                async with connected(self._cluster.address) as client:
                    node = self._cluster.node(await coordinator_of(client, self.group_id))
                await self._cluster.kill([node])
                await asyncio.sleep(SETTLE_S)
                await self._cluster.heal()
            case "rolling":
                for node in self._cluster.kafka.nodes:
                    await asyncio.to_thread(node.stop)
                    await self._cluster.heal()

    async def _produce(self) -> None:
        numbers = itertools.count()
        async with AIOKafkaProducer(
            bootstrap_servers=self._cluster.address, request_timeout_ms=REQUEST_TIMEOUT_MS
        ) as producer:
            while not self._end_of_records.is_set():
                for number in itertools.islice(numbers, RECORDS_AT_ONCE):
                    ack = await producer.send(
                        self._topic, b"%d" % number, partition=number % PARTITIONS
                    )
                    self._acks.append(ack)
                await asyncio.sleep(EVERY_S)

    def _records(self) -> set[Place]:
        return {(where.partition, where.offset) for where in (ack.result() for ack in self._acks)}

    async def _join(self) -> None:
        name = f"member-{next(self._numbers)}"
        orders = Orders(
            journal=str(self._folder / f"{name}.journal"),
            bootstrap_servers=self._cluster.address,
            topic=self._topic,
            group_id=self.group_id,
            is_on_uvloop=not isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop),
        )
        output = self._folder / f"{name}.output"
        process = await started("tests.faults.share_worker", orders, output)
        self._members.append(ProcessMember(name, process, output))

    def _ready(self) -> list[ProcessMember]:
        joined = {event.member for event in self._history.refresh() if event.word == "ready"}
        return [member for member in self._members if member.name in joined]

    def _all_ready(self) -> bool:
        return len(self._ready()) == len(self._members)

    def _all_at_work(self) -> bool:
        working = {event.member for event in self._history.refresh() if event.word == "ended"}
        return {member.name for member in self._members} <= working

    def _hurt(self, member: ProcessMember) -> None:
        self.hurt[member.name].append(SYSTEM_CLOCK.monotonic())

    async def _kill(self, member: ProcessMember) -> None:
        self._hurt(member)
        member.kill()
        await member.process.wait()
        self._members.remove(member)

    async def _stop(self, member: ProcessMember) -> None:
        """Stop a member by SIGTERM. Raises: AssertionError if its process failed."""
        await _within(f"{member.name} listens to signals", lambda: member in self._ready())
        await member.leave()
        self._members.remove(member)

    async def left_over(self) -> list[Place]:
        """Return what the group still has for another member."""
        found: list[Place] = []
        async with AIOKafkaShareConsumer[bytes, bytes](
            self._topic, bootstrap_servers=self._cluster.address, group_id=self.group_id
        ) as consumer:
            while polled := await consumer.getmany(QUIET_MS):
                for records in polled.values():
                    found += [(record.partition, record.offset) for record in records]
            await consumer.commit()
        return found


async def _within(what: str, condition: Callable[[], object]) -> None:
    """As `eventually`, with the time that a broker needs: it asks for the state of a share
    partition once more only after 30 s.
    """
    for _ in range(PATIENCES - 1):
        with suppress(AssertionError):
            await eventually(what, condition)
            return
    await eventually(what, condition)


@asynccontextmanager
async def share_round(cluster: Cluster, topic: str, folder: Path) -> AsyncIterator[ShareRound]:
    """Provide a round with a topic and a group of its own."""
    await create_topic(cluster.address, topic, partitions=PARTITIONS)
    played = ShareRound(cluster, topic, folder)
    configs = {"share.auto.offset.reset": "earliest"}
    async with AIOKafkaAdminClient(bootstrap_servers=cluster.address) as admin:
        group = ConfigResource(ConfigResourceType.GROUP, played.group_id, configs=configs)
        (await admin.incremental_alter_configs([group])).raise_first()
    yield played
    await delete_topic(cluster.address, topic)
