"""Owns what all jobs have in common: what one is, what it reports while it runs and at its end, and
how it is asked to stop.

Plain; nothing here needs Spark.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.spark.jobs.job_config import JobConfig

DONE, STOPPED, FAILED = "done", "stopped", "failed"


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """What a job did; as JSON it is the summary on stdout."""

    job: str
    status: str = DONE
    """"done", "stopped" (it was asked to, and can go on later), or "failed"."""
    rows: int = 0
    """Rows read."""
    batches: int = 0
    offsets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """By topic and partition, the offset to go on with."""
    lag: int | None = None
    """How many offsets were left when it ended; None where nobody could tell."""
    seconds: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else this job has to tell, JSON-able."""
    problems: tuple[str, ...] = ()
    """A sentence for each thing a person has to look at; with one, the job has failed."""

    def to_json(self) -> str:
        """Return the summary, on one line."""
        return json.dumps(asdict(self), separators=(", ", ": "), default=str)


class JobFailedError(KafkaError):
    """A job has failed in the midst of its work; what it did before is in `result`."""

    def __init__(self, result: JobResult) -> None:
        super().__init__("; ".join(result.problems))
        self.result = result


@dataclass(frozen=True, kw_only=True)
class BatchReport:
    """One batch that has ended."""

    batch: int
    rows: int
    total_rows: int
    """With all batches before it in this run."""
    rows_per_s: float
    lag: int | None = None


class Progress(Protocol):
    """Who is told of each batch; `job_progress` has some."""

    def note(self, text: str) -> None: ...

    def batch(self, report: BatchReport) -> None: ...

    def close(self) -> None: ...


class NoProgress:
    """For those who do not want to know."""

    def note(self, text: str) -> None: ...

    def batch(self, report: BatchReport) -> None: ...

    def close(self) -> None: ...


class StopSignal:
    """Asks a job to end after the batch that runs. Setting it is safe in a signal handler: it takes
    no lock.
    """

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        """Ask. Idempotent."""
        self._is_set = True

    def is_set(self) -> bool:
        """Whether somebody has asked."""
        return self._is_set


_MOST_LINES: Final = 12


def reason(error: BaseException) -> str:
    """Return why something failed, in a few lines and without Java's stack."""
    text = str(error) or type(error).__name__
    if {kind.__name__ for kind in type(error).__mro__} & _JVM_IS_GONE:
        return (
            "the JVM of Spark has ended in the midst of it: it was killed, or had no memory left"
            f" (spark.driver.memory); {type(error).__name__}: {text}"
        )
    said = text.partition("=== Streaming Query ===")[0]
    kept = [line for line in said.splitlines() if line.strip() and not _is_stack(line)]
    return "\n".join(kept[:_MOST_LINES])


def _is_stack(line: str) -> bool:
    """Whether a line shows where it happened, and not what: Java's are indented, as Python's."""
    if line.startswith("  - "):  # one of several faults
        return False
    return line.startswith((" ", "\t", *_HEADINGS))


_HEADINGS: Final = ("Traceback (", "During handling", "The above exception", "JVM stacktrace")
_JVM_IS_GONE: Final = {"Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError"}


class Plan(Protocol):
    def __call__(self, spark: Any, config: Any, /) -> Any: ...


class Run(Protocol):
    def __call__(
        self, spark: Any, config: Any, *, stop: StopSignal, progress: Progress
    ) -> JobResult: ...


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job, as the registry has it: every module of a job has one, named JOB."""

    name: str
    config: type[JobConfig]
    plan: Plan
    """Returns the DataFrame the job is about, of (spark, config); starts and writes nothing."""
    run: Run
    """Does the job, and returns when it is done or stopped. Raises: why it failed."""
    offsets: Callable[[Any, Any], Mapping[str, Any]] | None = None
    """Returns what `--dry-run` tells of offsets, of (spark, config), JSON-able; only reads."""


__all__ = [
    "DONE",
    "FAILED",
    "STOPPED",
    "BatchReport",
    "Job",
    "JobFailedError",
    "JobResult",
    "NoProgress",
    "Plan",
    "Progress",
    "Run",
    "StopSignal",
    "reason",
]
