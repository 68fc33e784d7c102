"""The job of a peer, its outcome, and its stopwatch.

The stopwatch measures wall time and the CPU of the whole process: all threads, and children that
have ended.
"""

import gc
import json
import os
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NoReturn

KEYS = 1000
STAMP_BYTES = 8
"""The size of the send time at the beginning of a paced record's value."""
PAGE_BYTES = resource.getpagesize()
LOOPS = ("asyncio", "uvloop")
"""The event loops that a client of asyncio may run in."""


@dataclass(slots=True)
class Outcome:
    """The outcome of one run. A peer fills the fields of its path."""

    records: int = 0
    """How many records or rounds the figures cover."""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    rss_bytes: int = 0
    """The growth of the resident memory."""
    failed: int = 0
    """Of `paced`: records that were not acknowledged."""
    acks: list[tuple[float, float]] = field(default_factory=list)
    """Of `paced`: moments of sending and of the ack, by `time.monotonic`."""
    quantiles_s: dict[str, float] = field(default_factory=dict)
    """Of `paced` by a tool without single acks: `p50`, `p99`, `max`."""
    delays_s: list[float] = field(default_factory=list)
    """Of `paced_receive`: from sending to receiving."""
    idle_cpu: float = 0.0
    """Of the growth paths: CPU seconds per second while no record came."""
    first_s: float = 0.0
    """Of the growth paths: from the start to the first record of each client with an active
    partition, or to the first ack."""
    first_cpu_s: float = 0.0
    """Of the same: CPU seconds."""
    returned: list[tuple[float, int, int, int]] = field(default_factory=list)
    """Of `member`: moment, partition, first and last offset of records that came together."""
    requests: dict[str, int] = field(default_factory=dict)
    """Of `idle_member`: how many requests of each kind it sent."""
    turns: list[tuple[float, float]] = field(default_factory=list)
    """Of `observed_pairs`: CPU seconds per record without and with the observer."""


