"""The parts of the tests of producers under faults, on a real Kafka with three nodes.

They are producers that send all the time and note their acks, and the log as another client reads
it. `producer_fault_scenarios` plays the faults. `producer_oracle` judges what was written.
"""

import asyncio
import functools
import itertools
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import confluent_kafka

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from aiokafka_lite.testing.kafka_node import KafkaNode
from tests.faults import producer_oracle as oracle
from tests.faults.group_faults import GROUP_PROPERTIES, Cluster, eventually
from tests.faults.producer_oracle import Sent
from tests.support.topics import create_topic, delete_topic
from tests.support.unreliable_network import ProxiedKafka

PARTITIONS = 6
RACKS = ("r1", "r2", "r3")
RECORDS_PER_S = 500
TICK_S = 0.01
REQUEST_TIMEOUT_MS = 3000
DELIVERY_TIMEOUT_MS = 30_000
STOP_MS = 30_000
SLACK_S = 2.0  # a busy machine may add this to the bound of a call, beyond the measured lag
STEADY_S = 1.0
READ_TIMEOUT_S = 45.0

logger = logging.getLogger(__name__)


def three_nodes(version: str = DEFAULT_VERSION) -> ProxiedKafka:
    """Return a cluster with the settings that the scenarios need.

    It soon aborts a transaction that has timed out. Each node is in a rack of its own, and a client
    that names its rack may read from followers.
    """
    properties = {
        **GROUP_PROPERTIES,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
    }
    return ProxiedKafka(version, nodes=3, properties=properties, racks=RACKS)


def note_outcome(record: Sent, ack: RecordAck) -> None:
    """Note the outcome of a record. Its ack calls this."""
    record.done_s = SYSTEM_CLOCK.monotonic()
    record.error = ack.exception()
    if record.error is None:
        record.offset = ack.result().offset


class Lag:
    """Measures how long the machine has kept the event loop from running."""

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            until_s = SYSTEM_CLOCK.monotonic() + TICK_S
            await asyncio.sleep(TICK_S)
            self.longest_s = max(self.longest_s, SYSTEM_CLOCK.monotonic() - until_s)


class Writer:
    """A producer that sends numbers all the time, to each partition of its own topic in turn."""

    def __init__(self, topic: str, address: str, lag: Lag, **options: Any) -> None:
        self.topic = topic
        self.lag = lag
        self.sent: list[Sent] = []
        self.stop_took_s = 0.0
        self._options = {
            "bootstrap_servers": address,
            "request_timeout_ms": REQUEST_TIMEOUT_MS,
            "delivery_timeout_ms": DELIVERY_TIMEOUT_MS,
            **options,
        }
        self._end = asyncio.Event()

    @property
    def delivery_timeout_s(self) -> float:
        """The producer's `delivery_timeout_ms`, in seconds."""
        return float(self._options["delivery_timeout_ms"]) / 1000

    def end_soon(self) -> None:
        """Stop sending."""
        self._end.set()

    async def write(self) -> None:
        """Send until the end, then stop the producer and measure how long that takes."""
        producer = AIOKafkaProducer(**self._options)
        await producer.start()
        try:
            await self._send(producer)
        finally:
            began_s = SYSTEM_CLOCK.monotonic()
            await producer.stop(STOP_MS)
            self.stop_took_s = SYSTEM_CLOCK.monotonic() - began_s

    async def _send(self, producer: AIOKafkaProducer) -> None:
        numbers = itertools.count()
        while not self._end.is_set():
            for number in itertools.islice(numbers, round(RECORDS_PER_S * TICK_S)):
                record = Sent(number, number % PARTITIONS, SYSTEM_CLOCK.monotonic())
                value = b"%d" % number
                if number % 3 == 0:
                    value += b" " * 600  # large: its batch refers to it
                ack = await producer.send(self.topic, value, partition=record.partition)
                self.sent.append(record)
                ack.add_done_callback(functools.partial(note_outcome, record))
            await asyncio.sleep(TICK_S)

    async def resumed(self, since_s: float | None = None) -> float:
        """Return how long after that moment every partition had an ack of a later record."""
        moment_s = SYSTEM_CLOCK.monotonic() if since_s is None else since_s
        await eventually(
            f"{self.topic} goes on with every partition",
            lambda: oracle.seconds_to_resume(self.sent, moment_s, PARTITIONS),
        )
        taken_s = oracle.seconds_to_resume(self.sent, moment_s, PARTITIONS)
        assert taken_s is not None
        return taken_s

    def figures(self) -> dict[str, float]:
        """Return the measured times, in seconds."""
        return {
            "longest ack gap": oracle.longest_gap(self.sent),
            "slowest ack": oracle.slowest_ack(self.sent),
            "stop()": self.stop_took_s,
        }

    def failed(self) -> list[Sent]:
        """Return the records that were not acknowledged."""
        return [each for each in self.sent if each.error is not None]

    def complaints(self, log: oracle.Log) -> list[str]:
        """Return the broken rules. Call it after the writer has stopped."""
        slack_s = SLACK_S + self.lag.longest_s
        found = oracle.all_complaints(self.sent, log, self.delivery_timeout_s + slack_s)
        if self.stop_took_s > STOP_MS / 1000 + slack_s:
            found.append(f"stop() took {self.stop_took_s:.2f} s")
        return found


