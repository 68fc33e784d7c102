"""A member of a group in the fault tests: it processes a record by writing it to its journal.

It runs as a task of the test, or as a process that a test can kill: `python -m
tests.faults.group_worker ORDERS`. SIGTERM makes the process leave its group and end. `group_oracle`
reads the journal.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiokafka_lite import (
    AIOKafkaConsumer,
    ConsumerRebalanceListener,
    ConsumerRecord,
    CooperativeStickyAssignor,
    TopicPartition,
)
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import CommitFailedError, KafkaTimeoutError, RebalanceInProgressError
from tests.faults import worker_process

SESSION_MS = 6000
HEARTBEAT_MS = 500
REQUEST_TIMEOUT_MS = 5000
API_TIMEOUT_MS = 15_000
STOP_MS = 5000
POLL_MS = 500
PULSE_S = 0.1
SLACK_S = 2.0  # what a busy machine may add to the bound of a call

REFUSALS = (CommitFailedError, RebalanceInProgressError, KafkaTimeoutError)
"""The errors that a commit may raise while a group rebalances or has no coordinator."""

_BY_MEMBERS = {"session_timeout_ms": SESSION_MS, "heartbeat_interval_ms": HEARTBEAT_MS}
_COOPERATIVE = {**_BY_MEMBERS, "partition_assignment_strategy": [CooperativeStickyAssignor]}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "eager": _BY_MEMBERS,
    "cooperative": _COOPERATIVE,
    "consumer": {"group_protocol": "consumer"},
    "auto": {**_COOPERATIVE, "group_protocol": "auto"},
}
"""By name: the options of members. Those of `consumer` leave the times to the broker."""

Ends = dict[TopicPartition, tuple[int, int]]
"""By partition: the run, and the offset behind what is processed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """The orders for one member."""

    journal: str
    bootstrap_servers: str
    topic: str
    group_id: str
    protocol: str
    """One of `PROTOCOLS`."""
    manner: str
    """How it commits. "auto" and "iterate": by auto-commit. "commit": after each poll, the returned
    records. "explicit": the processed records."""
    pause_s: float = 0.0
    """How long it works on one record."""
    is_on_uvloop: bool = False


class Pulse:
    """Measures how long a busy machine or task has kept this event loop from running."""

    def __init__(self) -> None:
        self._lag_s = 0.0
        self._since_s = SYSTEM_CLOCK.monotonic()
        self._since_cpu_s = time.process_time()

    def lag_s(self) -> float:
        """Return the sum of all delays so far."""
        return self._lag_s + max(SYSTEM_CLOCK.monotonic() - self._since_s - PULSE_S, 0.0)

    async def beat(self, journal: "Journal") -> None:
        """Measure until cancelled."""
        while True:
            self._since_s, self._since_cpu_s = SYSTEM_CLOCK.monotonic(), time.process_time()
            await asyncio.sleep(PULSE_S)
            lag_s = SYSTEM_CLOCK.monotonic() - self._since_s - PULSE_S
            self._lag_s += max(lag_s, 0.0)
            cpu_s = time.process_time() - self._since_cpu_s
            if cpu_s > SLACK_S:
                journal.note("busy", f"{cpu_s:.2f} s of computing without letting others run")


