"""A member with keyed workers in the tests of faults: its handlers write to its journal.

It is a process that a test can kill: `python -m tests.faults.workers_worker ORDERS`. SIGTERM stops
the workers in order. `workers_oracle` reads the journal.
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    ConsumerRecord,
    CooperativeStickyAssignor,
    DeadLetters,
    KeyedWorkers,
    TopicPartition,
)
from tests.faults import worker_process
from tests.faults.group_worker import Journal

SESSION_MS = 4000
CONCURRENCY = 16
LONGEST_S = 0.05
FAILS_AT_FIRST = 31
"""One record of so many fails at its first attempt."""
FAILS_FOR_GOOD = 199
"""One record of so many goes to the dead letters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The orders for one member."""

    journal: str
    bootstrap_servers: str
    topic: str
    dead_topic: str
    group_id: str
    is_cooperative: bool
    is_on_uvloop: bool


class ApplicationError(Exception):
    """What a handler raises."""


class NotingConsumer(AIOKafkaConsumer[bytes, bytes]):
    """Notes each commit that was stored."""

    journal: Journal

    async def commit(self, offsets: Any = None) -> None:
        await super().commit(offsets)
        stored = [f"{tp.partition}@{each.offset}@{each.metadata}" for tp, each in offsets.items()]
        self.journal.note("committed", ",".join(stored))


@dataclass(frozen=True)
class NotingLetters(DeadLetters):
    """Notes each dead letter that was stored."""

    journal: Journal

    async def _send(
        self, record: ConsumerRecord[Any, Any], error: BaseException, **origin: Any
    ) -> None:
        await super()._send(record, error, **origin)
        _note(self.journal, "dead", record)


class Member(ConsumerRebalanceListener):
    """One life in a group."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._journal = Journal(Path(orders.journal))
        self._attempts: Counter[int] = Counter()
        self._rng = random.Random(orders.journal)

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self._journal.note("assigned", _names(assigned))

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self._journal.note("revoked", _names(revoked))

    def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self._journal.note("lost", _names(lost))

    async def live(self) -> None:
        """Handle records until SIGTERM, and leave in order."""
        orders, consumer = self._orders, self._consumer()
        consumer.journal = self._journal
        consumer.subscribe([orders.topic], listener=self)
        async with AIOKafkaProducer(bootstrap_servers=orders.bootstrap_servers) as producer:
            workers = KeyedWorkers(
                consumer,
                self.handle,
                concurrency=CONCURRENCY,
                max_records=400,
                commit_interval_ms=500,
                drain_timeout_ms=2000,
                retries=1,
                retry_backoff_ms=50,
                dead_letters=NotingLetters(producer, orders.dead_topic, self._journal),
            )
            workers.stop_on_signals()
            async with workers:
                await workers.run()
        self._journal.note("stopped")

    def _consumer(self) -> NotingConsumer:
        orders = self._orders
        return NotingConsumer(
            bootstrap_servers=orders.bootstrap_servers,
            group_id=orders.group_id,
            auto_offset_reset="earliest",
            partition_assignment_strategy=(
                [CooperativeStickyAssignor] if orders.is_cooperative else None
            ),
            enable_auto_commit=False,
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=300,
        )

    async def handle(self, record: ConsumerRecord[bytes, bytes]) -> None:
        """Take some time, and fail now and then."""
        number = int(record.value or b"")
        self._attempts[number] += 1
        _note(self._journal, "began", record)
        try:
            await asyncio.sleep(self._rng.uniform(0, LONGEST_S))
            self._check(number)
        except BaseException:
            _note(self._journal, "gave-up", record)
            raise
        _note(self._journal, "ended", record)

    def _check(self, number: int) -> None:
        fails_now = number % FAILS_AT_FIRST == 0 and self._attempts[number] == 1
        if fails_now or number % FAILS_FOR_GOOD == 0:
            raise ApplicationError(number)


def _note(journal: Journal, word: str, record: ConsumerRecord[Any, Any]) -> None:
    journal.note(word, record.partition, record.offset)


def _names(partitions: set[TopicPartition]) -> str:
    return ",".join(str(tp.partition) for tp in sorted(partitions))


if __name__ == "__main__":
    worker_process.run(Orders, lambda orders, _: Member(orders).live())
