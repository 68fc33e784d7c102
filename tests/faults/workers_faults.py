"""One round of keyed workers under faults: a topic under load; members that come, go and die."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.producer.batch.record_ack import RecordAck
from tests.faults.group_faults import ProcessMember, eventually
from tests.faults.group_oracle import History
from tests.faults.worker_process import started
from tests.faults.workers_oracle import Books, Place, books, finished
from tests.faults.workers_worker import Orders
from tests.support.topics import create_topic, delete_topic

PARTITIONS = 6
KEYS = 60
RECORDS_AT_ONCE, EVERY_S = 20, 0.05
FIRST_MEMBERS = 3
TURNS = 3
JOIN_S, KILL_S, STOP_S = 1.5, 2.5, 1.0


class WorkersRound:
    """The members of one round, the records written, and what the journals show."""

    def __init__(self, address: str, topic: str, folder: Path, *, is_cooperative: bool) -> None:
        self.killed: dict[str, float] = {}
        self._address = address
        self._topic = topic
        self._folder = folder
        self._is_cooperative = is_cooperative
        self._history = History(folder)
        self._members: list[ProcessMember] = []
        self._numbers = itertools.count(1)
        self._acks: list[tuple[int, RecordAck]] = []
        self._end_of_records = asyncio.Event()
        folder.mkdir(parents=True)

    @property
    def group_id(self) -> str:
        return f"{self._topic}-group"

    async def play(self, rng: random.Random) -> Books:
        """Let members join, die and stop while records are written; return the books."""
        producing = asyncio.create_task(self._produce(), name="producer")
        try:
            for _ in range(FIRST_MEMBERS):
                await self._join()
            await eventually("the first members work", self._all_at_work)
            for _ in range(TURNS):
                await self._join()
                await asyncio.sleep(JOIN_S)
                await eventually("a member may be killed", self._ready)
                await self._kill(rng.choice(self._ready()))
                await asyncio.sleep(KILL_S * rng.random() * 2)
                await self._join()
                await eventually("a member may be stopped", self._ready)
                await self._stop(rng.choice(self._ready()))
                await asyncio.sleep(STOP_S)
            self._end_of_records.set()
            await producing
            chains = self._chains()
            await eventually(
                "all records are finished",
                lambda: finished(self._history.refresh()) >= chains.keys(),
            )
            await eventually("all are ready", lambda: len(self._ready()) == len(self._members))
            for member in tuple(self._members):
                await self._stop(member)
        finally:
            producing.cancel()
            for member in self._members:
                with suppress(ProcessLookupError):
                    member.kill()
                await member.process.wait()
        return books(self._history.refresh(), chains, self.killed)

    async def _produce(self) -> None:
        async with AIOKafkaProducer(bootstrap_servers=self._address) as producer:
            while not self._end_of_records.is_set():
                for number in range(len(self._acks), len(self._acks) + RECORDS_AT_ONCE):
                    key = number % KEYS
                    ack = await producer.send(
                        self._topic, b"%d" % number, b"%d" % key, partition=key % PARTITIONS
                    )
                    self._acks.append((number, ack))
                await asyncio.sleep(EVERY_S)

    def _chains(self) -> dict[Place, int]:
        """The key of each record."""
        found = {}
        for number, ack in self._acks:
            where = ack.result()
            found[where.partition, where.offset] = number % KEYS
        return found

    async def _join(self) -> None:
        name = f"member-{next(self._numbers)}"
        orders = Orders(
            journal=str(self._folder / f"{name}.journal"),
            bootstrap_servers=self._address,
            topic=self._topic,
            dead_topic=f"{self._topic}-dead",
            group_id=self.group_id,
            is_cooperative=self._is_cooperative,
            is_on_uvloop=not isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop),
        )
        output = self._folder / f"{name}.output"
        process = await started("tests.faults.workers_worker", orders, output)
        self._members.append(ProcessMember(name, process, output))

    def _ready(self) -> list[ProcessMember]:
        """The members that have joined, and so listen to signals."""
        joined = {event.member for event in self._history.refresh() if event.word == "assigned"}
        return [member for member in self._members if member.name in joined]

    def _all_at_work(self) -> bool:
        working = {event.member for event in self._history.refresh() if event.word == "ended"}
        return {member.name for member in self._members} <= working

    async def _kill(self, member: ProcessMember) -> None:
        member.kill()
        await member.process.wait()
        self.killed[member.name] = SYSTEM_CLOCK.monotonic()
        self._members.remove(member)

    async def _stop(self, member: ProcessMember) -> None:
        """Stop a member by SIGTERM. Raises: AssertionError if its process failed."""
        await member.leave()
        self._members.remove(member)

    async def check_stored(self) -> list[str]:
        """Return the partitions of which the group has not stored the end."""
        partitions = [TopicPartition(self._topic, each) for each in range(PARTITIONS)]
        async with AIOKafkaConsumer(
            bootstrap_servers=self._address, group_id=self.group_id, enable_auto_commit=False
        ) as consumer:
            ends = await consumer.end_offsets(partitions)
            found = {tp: await consumer.committed(tp) for tp in partitions}
        return [f"{found[tp]} of {ends[tp]} in {tp}" for tp in ends if found[tp] != ends[tp]]


@asynccontextmanager
async def workers_round(
    address: str, topic: str, folder: Path, *, is_cooperative: bool
) -> AsyncIterator[WorkersRound]:
    """Provide a round with topics of its own."""
    await create_topic(address, topic, partitions=PARTITIONS)
    await create_topic(address, f"{topic}-dead", partitions=1)
    yield WorkersRound(address, topic, folder, is_cooperative=is_cooperative)
    await delete_topic(address, topic)
    await delete_topic(address, f"{topic}-dead")