@dataclass(slots=True)
class Job:
    """One measured run. A peer fills `outcome`; `stopwatch` fills the times."""

    bootstrap_servers: str
    topic: str
    records: int
    value_bytes: int = 100
    compression: str | None = None
    warm_up: int = 0
    """Records sent or received before the counted ones."""
    equal: bool = False
    """Whether all clients have equal settings instead of their defaults.

    These are batches of 128 KB, linger 5 ms, and checked CRCs.
    """
    per_second: int = 1000
    """Of `paced`: records per second."""
    keep_handles: bool = False
    """Of `hold_unsent`: whether to keep the results of `send`, too."""
    partitions: int = 1
    """The topic's partitions."""
    topics: int = 1
    """Of the growth paths: the number of topics, `topic` and others whose names begin with it."""
    clients: int = 1
    """Of the growth paths and `balance`: the number of consumers in the process."""
    active: int = 1
    """Of the growth paths: the number of partitions of `topic` that get records."""
    idle_s: float = 0.0
    loop: str = "asyncio"
    """Of clients of asyncio: one of `LOOPS`."""
    ca_pem: str = ""
    """The authority of the broker's certificate, in PEM; empty: no TLS."""
    group_id: str = ""
    group_protocol: str = "classic"
    """Of members: classic, or consumer, whose assignor and heartbeats are the broker's."""
    assignor: str = "range"
    """Of members by the classic protocol: range, or cooperative-sticky."""
    heartbeat_ms: int = 1000
    """Of members by the classic protocol."""
    handler_us: int = 0
    """Of `benchmarks.workers`: how long the handling of a record takes."""
    observer: str = ""
    """Of `observed_pairs`: one of its `OBSERVERS`."""
    turn_records: int = 10_000
    """Of `observed_pairs`, where `records` is the number of turns."""
    outcome: Outcome = field(default_factory=Outcome)

    def topic_names(self) -> list[str]:
        """The topics of the growth paths; the first is `topic`."""
        return [self.topic, *(f"{self.topic}-{number}" for number in range(1, self.topics))]

    def pairs(self) -> list[tuple[bytes, bytes]]:
        """The keys and values to send, a thousand of each.

        Keys have 8 bytes; values are like JSON and have `value_bytes`.
        """
        fill = b'{"user":"%08d","event":"page_view","path":"/products/%04d","ms":%03d,"x":"'
        pairs = []
        for number in range(KEYS):
            head = fill % (number, number * 7 % 10000, number % 1000)
            pad = bytes(97 + (number * 31 + at * 17) % 26 for at in range(self.value_bytes))
            pairs.append((b"%08d" % number, (head + pad)[: self.value_bytes - 2] + b'"}'))
        return pairs

    @contextmanager
    def stopwatch(self) -> Iterator[None]:
        """Measure the block. A path decides how much of connecting is inside."""
        self.start()
        yield
        self.stop()

    def start(self) -> None:
        """Start the stopwatch."""
        self.outcome.cpu_s = -_cpu_s()
        self.outcome.wall_s = -time.perf_counter()

    def stop(self) -> None:
        """Stop it."""
        self.outcome.cpu_s += _cpu_s()
        self.outcome.wall_s += time.perf_counter()

    @contextmanager
    def memory(self) -> Iterator[None]:
        """Measure the growth of the resident memory in the block."""
        gc.collect()
        before = _resident_bytes()
        yield
        gc.collect()
        self.outcome.rss_bytes = _resident_bytes() - before

    def begin_first(self) -> None:
        """Begin the time to the first record."""
        self.outcome.first_s = -time.perf_counter()
        self.outcome.first_cpu_s = -_cpu_s()

    def note_first(self) -> None:
        """Note that the first record is there."""
        self.outcome.first_s += time.perf_counter()
        self.outcome.first_cpu_s += _cpu_s()

    @contextmanager
    def idle(self) -> Iterator[None]:
        """Measure the cost of idleness per second; print when it begins and ends."""
        self.tell("ready")
        cpu_s, wall_s = _cpu_s(), time.perf_counter()
        yield
        self.outcome.idle_cpu = (_cpu_s() - cpu_s) / (time.perf_counter() - wall_s)
        self.tell("idle")

    def note_round(self) -> None:
        """Count a round.

        The stopwatch starts after the first `warm_up` and covers `records` of them.
        """
        if self.warm_up:
            self.warm_up -= 1
            if not self.warm_up:
                self.start()
        elif self.outcome.records < self.records:
            self.outcome.records += 1
            if self.outcome.records == self.records:
                self.stop()

    def begin_paced(self) -> None:
        """Note that paced records begin now; record 0 is due at once."""
        self.tell("sending")
        self.outcome.wall_s = -time.monotonic()

    def due_in_s(self, number: int) -> float:
        """Return how long to wait until paced record `number` is due; 0 or less means now."""
        return number / self.per_second - self.outcome.wall_s - time.monotonic()

    def stamped(self) -> bytes:
        """Return the value of a paced record that is sent now."""
        stamp = time.monotonic_ns().to_bytes(STAMP_BYTES, "little")
        return stamp + bytes(self.value_bytes - STAMP_BYTES)

    def note_ack(self, sent_s: float, error: BaseException | None = None) -> None:
        """Note the ack of a paced record."""
        if error is None:
            self.outcome.acks.append((sent_s, time.monotonic()))
        else:
            self.outcome.failed += 1
        self.outcome.records += 1

    def note_received(self, value: bytes) -> None:
        """Note the arrival of a paced record; the first `warm_up` do not count."""
        now_ns = time.monotonic_ns()
        if self.warm_up:
            self.warm_up -= 1
            return
        sent_ns = int.from_bytes(value[:STAMP_BYTES], "little")
        self.outcome.delays_s.append((now_ns - sent_ns) / 1e9)
        self.outcome.records += 1

    def tell(self, line: str) -> None:
        """Print a line for the parent process, which waits for it."""
        print(line, flush=True)

    def report(self) -> None:
        """Print the outcome as one JSON line."""
        print(json.dumps(asdict(self.outcome)), flush=True)

    def report_and_end(self) -> NoReturn:
        """Print the outcome, and end the process at once, with everything its client still
        holds.
        """
        self.report()
        os._exit(0)


def _cpu_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES
