"""Errors of a command are one line on stderr and an exit code."""

import pytest
import typer

from aiokafka_lite.cli.command import exit_codes, fail_with, leaves, options, pairs_of, run
from aiokafka_lite.cli.stop_signals import StoppedBySignalError
from aiokafka_lite.errors import KafkaConfigurationError, KafkaConnectionError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KafkaConfigurationError("linger_ms=-1"), 2),
        (KafkaConnectionError("nobody there"), 1),
        (TimeoutError("too late"), 1),
        (KeyboardInterrupt(), 130),
        (StoppedBySignalError(15), 143),
        (OSError(98, "Address already in use"), 1),
        (ValueError("port 80000 is above 65535"), 2),
        (ExceptionGroup("tasks", [ExceptionGroup("inner", [KafkaConnectionError("gone")])]), 1),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught, exit_codes():
        raise error
    assert caught.value.exit_code == code
    said = capsys.readouterr().err
    if code < 128:
        assert said.startswith("error: ")
        assert len(said.splitlines()) == 1


def test_a_message_of_several_tasks_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), exit_codes():
        raise ExceptionGroup("tasks", [KafkaConnectionError("gone"), KafkaConnectionError("gone")])
    assert capsys.readouterr().err == "error: gone\n"


def test_a_closed_pipe_behind_stdout_is_left_to_the_program() -> None:
    with pytest.raises(BrokenPipeError), exit_codes():
        raise BrokenPipeError


def test_run_gives_the_result() -> None:
    async def answer() -> int:
        return 42

    assert run(answer()) == 42


def test_a_bug_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError), exit_codes():
        raise ZeroDivisionError


def test_the_leaves_of_a_group_come_in_order() -> None:
    errors = [ValueError(n) for n in range(3)]
    group = ExceptionGroup("", [errors[0], ExceptionGroup("", errors[1:])])
    assert leaves(group) == errors


def test_the_parts_that_failed_end_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    fail_with({})
    failed = {"a": KafkaConnectionError("gone"), "b": KafkaConfigurationError("bad")}
    with pytest.raises(typer.Exit) as caught:
        fail_with(failed)
    assert caught.value.exit_code == 1
    assert capsys.readouterr().err.splitlines() == ["error: gone", "error: bad"]


def test_pairs_become_a_dictionary() -> None:
    assert options(["a=1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    assert options(None) == {}
    with pytest.raises(typer.BadParameter, match="'=x'"):
        options(["=x"])


def test_pairs_keep_their_order_and_repeat() -> None:
    given = ["b=1", "a=2", "b=3", "b=1"]
    assert pairs_of(given) == [("b", "1"), ("a", "2"), ("b", "3"), ("b", "1")]
    assert pairs_of(None) == []
    assert options(["a=1", "a=1"]) == {"a": "1"}
    with pytest.raises(typer.BadParameter, match="'a' has two values; give it once"):
        options(["a=1", "b=2", "a=3"])


def test_an_unreachable_broker_is_named_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    from typer.testing import CliRunner

    from aiokafka_lite.cli.app import app
    from aiokafka_lite.testing.free_ports import held_ports

    with held_ports(1) as (port,):
        result = CliRunner().invoke(app, ["topics", "list", "-b", f"127.0.0.1:{port}"])
    assert result.exit_code == 1
    assert f"127.0.0.1:{port}" in result.stderr
    assert "Traceback" not in result.output
