"""What may happen to a producer, as data, and the run that lets it happen.

A schedule is a list of steps; `play` goes through them with a producer and an embedded cluster in a
simulation, then lets everything settle, and returns the story: of each record what its sender was
told, and what is in the logs. Judging that is the tests' work.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import BrokerResponseError, KafkaError
from aiokafka_lite.model import RecordMetadata, TopicPartition
from aiokafka_lite.producer.accumulator.sequence_numbers import _PartitionSequence
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import VirtualNetwork

TOPIC = "orders"
NODES = 3
REQUEST_TIMEOUT_MS = 1000
DELIVERY_TIMEOUT_MS = 4000
MAX_BLOCK_MS = 3000


# Steps…


class Send(NamedTuple):
    """Records, one after the other, for one partition."""

    partition: int
    records: int


class Wait(NamedTuple):
    """Time goes on."""

    ms: int


class Flush(NamedTuple):
    """flush(), to its end."""


class Latency(NamedTuple):
    """Bytes take this long one way, from now on: above the request timeout they arrive when
    nobody waits for them any more."""

    ms: int


class Drop(NamedTuple):
    """The next requests are done, but never answered."""

    times: int


class Cut(NamedTuple):
    """The next request is done; its connection breaks in the middle of the answer."""

    after_bytes: int


class Delay(NamedTuple):
    """The next request is done at once, and answered late."""

    ms: int


class Stall(NamedTuple):
    """The next request is looked at only after `Release`."""


class Release(NamedTuple):
    """Stalled requests go on."""


class Fail(NamedTuple):
    """The next requests are refused."""

    error: type[BrokerResponseError]
    times: int
    partition: int


class MoveLeader(NamedTuple):
    """Another node leads."""

    partition: int
    node: int


class StopNode(NamedTuple):
    """A node dies; others lead."""

    node: int


class StartNode(NamedTuple):
    """It comes back."""

    node: int


class Disconnect(NamedTuple):
    """Every connection to a node breaks."""

    node: int


class Truncate(NamedTuple):
    """An election loses the newest records, and what the brokers knew of the producer with them."""

    partition: int
    records: int


class Forget(NamedTuple):
    """The brokers forget the producer, as after a long silence."""

    partition: int


Step = (
    Send
    | Wait
    | Flush
    | Latency
    | Drop
    | Cut
    | Delay
    | Stall
    | Release
    | Fail
    | MoveLeader
    | StopNode
    | StartNode
    | Disconnect
    | Truncate
    | Forget
)


class Options(NamedTuple):
    """How the producer is set up."""

    max_in_flight: int = 5
    linger_ms: int = 0
    buffer_memory: int = 33_554_432
    epoch: int = 0
    """Of the producer id at first: beyond 32767 comes another id."""
    sequence: int = 0
    """Of each partition at first: after 2^31-1 comes 0."""
    seed: int = 0
    """Of the random choices that the producer and the brokers make."""


@dataclass(slots=True)
class Sent:
    """A record, and what its sender was told."""

    number: int
    partition: int
    sent_at_s: float = 0.0
    accepted_at_s: float | None = None
    metadata: RecordMetadata | None = None
    error: Exception | None = None
    told_at_s: float | None = None

    @property
    def value(self) -> bytes:
        return b"%04d" % self.number


@dataclass(slots=True)
class Story:
    """Everything that came of a schedule."""

    sent: list[Sent] = field(default_factory=list)
    logs: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    """Partition -> (offset, record's number), in the order of the log."""
    lost: set[int] = field(default_factory=set)
    """Records that were in the log and were truncated."""

    def __str__(self) -> str:
        lines = [
            f"{record.number:4} partition {record.partition} at {record.sent_at_s:.3f} s: "
            + (
                f"offset {record.metadata.offset}"
                if record.metadata is not None
                else f"{record.error!r}"
            )
            + f", told at {record.told_at_s} s"
            for record in self.sent
        ]
        lines += [f"log {partition}: {log}" for partition, log in self.logs.items()]
        return "\n".join(lines)


class HurtCluster:
    """A cluster, and the steps of a schedule that hurt its nodes and its network."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        clock: FakeClock,
        network: VirtualNetwork,
        partitions: int,
    ) -> None:
        self.broker = broker
        self.clock = clock
        self.network = network
        self.partitions = partitions
        self.alive = set(range(1, NODES + 1))

    def hurt(self, step: Latency | StopNode | StartNode | Disconnect | MoveLeader) -> None:
        """Let one step happen, if it can."""
        match step:
            case Latency(ms):
                self.network.latency_s = ms / 1000
            case StopNode(node) if node in self.alive:
                self.alive.discard(node)
                self.broker.stop_node(node)
            case StartNode(node) if node not in self.alive:
                self.alive.add(node)
                self.broker.start_node(node)
            case Disconnect(node):
                self.broker.drop_connections(node)
            case MoveLeader(partition, node) if node in self.alive:
                self.broker.move_leader((TOPIC, partition % self.partitions), node)

    async def heal(self) -> None:
        """End all trouble, and wait until late answers have arrived."""
        self.broker.faults.clear()
        is_slow = self.network.latency_s > 0
        self.network.latency_s = 0.0
        for node in range(1, NODES + 1):
            self.hurt(StartNode(node))
        if is_slow:
            await self.clock.sleep(4.0)


class Play(HurtCluster):
    """One run of a schedule."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        producer: AIOKafkaProducer,
        clock: FakeClock,
        network: VirtualNetwork,
        partitions: int,
    ) -> None:
        super().__init__(broker, clock, network, partitions)
        self.producer = producer
        self.story = Story()
        self.queues: dict[int, asyncio.Queue[Sent]] = {
            n: asyncio.Queue() for n in range(partitions)
        }
        self.waiting: list[asyncio.Task[None]] = []

    # What the user does…

    def send(self, partition: int) -> None:
        """Have one more record sent, after those before it; its fate goes into the story."""
        record = Sent(len(self.story.sent), partition)
        self.story.sent.append(record)
        self.queues[partition].put_nowait(record)

    async def _send_all(self, partition: int) -> None:
        """Send the records of a partition in their order, as one task of a user does."""
        queue = self.queues[partition]
        while True:
            record = await queue.get()
            record.sent_at_s = self.clock.monotonic()
            try:
                ack = await self.producer.send(TOPIC, record.value, partition=partition)
            except KafkaError as error:
                self._told(record, error=error)
            else:
                record.accepted_at_s = self.clock.monotonic()
                self.waiting.append(asyncio.create_task(self._wait(record, ack)))
            queue.task_done()

    async def _wait(self, record: Sent, ack: RecordAck) -> None:
        try:
            self._told(record, metadata=await ack)
        except KafkaError as error:
            self._told(record, error=error)

    def _told(
        self,
        record: Sent,
        *,
        metadata: RecordMetadata | None = None,
        error: KafkaError | None = None,
    ) -> None:
        record.metadata, record.error = metadata, error
        record.told_at_s = self.clock.monotonic()

    @asynccontextmanager
    async def sending_all(self) -> AsyncIterator[None]:
        """Send what the block wants sent, and wait until every sender knows what came of it."""
        senders = [asyncio.create_task(self._send_all(partition)) for partition in self.queues]
        try:
            yield
            for queue in self.queues.values():
                await queue.join()
            await asyncio.gather(*self.waiting)
        finally:
            for task in (*senders, *self.waiting):
                task.cancel()

    # What happens…

    async def step(self, step: Step) -> None:
        """Let one step happen."""
        match step:
            case Send(partition, records):
                for _ in range(records):
                    self.send(partition % self.partitions)
                await asyncio.sleep(0)
            case Wait(ms):
                await self.clock.sleep(ms / 1000)
            case Flush():
                with suppress(KafkaError):
                    await self.producer.flush()
            case Truncate(partition, records):
                self._truncate(partition, records)
            case Forget(partition):
                self._forget(partition)
            case Latency() | StopNode() | StartNode() | Disconnect() | MoveLeader():
                self.hurt(step)
            case _:
                self._arm(step)

    def _arm(self, step: Step) -> None:
        faults = self.broker.faults
        match step:
            case Drop(times):
                faults.drop(ProduceRequest, times)
            case Cut(after_bytes):
                faults.cut(ProduceRequest, after_bytes)
            case Delay(ms):
                faults.delay(ProduceRequest, ms / 1000)
            case Stall():
                faults.stall(ProduceRequest)
            case Release():
                faults.release()
            case Fail(error, times, partition):
                where = (TOPIC, partition % self.partitions)
                faults.fail(ProduceRequest, error, times, topic_partition=where)

    def _truncate(self, partition: int, records: int) -> None:
        state = self.broker.cluster.partition(TopicPartition(TOPIC, partition % self.partitions))
        before = self.log(state.topic_partition.partition)
        state.truncate(max(0, state.log.log_end_offset - records))
        kept = dict(self.log(state.topic_partition.partition))
        self.story.lost |= {number for offset, number in before if offset not in kept}
        self._forget(partition)
        state.lead(state.leader)

    def _forget(self, partition: int) -> None:
        state = self.broker.cluster.partition(TopicPartition(TOPIC, partition % self.partitions))
        sequences = self.producer._engine.sender._sequences
        assert sequences is not None
        state.producers.forget(sequences.producer.producer_id)

    def log(self, partition: int) -> list[tuple[int, int]]:
        """Return (offset, number) of each record in a log."""
        return [
            (record.offset, int(record.value or b"-1"))
            for record in self.broker.log((TOPIC, partition)).records()
        ]


