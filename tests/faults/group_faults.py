"""The parts of the tests of groups under faults, on a real Kafka with three nodes.

They are a cluster with accidents, a producer that sends all the time, members as tasks or
processes, and a watcher of commits. `group_fault_scenarios` plays the faults. `group_oracle` judges
what the members did.
"""

import asyncio
import itertools
import logging
import signal
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import confluent_kafka

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import KafkaError, KafkaTimeoutError
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.kafka_node import KafkaNode
from tests.faults import group_oracle as oracle
from tests.faults.group_worker import (
    API_TIMEOUT_MS,
    HEARTBEAT_MS,
    SESSION_MS,
    STOP_MS,
    Member,
    Orders,
)
from tests.faults.worker_process import started
from tests.support.topics import (
    connected,
    create_topic,
    delete_topic,
    describe_topics,
)

PARTITIONS = 6
RECORDS_PER_S = 120
QUICKLY_S = 0.002
WATCH_EVERY_S = 0.25
LOOK_EVERY_S = 0.1
WATCHERS_SLACK_S = 5.0  # the machine may be busy
PATIENCE_S = 45.0
READY_S = 180.0  # three Java processes need half a minute of CPU, and other programs need CPU, too
COMMITTED_OFFSETS_TOPIC = "__consumer_offsets"

CLASSIC = ("eager", "cooperative")
ALL_PROTOCOLS = (*CLASSIC, "consumer")
GROUP_PROPERTIES = {
    "group.consumer.min.session.timeout.ms": str(SESSION_MS),
    "group.consumer.session.timeout.ms": str(SESSION_MS),
    "group.consumer.min.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
}
"""What a broker needs so that members have the same times by either protocol."""

logger = logging.getLogger(__name__)


async def eventually(what: str, condition: Callable[[], object]) -> None:
    """Return once `condition()` is true. It is called from time to time."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await asyncio.sleep(LOOK_EVERY_S)
    except TimeoutError:
        raise AssertionError(f"waited {PATIENCE_S:.0f} s in vain: {what}") from None


@contextmanager
def frozen(nodes: Iterable[KafkaNode]) -> Iterator[None]:
    """Stop nodes by SIGSTOP for the block: their connections stay, and they answer nothing."""
    stopped = [node.process for node in nodes if node.process is not None]
    for process in stopped:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in stopped:
            process.send_signal(signal.SIGCONT)


class Cluster:
    """Kills and repairs the nodes of a real Kafka, without blocking the event loop."""

    def __init__(self, kafka: ApacheKafka) -> None:
        self.kafka = kafka

    @property
    def address(self) -> str:
        return self.kafka.servers("PLAINTEXT")

    def node(self, node_id: int) -> KafkaNode:
        return next(node for node in self.kafka.nodes if node.node_id == node_id)

    async def kill(self, nodes: Iterable[KafkaNode]) -> None:
        """Send SIGKILL to all of these nodes at once."""
        await asyncio.gather(*(asyncio.to_thread(node.kill) for node in nodes))

    async def restart(self, node: KafkaNode) -> None:
        """Stop a node in order, start it again, and wait until all replicas are in sync."""
        await asyncio.to_thread(node.stop)
        await self.heal()

    async def heal(self) -> None:
        """Start the nodes that are down, and wait until every replica is in sync again."""
        down = [node for node in self.kafka.nodes if node.process is None]
        for node in down:
            await asyncio.to_thread(node.spawn)  # `spawn` blocks until the new process runs
        for node in down:
            await asyncio.to_thread(node.wait_ready, len(self.kafka.nodes), READY_S)
        async with asyncio.timeout(READY_S):
            while not await self._is_whole():
                await asyncio.sleep(LOOK_EVERY_S)

    async def _is_whole(self) -> bool:
        try:
            topics = await describe_topics(self.address)
        except KafkaError:
            return False
        return all(
            partition.leader is not None and set(partition.in_sync) == set(partition.replicas)
            for topic in topics
            for partition in topic.partitions
        )

    async def leaders(self, topic: str) -> dict[int, int | None]:
        """Return the leader of each partition."""
        [described] = await describe_topics(self.address, [topic])
        return {each.partition: each.leader for each in described.partitions}


async def coordinator_of(client: KafkaClient, group_id: str) -> int:
    """Return the node that coordinates the group."""
    request = FindCoordinatorRequest(key=group_id, key_type=0)
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with suppress(KafkaError):
                answer = await client.network.request_any(
                    request, max_version=FindCoordinatorRequest.keys_since - 1
                )
                if answer.error_code == 0:
                    return answer.node_id
            await asyncio.sleep(LOOK_EVERY_S)


@dataclass(eq=False)
class TaskMember:
    """A member in the test's own process."""

    name: str
    leaving: asyncio.Event
    task: asyncio.Task[None]

    def leave_soon(self) -> None:
        """Tell the member to leave."""
        self.leaving.set()

    async def leave(self) -> None:
        """Wait until the member has left. Raises: the error that ended it."""
        self.leave_soon()
        async with asyncio.timeout(PATIENCE_S):
            await self.task


