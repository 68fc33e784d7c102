"""Shows a running job on stderr: a bar on a terminal with rich installed, otherwise lines.

A line appears for a batch, at most once a second. Does not wait.
"""

import importlib.util
import sys
from typing import Any, Final, TextIO

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.spark.jobs.job import BatchReport, Progress

_LINE_EVERY_S: Final = 1.0


def progress_for(stream: TextIO, job: str) -> Progress:
    """Return the kind of progress that fits the output stream."""
    if stream.isatty() and importlib.util.find_spec("rich") is not None:
        return BarProgress(stream, job)
    return LineProgress(stream, job)


class LineProgress:
    """A line for each batch, but at most one per second."""

    def __init__(self, stream: TextIO, job: str, clock: Clock = SYSTEM_CLOCK) -> None:
        self._stream = stream
        self._job = job
        self._clock = clock
        self._said_at_s: float | None = None
        self._unsaid: BatchReport | None = None

    def note(self, text: str) -> None:
        """Write a text."""
        self._stream.write(f"{self._job}: {text}\n")
        self._stream.flush()

    def batch(self, report: BatchReport) -> None:
        """Report a batch, unless the last report was less than a second ago."""
        now_s = self._clock.monotonic()
        if self._said_at_s is not None and now_s - self._said_at_s < _LINE_EVERY_S:
            self._unsaid = report
            return
        self._said_at_s, self._unsaid = now_s, None
        self.note(in_words(report))

    def close(self) -> None:
        """Report what was left out. Idempotent."""
        if self._unsaid is not None:
            self.note(in_words(self._unsaid))
            self._unsaid = None


def in_words(report: BatchReport) -> str:
    """Return a batch as a line."""
    lag = "" if report.lag is None else f", {report.lag:,} to go"
    return (
        f"batch {report.batch}: {report.rows:,} rows, {report.rows_per_s:,.0f}/s;"
        f" {report.total_rows:,} in all{lag}"
    )


class BarProgress:
    """A bar with the done part and the known rest."""

    def __init__(self, stream: TextIO, job: str) -> None:
        # rich is an extra, and only terminals need it.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        self._bars: Any = Progress(
            TextColumn(job),
            BarColumn(),
            TextColumn("{task.completed:,.0f} rows, {task.fields[speed]:,.0f}/s{task.fields[lag]}"),
            TimeElapsedColumn(),
            console=Console(file=stream),
        )
        self._task = self._bars.add_task(job, total=None, speed=0.0, lag="")
        self._bars.start()

    def note(self, text: str) -> None:
        """Write a text above the bar."""
        self._bars.console.print(text, markup=False, highlight=False)

    def batch(self, report: BatchReport) -> None:
        """Move the bar."""
        known = report.lag is not None
        self._bars.update(
            self._task,
            completed=report.total_rows,
            total=report.total_rows + (report.lag or 0) if known else None,
            speed=report.rows_per_s,
            lag=f", {report.lag:,} to go" if known else "",
        )

    def close(self) -> None:
        """Restore the terminal. Idempotent."""
        self._bars.stop()


def complain(text: str) -> None:
    """Write to stderr why something does not work."""
    sys.stderr.write(f"error: {text}\n")


__all__ = ["BarProgress", "LineProgress", "complain", "in_words", "progress_for"]
