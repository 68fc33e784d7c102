"""Divides the CPU of streams into parts: a for the stream, b a task, c a batch, d a row.

Least squares over streams of several numbers of batches, partitions and records. Measures nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Self

from benchmarks.report.results import Figure, Table
from benchmarks.spark.cases import Case, Payload
from benchmarks.spark.process_tree import STREAM_PLANNER, WORKER

BATCHES = (1, 5, 20)
PARTITIONS = (4, 16)
RECORDS = (400_000, 2_000_000)
SIZE = 100
CODEC = "lz4"
MOST_STREAM_MS, MOST_TASK_MS = 600.0, 10.0
"""The most that a stream may cost in its planner, and a task in its worker."""
_SCALE = 1e6
"""Rows are fitted by the million, so that all unknowns are of a similar size."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The CPU of one stream."""

    tasks: int
    batches: int
    rows: int
    cpu_s: float


@dataclass(frozen=True, slots=True)
class CostParts:
    """CPU seconds: stream + tasks * task + batches * batch + rows * row."""

    stream_s: float
    task_s: float
    batch_s: float
    row_s: float

    @classmethod
    def fitted(cls, samples: Iterable[Sample]) -> Self:
        """Return the parts with the least squares of errors.

        Raises: ValueError for samples that cannot tell the parts apart.
        """
        lines = [[1.0, each.tasks, each.batches, each.rows / _SCALE] for each in samples]
        seconds = [each.cpu_s for each in samples]
        stream, task, batch, million = _least_squares(lines, seconds)
        return cls(stream, task, batch, million / _SCALE)

    def cpu_s(self, tasks: int, batches: int, rows: int) -> float:
        """Return the cost of a stream."""
        return self.stream_s + tasks * self.task_s + batches * self.batch_s + rows * self.row_s


def _least_squares(lines: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """Solve the normal equations by elimination, with the largest pivot."""
    size = len(lines[0]) if lines else 0
    system = [
        [
            *(sum(line[row] * line[column] for line in lines) for column in range(size)),
            sum(line[row] * value for line, value in zip(lines, values, strict=True)),
        ]
        for row in range(size)
    ]
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(system[row][at]))
        if abs(system[pivot][at]) < 1e-9:
            raise ValueError("these streams cannot tell the parts apart: vary all three numbers")
        system[at], system[pivot] = system[pivot], system[at]
        for row in range(size):
            if row != at:
                share = system[row][at] / system[at][at]
                system[row] = [
                    left - share * right
                    for left, right in zip(system[row], system[at], strict=True)
                ]
    return [system[row][size] / system[row][row] for row in range(size)]


def cases(scale: float) -> list[Case]:
    """Return the streams to measure, in an order that is mixed and always the same.

    The JVM compiles less in each later one. From few records to many, that would count as rows
    that cost less than nothing.
    """
    found = [
        Case(
            "stream",
            Payload(SIZE, CODEC, partitions, max(round(records * scale), 1)),
            batches,
            shows_records=True,
        )
        for records in RECORDS
        for partitions in PARTITIONS
        for batches in BATCHES
    ]
    Random(0).shuffle(found)
    return found


def sample(case: Case, cpu_s: float) -> Sample:
    """Return what one run of a case says."""
    tasks = case.batches * case.payload.partitions
    return Sample(tasks, case.batches, case.payload.records, cpu_s)


_PARTS: dict[str, Callable[[CostParts], float]] = {
    "a stream": lambda each: each.stream_s * 1e3,
    "a task": lambda each: each.task_s * 1e3,
    "a batch": lambda each: each.batch_s * 1e3,
    "a million rows": lambda each: each.row_s * 1e9,
}


def table(parts: dict[str, list[CostParts]], conditions: str) -> Table:
    """Make the table of the parts, by client and round."""
    rows: dict[str, Callable[[CostParts], float]] = {
        **_PARTS,
        "5 batches of 4 partitions, 2 million rows": lambda each: (
            each.cpu_s(20, 5, 2_000_000) * 1e3
        ),
    }
    figures = [
        Figure(row, client, [value(each) for each in rounds])
        for row, value in rows.items()
        for client, rounds in parts.items()
    ]
    return Table("spark-cost-parts", "What a stream costs, by parts", "CPU ms", conditions, figures)


def kinds_table(parts: dict[str, dict[str, list[CostParts]]], conditions: str) -> Table:
    """Make the table of the parts by kind of process, then by client and round."""
    figures = [
        Figure(f"{kind}: {row}", client, [value(each) for each in rounds])
        for kind, of_clients in parts.items()
        for row, value in _PARTS.items()
        for client, rounds in of_clients.items()
    ]
    limits = {f"{STREAM_PLANNER}: a stream": MOST_STREAM_MS, f"{WORKER}: a task": MOST_TASK_MS}
    return Table(
        "spark-cost-kinds", "The parts, by processes", "CPU ms", conditions, figures, limits=limits
    )


__all__ = ["CostParts", "Sample", "cases", "kinds_table", "sample", "table"]
