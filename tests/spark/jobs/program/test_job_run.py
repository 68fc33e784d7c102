"""A job as a program: summary, exit codes, signals, errors."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.spark.jobs.job import (
    Job,
    JobFailedError,
    JobResult,
    Progress,
    StopSignal,
)
from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.jobs.program import job_run
from aiokafka_lite.spark.jobs.program.job_run import run_program


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
    if config.rows == 1000:
        raise JobFailedError(
            JobResult(job="example", status="failed", rows=7, problems=("the disk is full",))
        )
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
    def session(name: str, settings: Mapping[str, str], *, by_value: bool) -> Iterator[str]:
        yield f"{name} {dict(settings)}{' by value' * by_value}"

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
    assert run_program("example", config, ["by_value=true"]) == 0
    assert capsys.readouterr().err.endswith("} by value\n")


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


def test_what_was_done_before_a_failure_is_in_the_summary(capsys: Captured) -> None:
    assert run_program("example", None, ["rows=1000"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["rows"] == 7
    assert err.endswith("error: the disk is full\n")


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
