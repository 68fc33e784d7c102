"""A service that copies a topic exactly once: a process that the fault tests kill during a
transaction, or that kills itself there.

Started by `python -m tests.faults.exactly_once_worker ORDERS`, ended in order by SIGTERM. Its
journal records what it did; `producer_oracle` judges what it wrote.
"""

import asyncio
import json
import os
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import uvloop

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, ExactlyOnceSession
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaError

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
    """What a worker is to do."""

    journal: str
    bootstrap_servers: str
    source: str
    target: str
    group_id: str
    transactional_id: str
    dies_in_batch: int = 0
    """Which one it kills itself in, counted from 1: its records are written, nothing else. 0: it
    lives."""
    is_on_uvloop: bool = False


class Worker:
    """One life."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._journal = Path(orders.journal)
        self._batches = 0

    def note(self, word: str, detail: object = "") -> None:
        """Write one line; it is in the file, kill or no kill, before the worker goes on."""
        line = f"{SYSTEM_CLOCK.monotonic():.6f} {word} {detail}".replace("\n", " ")
        with self._journal.open("ab") as file:
            file.write(line.encode() + b"\n")

    async def live(self, leave: asyncio.Event) -> None:
        """Copy until told to leave; a session that is of no use any more is followed by another."""
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


def as_argument(orders: Orders) -> str:
    """Return the orders as a process takes them."""
    return json.dumps(asdict(orders))


async def _main(orders: Orders) -> None:
    leave = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leave.set)
    await Worker(orders).live(leave)


if __name__ == "__main__":
    given = Orders(**json.loads(sys.argv[1]))
    factory = uvloop.new_event_loop if given.is_on_uvloop else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(_main(given))
