"""A service that copies a topic exactly once. It kills itself in a transaction, or a test kills it.

`python -m tests.faults.exactly_once_worker ORDERS` starts it, and SIGTERM stops it in order. Its
journal notes what it did. `producer_oracle` judges what it wrote.
"""

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, ExactlyOnceSession
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaError
from tests.faults import worker_process

REQUEST_TIMEOUT_MS = 3000
DELIVERY_TIMEOUT_MS = 20_000
TRANSACTION_TIMEOUT_MS = 10_000
BATCH = 100
POLL_MS = 500
PAUSE_S = 0.05  # in the middle of each transaction
AGAIN_S = 0.2

Session = ExactlyOnceSession[bytes, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The orders for one worker."""

    journal: str
    bootstrap_servers: str
    source: str
    target: str
    group_id: str
    transactional_id: str
    dies_in_batch: int = 0
    """The number of the batch, from 1, in which it kills itself, after writing the records. 0: it
    does not."""
    is_on_uvloop: bool = False


class Worker:
    """One life."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._journal = Path(orders.journal)
        self._batches = 0

    def note(self, word: str, detail: object = "") -> None:
        """Write one line. It is in the file before the worker goes on, even if that is killed."""
        line = f"{SYSTEM_CLOCK.monotonic():.6f} {word} {detail}".replace("\n", " ")
        with self._journal.open("ab") as file:
            file.write(line.encode() + b"\n")

    async def live(self, leave: asyncio.Event) -> None:
        """Copy until told to leave. A new session replaces one that has failed for good."""
        while not leave.is_set():
            try:
                async with self._session() as session:
                    self.note("started")
                    await self._copy_all(session, leave)
            except KafkaError as error:
                self.note("restarts", repr(error))
                await asyncio.sleep(AGAIN_S)
        self.note("stopped")

    async def _copy_all(self, session: Session, leave: asyncio.Event) -> None:
        while not leave.is_set():
            try:
                await self._copy_batch(session)
            except KafkaError as error:
                self.note("aborted", repr(error))
                if error.fatal:
                    raise
                await asyncio.sleep(AGAIN_S)

    async def _copy_batch(self, session: Session) -> None:
        async with session.batch(timeout_ms=POLL_MS, max_records=BATCH) as records:
            for tp, batch in records.items():
                for record in batch:
                    await session.producer.send(
                        self._orders.target, record.value, partition=tp.partition
                    )
            if records:
                await session.producer.flush()
                self._batches += 1
                self.note("written", sum(map(len, records.values())))
                if self._batches == self._orders.dies_in_batch:
                    os.kill(os.getpid(), signal.SIGKILL)
                await asyncio.sleep(PAUSE_S)
        if records:
            self.note("committed", sum(map(len, records.values())))

    def _session(self) -> Session:
        orders = self._orders
        consumer: AIOKafkaConsumer[bytes, bytes] = AIOKafkaConsumer(
            orders.source,
            bootstrap_servers=orders.bootstrap_servers,
            group_id=orders.group_id,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed",
            session_timeout_ms=6000,
            heartbeat_interval_ms=500,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            default_api_timeout_ms=DELIVERY_TIMEOUT_MS,
        )
        producer = AIOKafkaProducer(
            bootstrap_servers=orders.bootstrap_servers,
            transactional_id=orders.transactional_id,
            transaction_timeout_ms=TRANSACTION_TIMEOUT_MS,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            delivery_timeout_ms=TRANSACTION_TIMEOUT_MS,
            max_block_ms=DELIVERY_TIMEOUT_MS,
        )
        return ExactlyOnceSession(consumer, producer)


if __name__ == "__main__":
    worker_process.run(Orders, lambda orders, leave: Worker(orders).live(leave))
