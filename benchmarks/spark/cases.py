"""The cases measured with Spark, the connectors, and their order.

The order is the same for all, because the JVM compiles the code of early cases for later ones.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.report.results import OURS

SHAPES = {
    "noop": "batch → noop",
    "parquet": "batch → Parquet",
    "stream": "stream → noop",
    "write": "write",
    "mirror": "mirror, a stream",
    "job": "mirror, the job",
}
"""Name -> title in a table."""
READING = ("noop", "parquet", "stream", "mirror", "job")
WRITING = ("write", "mirror", "job")
STREAMING = ("stream", "mirror", "job")
RECORDS = {100: 1_500_000, 1000: 400_000}
"""By the size of values."""
PARTITIONS = 4
COLD, TO_NOOP, TO_TOPIC, PACED = "cold start", "→ noop", "→ topic", "paced"
"""Cases besides the main ones."""
ROWS_PER_BATCH = 20
"""Batches of a stream of small batches."""
FIRST_BATCHES = 5
"""How many of those do not count."""


@dataclass(frozen=True, slots=True)
class Connector:
    """A connector to Kafka, with its options."""

    name: str
    title: str
    format: str
    options: dict[str, str] = field(default_factory=dict)
    has_jars: bool = False


CONNECTORS = (
    Connector("ours", OURS, "kafka-lite"),
    Connector("official", "official", "kafka", has_jars=True),
    Connector(
        "tuned", "official, 10 ms", "kafka", {"kafka.fetch.max.wait.ms": "10"}, has_jars=True
    ),
)
"""The second waits half a second at the end of each task. The third has that wait turned off."""
BY_NAME = {each.name: each for each in CONNECTORS}


@dataclass(frozen=True, slots=True)
class Payload:
    """The contents of a topic."""

    value_bytes: int
    compression: str
    """`none`, or a codec."""
    partitions: int
    records: int

    @property
    def title(self) -> str:
        """This part of a row's name."""
        size = f"{self.value_bytes} B" if self.value_bytes < 1000 else "1 KB"
        many = "partitions" if self.partitions > 1 else "partition"
        return f"{size}, {self.compression}, {self.partitions} {many}"


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the tables."""

    shape: str
    payload: Payload
    batches: int = 1
    """Of a stream: how many batches it makes of the records."""
    shows_records: bool = False
    """Whether its name has the records, because other cases differ in nothing else."""

    @property
    def title(self) -> str:
        """The row's name."""
        name = f"{SHAPES[self.shape]}, {self.payload.title}"
        if self.batches > 1 or self.shows_records:
            name += f", {self.batches} batches"
        return f"{name} of {self.payload.records:,} records" if self.shows_records else name


@dataclass(slots=True)
class SessionJob:
    """The work of one session of Spark, for one connector."""

    connector: str
    bootstrap_servers: str
    cases: Sequence[dict[str, Any]]
    """The fields of each case, its `source` and its `target`. The first ones are the warm-up."""
    small: str
    """A small topic of two partitions, which is read in many small batches."""
    batches: int
    """The number of those batches."""
    target: str
    """The topic to which they are mirrored."""
    paced: tuple[str, str] | None = None
    """Topics of a mirror that runs until a line says to stop; None for no such mirror."""


def select(
    shapes: Iterable[str],
    sizes: Iterable[int],
    compressions: Sequence[str],
    partitions: Iterable[int],
    scale: float,
    batches: int = 1,
) -> list[Case]:
    """Return the cases: batch reads of every kind, and one codec per size of the other shapes.

    The codec's cost and the other shapes' cost are independent. Only the batch reads have all
    numbers of partitions. `batches` is how many each stream makes of its records.
    """
    counts = list(partitions)
    usual = PARTITIONS if PARTITIONS in counts else counts[0]
    wanted = list(shapes)
    codec = next((each for each in compressions if each != "none"), compressions[0])
    found = []
    for shape in SHAPES:
        if shape not in wanted:
            continue
        for size in sizes:
            records = max(round(RECORDS[size] * scale), 1)
            kinds = [(codec, usual)]
            if shape == "noop":
                kinds = [(each, usual) for each in compressions]
                kinds += [(compressions[0], count) for count in counts if count != usual]
            made = batches if shape in STREAMING else 1
            found += [Case(shape, Payload(size, *kind, records), made) for kind in kinds]
    return found


def warm_up(cases: Sequence[Case]) -> list[Case]:
    """Return the first case of each shape. They run first, so that the JVM compiles the code."""
    first: dict[str, Case] = {}
    for case in cases:
        first.setdefault(case.shape, case)
    return list(first.values())