@dataclass(eq=False)
class ProcessMember:
    """A member in a process of its own."""

    name: str
    process: asyncio.subprocess.Process
    output: Path

    def kill(self) -> None:
        """Send SIGKILL, so that the member cannot leave its group."""
        self.process.kill()

    def pause(self) -> None:
        """Send SIGSTOP: the member hears and says nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Send SIGCONT."""
        self.process.send_signal(signal.SIGCONT)

    def leave_soon(self) -> None:
        """Tell the member to leave."""
        self.process.terminate()

    async def leave(self) -> None:
        """Wait until the member has left. Raises: AssertionError if its process failed."""
        self.leave_soon()
        async with asyncio.timeout(PATIENCE_S):
            status = await self.process.wait()
        assert status == 0, f"{self.name} ended with {status}:\n{self.output.read_text()[-3000:]}"


class Group:
    """One group: its members, their journals, and its committed offsets."""

    def __init__(
        self, group_id: str, address: str, topic: str, folder: Path, protocol: str
    ) -> None:
        """`protocol`: that of its members, one of `PROTOCOLS`."""
        self.group_id = group_id
        self.name = self.protocol = protocol
        self.history = oracle.History(folder)
        self.members: list[TaskMember | ProcessMember] = []
        self.killed: dict[str, float] = {}
        self.committed: dict[int, int] = {}
        self.commits: list[oracle.Commit] = []
        self.complaints: list[str] = []
        self.figures: dict[str, float] = {}
        self._address = address
        self._topic = topic
        self._folder = folder
        self._numbers = itertools.count(1)
        folder.mkdir(parents=True)

    def __repr__(self) -> str:
        return f"{self.name} group"

    # Members come and go…

    def join(
        self, manner: str, pause_s: float = QUICKLY_S, protocol: str | None = None
    ) -> TaskMember:
        """Start a member in this process, by the group's protocol or another. Does not wait."""
        name = f"{manner}-{next(self._numbers)}"
        leaving = asyncio.Event()
        orders = self._orders(name, manner, pause_s, protocol or self.protocol)
        live = Member(orders).live(leaving)
        member = TaskMember(name, leaving, asyncio.create_task(live, name=name))
        self.members.append(member)
        return member

    async def spawn(self, manner: str, pause_s: float) -> ProcessMember:
        """Start a member in a process of its own; return when the process has started."""
        name = f"{manner}-{next(self._numbers)}-process"
        orders = self._orders(name, manner, pause_s, self.protocol)
        output = self._folder / f"{name}.output"
        process = await started("tests.faults.group_worker", orders, output)
        member = ProcessMember(name, process, output)
        self.members.append(member)
        return member

    def _orders(self, name: str, manner: str, pause_s: float, protocol: str) -> Orders:
        return Orders(
            journal=str(self._folder / f"{name}.journal"),
            bootstrap_servers=self._address,
            topic=self._topic,
            group_id=self.group_id,
            protocol=protocol,
            manner=manner,
            pause_s=pause_s,
            is_on_uvloop=not isinstance(asyncio.get_running_loop(), asyncio.BaseEventLoop),
        )

    async def kill(self, member: ProcessMember) -> None:
        """Kill a member in the middle of its work."""
        self.killed[member.name] = SYSTEM_CLOCK.monotonic()
        member.kill()
        await member.process.wait()
        self.members.remove(member)

    async def leave(self, members: Collection[TaskMember | ProcessMember]) -> None:
        """Let several members leave at the same time."""
        await asyncio.gather(*(member.leave() for member in members))
        self.members = [member for member in self.members if member not in members]

    # What the journals show…

    async def all_at_work(self) -> None:
        """Wait until each member has processed a record of its newest assignment."""
        names = {member.name for member in self.members}

        def at_work() -> bool:
            working: set[str] = set()
            for event in self.history.refresh():
                if event.word == "record":
                    working.add(event.member)
                elif event.word in oracle.CHANGES_OF_HANDS:
                    working.discard(event.member)
            return names <= working

        await eventually(f"all of {sorted(names)} of the {self!r} work", at_work)

    async def resumed(self, since_s: float) -> float:
        """Return how long after that moment every partition had made progress."""
        partitions = range(PARTITIONS)
        await eventually(
            f"{self!r} goes on with every partition",
            lambda: oracle.seconds_to_resume(self.history.refresh(), since_s, partitions),
        )
        taken_s = oracle.seconds_to_resume(self.history.events, since_s, partitions)
        assert taken_s is not None
        return taken_s

    async def processed(self, acked: oracle.Acked) -> None:
        """Wait until the group has processed all written records, and has committed them: a commit
        may be refused while members come and go.
        """
        await eventually(
            f"the {self!r} has processed everything",
            lambda: not oracle.unprocessed(self.history.refresh(), acked),
        )
        await eventually(
            f"the {self!r} has committed everything",
            lambda: self.committed == oracle.reach(self.history.events),
        )

    def saw_committed(self, committed: dict[int, int]) -> None:
        """Compare committed offsets with the journals, which have each record before its commit."""
        processed = oracle.reach(self.history.refresh())
        self.complaints += oracle.committed_too_far(committed, processed)
        self.complaints += oracle.went_back(self.committed, committed)
        moment_s = SYSTEM_CLOCK.monotonic()
        self.commits += [
            oracle.Commit(moment_s, partition, offset)
            for partition, offset in committed.items()
            if offset != self.committed.get(partition)
        ]
        self.committed = committed

    async def committed_as_confluent_sees_it(self) -> dict[int, int]:
        """Return the committed offsets as another client reads them."""
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": self._address, "group.id": self.group_id, "log_level": 0}
        )
        asked = [confluent_kafka.TopicPartition(self._topic, p) for p in range(PARTITIONS)]
        try:
            found = await asyncio.to_thread(consumer.committed, asked, 15.0)
        finally:
            await asyncio.to_thread(consumer.close)
        return {each.partition: each.offset for each in found if each.offset >= 0}


