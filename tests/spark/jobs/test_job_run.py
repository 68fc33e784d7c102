"""A job as a program: summary, exit codes, signals, errors."""

import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.spark.jobs import job_run
from aiokafka_lite.spark.jobs.job import Job, JobResult, NoProgress, Progress, StopSignal
from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.jobs.job_run import reason, run_program, signals_stop


@dataclass(frozen=True, kw_only=True)
class ExampleConfig(JobConfig):
    rows: int = 3


class Frame:
    def explain(self) -> None:
        print("== Physical Plan ==")


def plan(spark: Any, config: ExampleConfig) -> Frame:
    return Frame()


def run(spark: Any, config: ExampleConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    progress.note(f"in {spark}")
    if config.rows < 0:
        raise ValueError("fewer than none")
    problems = () if config.rows else ("there are no rows",)
    return JobResult(job="example", rows=config.rows, problems=problems)


@pytest.fixture(autouse=True)
def job(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Job(
        name="example",
        config=ExampleConfig,
        plan=plan,
        run=run,
        offsets=lambda spark, config: {"lag": config.rows},
    )

    @contextmanager
    def session(name: str, settings: Mapping[str, str]) -> Iterator[str]:
        yield f"{name} {dict(settings)}"

    monkeypatch.setattr(job_run, "find_job", lambda name: made)
    monkeypatch.setattr(job_run, "session", session)


Captured = pytest.CaptureFixture[str]


def test_a_job_that_is_done_prints_its_summary_and_nothing_else(
    capsys: Captured, tmp_path: Path
) -> None:
    config = tmp_path / "job.toml"
    config.write_text('rows = 1\n[spark]\nmaster = "local[2]"')
    assert run_program("example", config, ["rows=5"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["rows"] == 5
    assert err == "example: in example {'master': 'local[2]'}\n"


def test_a_job_that_found_problems_has_failed(capsys: Captured) -> None:
    assert run_program("example", None, ["rows=0"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["problems"] == ["there are no rows"]
    assert "error: there are no rows" in err


def test_a_job_that_fails_says_why_on_both_streams(capsys: Captured) -> None:
    assert run_program("example", None, ["rows=-1"]) == 1
    out, err = capsys.readouterr()
    summary = json.loads(out)
    assert (summary["status"], summary["problems"]) == ("failed", ["fewer than none"])
    assert "error: fewer than none" in err


def test_wrong_usage_is_told_before_there_is_a_session(capsys: Captured) -> None:
    assert run_program("example", None, ["rows=x"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "rows='x' is not a whole number" in err


def test_a_dry_run_shows_plan_and_offsets_and_runs_nothing(capsys: Captured) -> None:
    assert run_program("example", None, ["rows=-1"], dry_run=True) == 0
    plan_shown, offsets = capsys.readouterr().out.splitlines()
    assert plan_shown == "== Physical Plan =="
    assert json.loads(offsets) == {"job": "example", "lag": -1}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks_and_the_second_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    said: list[str] = []
    ends: list[int] = []

    class Said(NoProgress):
        def note(self, text: str) -> None:
            said.append(text)

    monkeypatch.setattr(os, "_exit", ends.append)
    before = signal.getsignal(number)
    stop = StopSignal()
    with signals_stop(stop, Said()):
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        assert said == [f"{number.name}: ending after this batch; once more, and it ends at once"]
        assert not ends
        signal.raise_signal(number)
        assert ends == [1]
    assert signal.getsignal(number) is before


class Py4JNetworkError(Exception):
    """Of that name."""


@pytest.mark.parametrize("error", [Py4JNetworkError("Answer is empty"), ConnectionRefusedError()])
def test_a_jvm_that_is_gone_is_named(error: Exception) -> None:
    assert "the JVM of Spark has ended in the midst of it" in reason(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("it broke\n\tat org.apache.X\n\tat org.apache.Y\n\nbadly", "it broke\nbadly"),
        ("x\n" * 40, "\n".join("x" * 12)),
        ("", "ValueError"),
    ],
)
def test_a_reason_has_few_lines_and_none_of_javas_stack(text: str, said: str) -> None:
    make: Callable[[str], Exception] = ValueError
    assert reason(make(text)) == said
