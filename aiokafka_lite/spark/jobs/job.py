"""The common parts of all jobs: their definition, their reports, and the signal to stop.

Does not need Spark. Does not wait.
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
    """The outcome of a job; as JSON it is the summary on stdout."""

    job: str
    status: str = DONE
    """"done", "stopped" (on request, and it can continue later), or "failed"."""
    rows: int = 0
    """Rows read."""
    batches: int = 0
    offsets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The next offset, by topic and partition."""
    lag: int | None = None
    """How many offsets were left at the end; None if unknown."""
    seconds: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further facts about this job, JSON-able."""
    problems: tuple[str, ...] = ()
    """A sentence for each finding that a person has to check. With one, the job has failed."""

    def to_json(self) -> str:
        """Return the summary, on one line."""
        return json.dumps(asdict(self), separators=(", ", ": "), default=str)


class JobFailedError(KafkaError):
    """A job failed in the middle of its work; `result` has what it did before."""

    def __init__(self, result: JobResult) -> None:
        super().__init__("; ".join(result.problems))
        self.result = result


@dataclass(frozen=True, kw_only=True)
class BatchReport:
    """One batch that has ended."""

    batch: int
    rows: int
    total_rows: int
    """Including all earlier batches of this run."""
    rows_per_s: float
    lag: int | None = None


class Progress(Protocol):
    """Receives a report of each batch; `job_progress` has implementations."""

    def note(self, text: str) -> None: ...

    def batch(self, report: BatchReport) -> None: ...

    def close(self) -> None: ...


class NoProgress:
    """Ignores all reports."""

    def note(self, text: str) -> None: ...

    def batch(self, report: BatchReport) -> None: ...

    def close(self) -> None: ...


class StopSignal:
    """Asks a job to end after its current batch.

    Setting it is safe in a signal handler, because it takes no lock.
    """

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        """Ask the job to stop. Idempotent."""
        self._is_set = True

    def is_set(self) -> bool:
        """Whether a stop was requested."""
        return self._is_set


_MOST_LINES: Final = 12


def reason(error: BaseException) -> str:
    """Return the reason of a failure in a few lines, without Java's stack."""
    text = str(error) or type(error).__name__
    if {kind.__name__ for kind in type(error).__mro__} & _JVM_IS_GONE:
        return (
            "the JVM of Spark has ended during the job: it was killed, or ran out of memory"
            f" (spark.driver.memory); {type(error).__name__}: {text}"
        )
    said = text.partition("=== Streaming Query ===")[0]
    kept = [line for line in said.splitlines() if line.strip() and not _is_stack(line)]
    return "\n".join(kept[:_MOST_LINES])


def _is_stack(line: str) -> bool:
    """Return whether a line belongs to a stack trace. Java's and Python's are indented."""
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
    """A job for the registry: each job's module has one, named JOB."""

    name: str
    config: type[JobConfig]
    plan: Plan
    """Takes (spark, config) and returns the job's DataFrame; starts and writes nothing."""
    run: Run
    """Runs the job, and returns when it is done or stopped. Raises: the reason of a failure."""
    offsets: Callable[[Any, Any], Mapping[str, Any]] | None = None
    """Takes (spark, config) and returns the offsets for `--dry-run`, JSON-able; only reads."""


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
