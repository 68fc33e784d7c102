"""What a peer is asked to do, and the stopwatch it uses: CPU of the whole process (all threads) and
wall time.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

KEYS = 1000


@dataclass(slots=True)
class Job:
    """One measured run. A peer fills `cpu_s` and `wall_s` by `stopwatch`, and `done`."""

    bootstrap_servers: str
    topic: str
    records: int
    value_bytes: int = 100
    compression: str | None = None
    partitions: int = 1
    """How many the topic has."""
    group_id: str = ""
    assignor: str = "range"
    """Of `member`: range, or cooperative-sticky."""
    heartbeat_ms: int = 1000
    """Of `member`."""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    done: int = 0
    returned: list[tuple[float, int, int, int]] = field(default_factory=list)
    """Of `member`: moment, partition, first and last offset of records that came together."""

    def pairs(self) -> list[tuple[bytes, bytes]]:
        """The keys and values to send: 8-byte keys, JSON-like values of `value_bytes`, a thousand
        of each.
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
        """Measure what happens inside: a path says what of connecting that is."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.cpu_s = time.process_time() - cpu
        self.wall_s = time.perf_counter() - wall