async def play(
    clock: FakeClock,
    network: VirtualNetwork,
    *,
    schedule: Sequence[Step],
    options: Options = Options(),  # noqa: B008  immutable
    partitions: int = 2,
) -> Story:
    """Let a schedule happen to an idempotent producer; at the end each partition gets one more
    record, when nothing stands in its way any more.
    """
    rng = random.Random(options.seed)
    async with EmbeddedBroker(NODES, clock=clock, max_logged_requests=0, rng=rng) as broker:
        broker.create_topic(TOPIC, partitions=partitions)
        async with AIOKafkaProducer(
            **producer_options(broker, clock, options.seed),
            max_in_flight_requests_per_connection=options.max_in_flight,
            linger_ms=options.linger_ms,
            buffer_memory=options.buffer_memory,
        ) as producer:
            await _begin_at(producer, options, partitions)
            run = Play(broker, producer, clock, network, partitions)
            async with run.sending_all():
                for step in schedule:
                    await run.step(step)
                await run.heal()
                for partition in range(partitions):
                    run.send(partition)
            assert producer._engine.sender._accumulator._pool.used_bytes == 0
            assert not producer._engine.sender._accumulator.incomplete
        run.story.logs = {partition: run.log(partition) for partition in range(partitions)}
    return run.story


def producer_options(broker: EmbeddedBroker, clock: FakeClock, seed: int) -> dict[str, Any]:
    """Return the options of every producer of a schedule: small batches, short times.

    `seed` decides what is random in the producer: sticky partitions, backoffs, the choice of nodes.
    """
    return {
        "bootstrap_servers": broker.bootstrap_servers,
        "clock": clock,
        "rng": random.Random(seed),
        "max_batch_size": 100,
        "client_id": "p",  # errors name it, and a number of its own would differ in each play
        "request_timeout_ms": REQUEST_TIMEOUT_MS,
        "delivery_timeout_ms": DELIVERY_TIMEOUT_MS,
        "max_block_ms": MAX_BLOCK_MS,
        "retry_backoff_ms": 20,
        "retry_backoff_max_ms": 200,
        "reconnect_backoff_ms": 20,
        "reconnect_backoff_max_ms": 200,
    }


async def _begin_at(producer: AIOKafkaProducer, options: Options, partitions: int) -> None:
    """Give the producer the past that `options` ask for."""
    if not options.epoch and not options.sequence:
        return
    sequences = producer._engine.sender._sequences
    assert sequences is not None
    assert await producer._engine.sender._init_producer_id() is None
    sequences.set_producer(sequences.producer.producer_id, options.epoch)
    for partition in range(partitions):
        state = sequences._partitions[TopicPartition(TOPIC, partition)] = _PartitionSequence()
        state.producer = sequences.producer
        state.next_sequence = options.sequence


__all__ = [
    "DELIVERY_TIMEOUT_MS",
    "MAX_BLOCK_MS",
    "NODES",
    "TOPIC",
    "Cut",
    "Delay",
    "Disconnect",
    "Drop",
    "Fail",
    "Flush",
    "Forget",
    "HurtCluster",
    "Latency",
    "MoveLeader",
    "Options",
    "Play",
    "Release",
    "Send",
    "Sent",
    "Stall",
    "StartNode",
    "Step",
    "StopNode",
    "Story",
    "Truncate",
    "Wait",
    "play",
    "producer_options",
]
