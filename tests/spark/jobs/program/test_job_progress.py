"""What people see: lines at a sensible pace, or a bar on a terminal."""

import importlib.util
import io

import pytest

from aiokafka_lite.spark.jobs.job import BatchReport
from aiokafka_lite.spark.jobs.program.job_progress import (
    BarProgress,
    LineProgress,
    complain,
    in_words,
    progress_for,
)
from aiokafka_lite.testing.fake_clock import FakeClock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def report(batch: int, lag: int | None = 0) -> BatchReport:
    return BatchReport(
        batch=batch, rows=1000, total_rows=1000 * (batch + 1), rows_per_s=512.4, lag=lag
    )


def test_a_batch_is_a_line() -> None:
    assert in_words(report(2, 1500)) == "batch 2: 1,000 rows, 512/s; 3,000 in all, 1,500 to go"
    assert in_words(report(0, None)) == "batch 0: 1,000 rows, 512/s; 1,000 in all"


async def test_lines_come_each_second_at_most_and_the_last_one_always() -> None:
    stream, clock = io.StringIO(), FakeClock()
    lines = LineProgress(stream, "archive", clock)
    lines.batch(report(0))
    lines.batch(report(1))
    await clock.advance(1.0)
    lines.batch(report(2))
    lines.batch(report(3))
    lines.note("almost")
    lines.close()
    lines.close()
    said = [line.split(":")[0:2] for line in stream.getvalue().splitlines()]
    assert said == [
        *(["archive", " batch 0"], ["archive", " batch 2"]),
        *(["archive", " almost"], ["archive", " batch 3"]),
    ]


def test_a_terminal_has_a_bar_if_rich_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    bar = progress_for(stream, "archive")
    assert isinstance(bar, BarProgress)
    bar.batch(report(0, 1500))
    bar.note("almost [there]")
    bar.batch(report(1, None))
    bar.close()
    assert "almost [there]" in stream.getvalue()
    assert "2,000 rows, 512/s" in stream.getvalue()
    assert isinstance(progress_for(io.StringIO(), "archive"), LineProgress)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert isinstance(progress_for(stream, "archive"), LineProgress)


def test_an_error_is_one_paragraph_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    complain("no")
    assert capsys.readouterr().err == "error: no\n"