@dataclass
class Stage:
    """Where a scenario plays: a cluster, a topic with records all the time, and groups."""

    cluster: Cluster
    topic: str
    groups: list[Group]
    acks: list[tuple[int, RecordAck]] = field(default_factory=list)
    end_of_records: asyncio.Event = field(default_factory=asyncio.Event)

    async def everyone(self, step: Callable[[Group], Awaitable[None]]) -> None:
        """Run a step of the scenario with all groups at once."""
        await asyncio.gather(*(step(group) for group in self.groups))

    async def resumed(self, fault: str, since_s: float) -> None:
        """Wait until all groups make progress with every partition, and keep how long it took."""
        taken = await asyncio.gather(*(group.resumed(since_s) for group in self.groups))
        for group, taken_s in zip(self.groups, taken, strict=True):
            group.figures[fault] = taken_s

    def report(self) -> str:
        """Return the figures, a line per group."""
        return "\n".join(
            f"{group!r}: " + ", ".join(f"{name} {s:.2f} s" for name, s in group.figures.items())
            for group in self.groups
        )

    async def produce(self) -> None:
        """Write numbers to each partition in turn until the end."""
        async with AIOKafkaProducer(
            bootstrap_servers=self.cluster.address, request_timeout_ms=5000
        ) as producer:
            for number in itertools.count():
                if self.end_of_records.is_set():
                    break
                value, partition = b"%d" % number, number % PARTITIONS
                ack = await producer.send(self.topic, value, partition=partition)
                self.acks.append((number, ack))
                await asyncio.sleep(1 / RECORDS_PER_S)

    async def watch(self, group: Group, *, is_once: bool = False) -> None:
        """Compare committed offsets with the journals all the time, through another connection."""
        partitions = [TopicPartition(self.topic, each) for each in range(PARTITIONS)]
        async with AIOKafkaConsumer(
            bootstrap_servers=self.cluster.address,
            group_id=group.group_id,
            enable_auto_commit=False,
            request_timeout_ms=5000,
            default_api_timeout_ms=API_TIMEOUT_MS,
        ) as watcher:
            while True:
                with suppress(KafkaTimeoutError):  # the group may have no coordinator now
                    found = {
                        tp.partition: await _timely_committed(watcher, tp) for tp in partitions
                    }
                    group.saw_committed({p: o for p, o in found.items() if o is not None})
                    if is_once:
                        return
                await asyncio.sleep(WATCH_EVERY_S)

    def complaints(self) -> list[str]:
        """Return the broken rules so far."""
        return [
            f"{group!r}: {each}"
            for group in self.groups
            for each in [
                *group.complaints,
                *oracle.all_complaints(group.history.refresh(), group.killed),
                *oracle.began_too_early(group.history.events, group.commits),
            ]
        ]

    def acked(self) -> dict[tuple[int, int], str]:
        """Return the value of each record that is in the log for certain."""
        written = {}
        for number, ack in self.acks:
            if ack.exception() is None:
                where = ack.result()
                written[where.partition, where.offset] = str(number)
        return written