def read_log(address: str, topic: str, isolation: str = "read_committed") -> oracle.Log:
    """Read a topic of numbers to its end, with another client. Blocks."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": address,
            "group.id": "readers of whole topics",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": isolation,
            "log_level": 0,
        }
    )
    log: dict[int, dict[int, int]] = {partition: {} for partition in range(PARTITIONS)}
    left = set(log)
    give_up_s = SYSTEM_CLOCK.monotonic() + READ_TIMEOUT_S
    try:
        consumer.assign([confluent_kafka.TopicPartition(topic, each, 0) for each in log])
        while left:
            assert SYSTEM_CLOCK.monotonic() < give_up_s, f"{topic}: partitions {left} have no end"
            for message in consumer.consume(1000, timeout=0.5):
                partition, error = message.partition(), message.error()
                assert partition is not None
                if error is None:
                    log[partition][message.offset() or 0] = int(message.value() or b"")
                elif error.code() == confluent_kafka.KafkaError._PARTITION_EOF:
                    left.discard(partition)
    finally:
        consumer.close()
    return log


@dataclass
class Stage:
    """Where a scenario plays: a cluster, and writers with topics of their own."""

    cluster: Cluster
    kafka: ProxiedKafka
    topic: str
    writers: list[Writer] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)
    longest_gap_s: float = 0.0
    """The longest time in which a partition of any writer had no ack; set at the end."""
    back_after_s: float = 0.0
    """The longest time from a fault until all writers made progress."""
    tally: oracle.Tally = field(default_factory=oracle.Tally)
    notes: list[str] = field(default_factory=list)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    lag: Lag = field(default_factory=Lag)

    async def writer(self, name: str = "steady", address: str = "", **options: Any) -> Writer:
        """Start a writer; return when it writes to every partition."""
        topic = f"{self.topic}-{name}"
        await create_topic(self.cluster.address, topic, partitions=PARTITIONS)
        writer = Writer(topic, address or self.cluster.address, self.lag, **options)
        self.writers.append(writer)
        self.tasks.append(asyncio.create_task(writer.write(), name=f"writer of {topic}"))
        await writer.resumed()
        await asyncio.sleep(STEADY_S)
        return writer

    def back_after(self, fault: str, seconds: float) -> None:
        """Keep the seconds until all writers made progress; of several calls, the largest."""
        self.figures[fault] = max(seconds, self.figures.get(fault, 0.0))
        self.back_after_s = max(seconds, self.back_after_s)

    async def leader_of(self, writer: Writer) -> KafkaNode:
        """Return the node that leads the first partition."""
        leader = (await self.cluster.leaders(writer.topic))[0]
        assert leader is not None
        return self.cluster.node(leader)

    async def end(self) -> None:
        """Let all writers stop, and judge what they wrote."""
        for writer in self.writers:
            writer.end_soon()
        await asyncio.gather(*self.tasks)
        complaints = []
        for writer in self.writers:
            log = await asyncio.to_thread(read_log, self.cluster.address, writer.topic)
            complaints += [f"{writer.topic}: {each}" for each in writer.complaints(log)]
            self.tally += oracle.tally(writer.sent, log)
            self.longest_gap_s = max(self.longest_gap_s, oracle.longest_gap(writer.sent))
            name = writer.topic.removeprefix(f"{self.topic}-")
            self.figures |= {f"{name}: {what}": s for what, s in writer.figures().items()}
            self.notes.append(f"{name}: {len(writer.failed())} of {len(writer.sent)} failed")
            await delete_topic(self.cluster.address, writer.topic)
        self.figures["longest lag of the machine"] = self.lag.longest_s
        assert not complaints, "\n".join([*complaints[:40], self.report()])

    def report(self) -> str:
        """Return the figures in one line."""
        return ", ".join([*self.notes, *(f"{what} {s:.2f} s" for what, s in self.figures.items())])


@asynccontextmanager
async def stage(kafka: ProxiedKafka, topic: str) -> AsyncIterator[Stage]:
    """Provide a stage for one scenario. After the block the writers stop; every rule is checked."""
    cluster = Cluster(kafka)
    await cluster.heal()
    stage = Stage(cluster, kafka, topic)
    watching = asyncio.create_task(stage.lag.watch(), name="watch of the event loop")
    try:
        yield stage
        await stage.end()
    finally:
        await end_all([*stage.tasks, watching])


async def end_all(tasks: Iterable[asyncio.Task[None]]) -> None:
    """End all tasks of the stage, also after a failure."""
    tasks = [task for task in tasks if not task.done()]
    for task in tasks:
        task.cancel()
    for ended in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(ended, Exception):
            logger.error("a task of the stage failed", exc_info=ended)
