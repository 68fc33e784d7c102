"""A member with share workers in the tests of faults: its journal says what became of each record.

It is a process that a test can kill: `python -m tests.faults.share_worker ORDERS`. SIGTERM stops
the workers in order. `share_oracle` reads the journal.
"""

import asyncio
import random
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiokafka_lite import AcknowledgeType, AIOKafkaShareConsumer, ConsumerRecord, ShareWorkers
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.share.held_locks import Place
from aiokafka_lite.share.pending_acknowledgements import AckGroup, Outcome
from tests.faults import worker_process
from tests.faults.group_worker import Journal

CONCURRENCY = 16
LONGEST_S = 0.05
LONG_S = 8.0
"""Longer than a lock, which has to be renewed."""
LONG_ONES = 211
"""One record of so many takes long."""
FAILS_AT_FIRST = 31
"""The first delivery of one record of so many fails."""
REQUEST_TIMEOUT_MS = 5000
API_TIMEOUT_MS = 120_000
"""A busy machine has no coordinator for a minute after one was killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The orders for one member."""

    journal: str
    bootstrap_servers: str
    topic: str
    group_id: str
    is_on_uvloop: bool


class Member:
    """One life in a share group."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._journal = Journal(Path(orders.journal))
        self._rng = random.Random(orders.journal)

    async def live(self) -> None:
        """Handle records until SIGTERM, and leave in order."""
        orders = self._orders
        consumer = AIOKafkaShareConsumer[bytes, bytes](
            orders.topic,
            bootstrap_servers=orders.bootstrap_servers,
            group_id=orders.group_id,
            share_acknowledgement_mode="explicit",
            share_acquire_mode="record_limit",
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            default_api_timeout_ms=API_TIMEOUT_MS,
            fetch_max_wait_ms=200,
        )
        workers = ShareWorkers(
            consumer,
            self.handle,
            concurrency=CONCURRENCY,
            max_records=64,
            drain_timeout_ms=2000,
            retry_backoff_ms=50,
        )
        self._listen(workers)
        workers.stop_on_signals()
        async with workers:
            self._journal.note("ready")
            await workers.run()
        self._journal.note("stopped")

    def _listen(self, workers: ShareWorkers[bytes, bytes]) -> None:
        """Note what the workers hear of their locks and acknowledgements."""
        outcomes = workers._engine.outcomes
        lost, answered = outcomes.locks_lost, outcomes.answered

        def locks_lost(places: Collection[Place]) -> None:
            for tp, offset in places:
                self._journal.note("lost", tp.partition, offset)
            lost(places)

        def told(group: AckGroup, outcome: Outcome) -> None:
            for tp, batches in group.batches.items():
                for batch in batches:
                    for index, kind in enumerate(batch.types):
                        self._told(tp, batch.first + index, kind, outcome.get(tp))
            answered(group, outcome)

        outcomes.locks_lost = locks_lost  # type: ignore[method-assign]
        outcomes.answered = told  # type: ignore[method-assign]

    def _told(
        self, tp: TopicPartition, offset: int, kind: int, error: BaseException | None
    ) -> None:
        if kind not in (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE):
            return
        word = "accepted" if kind == AcknowledgeType.ACCEPT else "released"
        if error is None:
            self._journal.note(word, tp.partition, offset)
        else:
            self._journal.note("refused", tp.partition, offset, type(error).__name__)

    async def handle(self, record: ConsumerRecord[Any, Any]) -> None:
        """Take some time, and fail now and then."""
        number, place = int(record.value or b""), (record.partition, record.offset)
        self._journal.note("began", *place, record.delivery_count)
        if number % FAILS_AT_FIRST == 0 and record.delivery_count == 1:
            raise OSError(number)
        is_long = number % LONG_ONES == 0 and record.delivery_count <= 2
        await asyncio.sleep(LONG_S if is_long else self._rng.uniform(0, LONGEST_S))
        self._journal.note("ended", *place)


if __name__ == "__main__":
    worker_process.run(Orders, lambda orders, _: Member(orders).live())
