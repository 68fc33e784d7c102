"""The main job: sends a data set through the producer, reads it back by `getmany()`, and checks it.

Owns no broker and prints nothing. It takes an address and rows, reports progress to a callback, and
returns a result. A running digest per key checks order and loss. So memory does not grow with the
data.
"""

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import anyio
from anyio.lowlevel import checkpoint

from aiokafka_lite import admin
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.producer.producer import AIOKafkaProducer

Record = ConsumerRecord[bytes, bytes]

POLL_TIMEOUT_MS = 1000
SILENCE_TIMEOUT_S = 30.0
PROGRESS_EVERY = 1000


class DemoProgress(Protocol):
    """Receives each side's progress in records, about once per thousand."""

    def produced(self, records: int) -> None: ...

    def consumed(self, records: int) -> None: ...


@dataclass(slots=True)
class KeyLedger:
    """The records of one key: their number, bytes, partitions, and their order as a digest."""

    records: int = 0
    value_bytes: int = 0
    partitions: set[int] = field(default_factory=set)
    digest: hashlib.blake2b = field(default_factory=lambda: hashlib.blake2b(digest_size=16))

    def add(self, value: bytes) -> None:
        """Count `value` as the next of its key."""
        self.records += 1
        self.value_bytes += len(value)
        self.digest.update(len(value).to_bytes(4))
        self.digest.update(value)


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The result. `problems` is empty when every record came back, in order per key."""

    topic: str
    sent: dict[bytes, KeyLedger]
    received: dict[bytes, KeyLedger]
    produce_s: float
    total_s: float

    @property
    def records(self) -> int:
        """How many records were sent."""
        return sum(ledger.records for ledger in self.sent.values())

    @property
    def value_bytes(self) -> int:
        """The bytes of all values sent."""
        return sum(ledger.value_bytes for ledger in self.sent.values())

    def problems(self) -> list[str]:
        """One sentence for each key whose records are missing, repeated or in another order."""
        nothing = KeyLedger()
        found = []
        for key in sorted(self.sent.keys() | self.received.keys()):
            sent, received = self.sent.get(key, nothing), self.received.get(key, nothing)
            if sent.records != received.records:
                found.append(f"key {key!r}: {sent.records} sent, {received.records} received")
            elif sent.digest.digest() != received.digest.digest():
                found.append(f"key {key!r}: {sent.records} records came back in another order")
        return found


async def run_demo(
    bootstrap_servers: str,
    rows: Iterable[tuple[bytes, bytes]],
    *,
    partitions: int,
    progress: DemoProgress,
    clock: Clock = SYSTEM_CLOCK,
) -> DemoResult:
    """Send `rows` to a temporary topic, read them back at the same time, and compare per key.

    Raises: as the clients; TimeoutError if no record came for 30 s although some are missing.
    """
    topic = f"aiokafka-lite-demo-{secrets.token_hex(4)}"
    demo = _Demo(bootstrap_servers, topic, progress, clock)
    async with admin.AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers) as client:
        created = await client.create_topics([admin.NewTopic(topic, partitions)])
        created.topics.raise_first()
        try:
            started = clock.monotonic()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(demo.produce, rows)
                tasks.start_soon(demo.consume)
            assert demo.produce_s is not None
            total_s = clock.monotonic() - started
            return DemoResult(topic, demo.sent, demo.received, demo.produce_s, total_s)
        finally:
            with anyio.CancelScope(shield=True):
                (await client.delete_topics([topic])).topics.raise_first()


@dataclass(slots=True)
class _Demo:
    """The producer and the consumer of one run, and their shared state."""

    bootstrap_servers: str
    topic: str
    progress: DemoProgress
    clock: Clock
    sent: dict[bytes, KeyLedger] = field(default_factory=dict)
    received: dict[bytes, KeyLedger] = field(default_factory=dict)
    sent_records: int = 0
    produce_s: float | None = None
    """Set once all records are sent and acknowledged."""

    async def produce(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        started = self.clock.monotonic()
        async with AIOKafkaProducer(bootstrap_servers=self.bootstrap_servers) as producer:
            for key, value in rows:
                await producer.send(self.topic, value, key)
                self.sent.setdefault(key, KeyLedger()).add(value)
                self.sent_records += 1
                if self.sent_records % PROGRESS_EVERY == 0:
                    self.progress.produced(self.sent_records)
                    # A send with room does not wait, so this lets the consumer run.
                    await checkpoint()
            await producer.flush()
        self.produce_s = self.clock.monotonic() - started
        self.progress.produced(self.sent_records)

    async def consume(self) -> None:
        count, last_heard = 0, self.clock.monotonic()
        async with AIOKafkaConsumer(
            self.topic, bootstrap_servers=self.bootstrap_servers, auto_offset_reset="earliest"
        ) as consumer:
            while self.produce_s is None or count < self.sent_records:
                polled = await consumer.getmany(timeout_ms=POLL_TIMEOUT_MS)
                for partition, records in polled.items():
                    self._enter(partition.partition, records)
                    count += len(records)
                if polled:
                    last_heard = self.clock.monotonic()
                    self.progress.consumed(count)
                elif self.produce_s is not None:
                    self._check_silence(count, self.clock.monotonic() - last_heard)

    def _enter(self, partition: int, records: Iterable[Record]) -> None:
        for record in records:
            ledger = self.received.setdefault(record.key or b"", KeyLedger())
            ledger.add(record.value or b"")
            ledger.partitions.add(partition)

    def _check_silence(self, count: int, silent_s: float) -> None:
        if silent_s > SILENCE_TIMEOUT_S:
            raise TimeoutError(
                f"{self.sent_records - count} of {self.sent_records} records did not come back "
                f"from topic {self.topic}: none came for {SILENCE_TIMEOUT_S:.0f} s"
            )


__all__ = ["DemoProgress", "DemoResult", "KeyLedger", "run_demo"]
