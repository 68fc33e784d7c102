"""The command line of the jobs."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from aiokafka_lite.spark.jobs.job_registry import JOBS
from aiokafka_lite.spark.jobs.program import job_command


def test_its_help_lists_the_jobs() -> None:
    shown = CliRunner().invoke(job_command.app, ["--help"], terminal_width=200)
    assert shown.exit_code == 0
    for name in JOBS:
        assert name in shown.output


def test_it_hands_over_what_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def run_program(*given: Any, **named: Any) -> int:
        calls.append((given, named))
        return 1

    monkeypatch.setattr(job_command, "run_program", run_program)
    line = ["archive", "-c", "job.toml", "--set", "a=1", "--set", "b=2", "--dry-run"]
    assert CliRunner().invoke(job_command.app, line).exit_code == 1
    assert calls == [(("archive", Path("job.toml"), ["a=1", "b=2"]), {"dry_run": True})]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ([], "Missing argument"),
        (["archiv"], "did you mean archive?"),
        (["archive", "--set", "topics"], "not of the form key=value"),
        (["archive", "-c", "missing.toml"], "No such file"),
        (["archive"], "bootstrap_servers must be set"),
        (["archive", "--never"], "No such option"),
    ],
)
def test_wrong_usage_is_exit_code_2_without_spark(line: list[str], said: str) -> None:
    shown = CliRunner().invoke(job_command.app, line)
    assert shown.exit_code == 2
    assert said in shown.output