@asynccontextmanager
async def stage(
    kafka: ApacheKafka, topic: str, folder: Path, protocols: Sequence[str] = CLASSIC
) -> AsyncIterator[Stage]:
    """Provide a stage for one scenario, with a group of each protocol.

    After the block the groups read the remaining records, and all members leave. Then every rule
    is checked, for journals, written records and committed offsets.
    """
    cluster = Cluster(kafka)
    await cluster.heal()
    await create_topic(cluster.address, topic, partitions=PARTITIONS)
    stage = Stage(cluster, topic, await _groups(cluster, topic, folder, protocols))
    producing = asyncio.create_task(stage.produce(), name="producer")
    watching = [
        asyncio.create_task(stage.watch(group), name=f"watcher of the {group!r}")
        for group in stage.groups
    ]
    try:
        yield stage
        stage.end_of_records.set()
        await producing
        acked = stage.acked()
        for group in stage.groups:
            await group.processed(acked)
            await group.leave(list(group.members))
        for watcher in watching:
            if watcher.done():
                await watcher  # raises the error that ended it
    except Exception as error:
        error.add_note("\n".join(stage.complaints()))
        raise
    finally:
        await _end([producing, *watching], stage.groups)
    complaints = stage.complaints()
    for group in stage.groups:
        complaints += await _complaints_in_the_end(stage, group)
    assert not complaints, "\n".join([*complaints, stage.report()])
    await delete_topic(cluster.address, topic)


async def _timely_committed(
    watcher: AIOKafkaConsumer[bytes, bytes], tp: TopicPartition
) -> int | None:
    """Return what is committed. Raises: AssertionError if that takes longer than its bound."""
    began_s = SYSTEM_CLOCK.monotonic()
    try:
        return await watcher.committed(tp)
    finally:
        taken_s = SYSTEM_CLOCK.monotonic() - began_s
        assert taken_s < API_TIMEOUT_MS / 1000 + WATCHERS_SLACK_S, f"committed() took {taken_s} s"


async def _groups(
    cluster: Cluster, topic: str, folder: Path, protocols: Sequence[str]
) -> list[Group]:
    """Return groups with the same coordinator."""
    made: list[Group] = []
    async with connected(cluster.address) as client:
        node_id = await coordinator_of(client, f"{topic}-0")
        numbers = (
            number
            for number in itertools.count()
            if number == 0 or await coordinator_of(client, f"{topic}-{number}") == node_id
        )
        async for number in numbers:
            protocol = protocols[len(made)]
            made.append(
                Group(f"{topic}-{number}", cluster.address, topic, folder / protocol, protocol)
            )
            if len(made) == len(protocols):
                break
    return made


async def _end(tasks: list[asyncio.Task[None]], groups: list[Group]) -> None:
    """End all tasks and members of the stage, also after a failure."""
    for member in [member for group in groups for member in group.members]:
        if isinstance(member, ProcessMember):
            if member.process.returncode is None:
                member.kill()
                await member.process.wait()
        else:
            tasks.append(member.task)
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            logger.error("a task of the stage failed", exc_info=ended)


async def _complaints_in_the_end(stage: Stage, group: Group) -> list[str]:
    group.complaints.clear()
    await stage.watch(group, is_once=True)
    events = group.history.refresh()
    complaints = [*group.complaints, *oracle.unprocessed(events, stage.acked())]
    processed = oracle.reach(events)
    if group.committed != processed:
        complaints.append(f"{processed} was processed, and {group.committed} is committed")
    seen = await group.committed_as_confluent_sees_it()
    if group.committed != seen:
        complaints.append(f"confluent-kafka sees {seen} as committed, ours {group.committed}")
    group.figures["longest pause"] = oracle.longest_pause(events)
    stops = [float(event.details[0]) for event in events if event.word == "stopped"]
    group.figures["slowest stop"] = max(stops)
    assert max(stops) < STOP_MS / 1000 + 2, stops
    return [f"{group!r}: {each}" for each in complaints]