class Journal:
    """Notes what one member does. Each line is in the file before the member goes on, even if it is
    killed.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self.pulse = Pulse()

    def note(self, word: str, *details: object) -> None:
        """Write one line with the moment, in a clock that all processes of the machine share."""
        line = " ".join([f"{SYSTEM_CLOCK.monotonic():.6f}", word, *map(str, details)])
        self._file.write(line.replace("\n", " ").encode() + b"\n")

    @contextmanager
    def within(self, call: str, bound_s: float) -> Iterator[None]:
        """Note if the block takes longer than its bound, without the delays of a busy machine."""
        began_s, lag_s = SYSTEM_CLOCK.monotonic(), self.pulse.lag_s()
        try:
            yield
        finally:
            took_s = SYSTEM_CLOCK.monotonic() - began_s - (self.pulse.lag_s() - lag_s)
            if took_s > bound_s + SLACK_S:
                self.note("late", call, f"{took_s:.2f}", bound_s)

    def close(self) -> None:
        """Close the file when the member has ended."""
        self._file.close()


class Member(ConsumerRebalanceListener):
    """One life in a group."""

    def __init__(self, orders: Orders) -> None:
        self._orders = orders
        self._journal = Journal(Path(orders.journal))
        self._runs: Counter[int] = Counter()  # how often each partition was assigned
        self._refused: Ends = {}  # what is to be committed again

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self._runs.update(tp.partition for tp in assigned)
        self._journal.note("assigned", _names(assigned))

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self._journal.note("revoked", _names(revoked))

    def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self._journal.note("lost", _names(lost))

    async def live(self, leave: asyncio.Event) -> None:
        """Consume until told to leave, and leave in order."""
        pulse = asyncio.create_task(self._journal.pulse.beat(self._journal))
        try:
            await self._live(leave)
        except BaseException as error:
            self._journal.note("failed", repr(error))
            raise
        finally:
            pulse.cancel()
            self._journal.close()

    async def _live(self, leave: asyncio.Event) -> None:
        journal, orders, consumer = self._journal, self._orders, self._consumer()
        consumer.subscribe([orders.topic], listener=self)
        with journal.within("start", API_TIMEOUT_MS / 1000):
            await consumer.start()
        journal.note("started")
        try:
            if orders.manner == "iterate":
                await self._iterate(consumer, leave)
            else:
                await self._poll(consumer, leave)
        finally:
            await self._stop(consumer)

    def _consumer(self) -> AIOKafkaConsumer[bytes, bytes]:
        orders = self._orders
        return AIOKafkaConsumer(
            bootstrap_servers=orders.bootstrap_servers,
            group_id=orders.group_id,
            auto_offset_reset="earliest",
            enable_auto_commit=orders.manner in {"auto", "iterate"},
            auto_commit_interval_ms=500,
            max_poll_interval_ms=20_000,
            max_poll_records=20,
            request_timeout_ms=REQUEST_TIMEOUT_MS,
            default_api_timeout_ms=API_TIMEOUT_MS,
            **PROTOCOLS[orders.protocol],
        )

    async def _stop(self, consumer: AIOKafkaConsumer[bytes, bytes]) -> None:
        began_s = SYSTEM_CLOCK.monotonic()
        with self._journal.within("stop", STOP_MS / 1000):
            await consumer.stop(STOP_MS)
        self._journal.note("stopped", f"{SYSTEM_CLOCK.monotonic() - began_s:.3f}")

    async def _iterate(
        self, consumer: AIOKafkaConsumer[bytes, bytes], leave: asyncio.Event
    ) -> None:
        async def stop_when_told() -> None:
            await leave.wait()
            await self._stop(consumer)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(stop_when_told())
            async for record in consumer:
                self._process(record, self._runs[record.partition])
                await asyncio.sleep(self._orders.pause_s)

    async def _poll(self, consumer: AIOKafkaConsumer[bytes, bytes], leave: asyncio.Event) -> None:
        while not leave.is_set():
            with self._journal.within("getmany", POLL_MS / 1000):
                found = await consumer.getmany(timeout_ms=POLL_MS)
            runs = self._runs.copy()  # a rebalance may begin a new run while records are processed
            processed: Ends = {}
            for tp, records in found.items():
                for record in records:
                    self._process(record, runs[tp.partition])
                    await asyncio.sleep(self._orders.pause_s)
                processed[tp] = (runs[tp.partition], records[-1].offset + 1)
            if self._orders.manner != "auto":
                await self._commit(consumer, processed)

    def _process(self, record: ConsumerRecord[bytes, bytes], run: int) -> None:
        value = (record.value or b"").decode()
        self._journal.note("record", run, record.partition, record.offset, value)

    async def _commit(self, consumer: AIOKafkaConsumer[bytes, bytes], processed: Ends) -> None:
        """Commit what is processed, and what was refused before, of partitions it still has."""
        owned = consumer.assignment()
        refused = {
            tp: (run, end)
            for tp, (run, end) in self._refused.items()
            if tp in owned and run == self._runs[tp.partition]
        }
        self._refused = refused | processed
        if not self._refused:
            return
        offsets = {tp: end for tp, (_, end) in self._refused.items()}
        try:
            with self._journal.within("commit", API_TIMEOUT_MS / 1000):
                await consumer.commit(offsets if self._orders.manner == "explicit" else None)
            self._journal.note("committed")
            self._refused = {}
        except REFUSALS as refusal:
            self._journal.note("refused", repr(refusal))


def _names(partitions: set[TopicPartition]) -> str:
    return ",".join(str(tp.partition) for tp in sorted(partitions))


if __name__ == "__main__":
    worker_process.run(Orders, lambda orders, leave: Member(orders).live(leave))
