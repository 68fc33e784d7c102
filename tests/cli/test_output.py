"""Tables for people, JSON for programs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.cli.output import (
    Digits,
    OutputFormat,
    TwoBars,
    complain,
    counted,
    flushed_stdout,
    plain_columns,
    show,
    warn,
)


def test_json_names_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    show(OutputFormat.JSON, "Topics", ("topic", "partitions"), [("orders", 3)])
    assert json.loads(capsys.readouterr().out) == [{"topic": "orders", "partitions": 3}]


def test_a_table_groups_digits_and_may_be_empty(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes stdout for a terminal
    show(OutputFormat.TABLE, "Keys", ("key", "records"), [("UA", 58665)])
    assert "58,665" in capsys.readouterr().out
    show(OutputFormat.TABLE, "Keys", ("key", "records"), [])
    assert "records" in capsys.readouterr().out


def test_other_programs_read_plain_columns(capsys: pytest.CaptureFixture[str]) -> None:
    show(OutputFormat.TABLE, "Keys", ("key", "records"), [("UA", 58665), ("", 7)])
    assert capsys.readouterr().out == "KEY  RECORDS\nUA   58665\n-    7\n"
    assert plain_columns(("key",), []) == "KEY\n"


def test_ids_and_offsets_are_numbers_without_groups(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, rows = ("broker", "offset", "rack"), [(Digits(1), Digits(58665), None)]
    show(OutputFormat.JSON, "Brokers", columns, rows)
    assert json.loads(capsys.readouterr().out) == [{"broker": 1, "offset": 58665, "rack": None}]
    show(OutputFormat.TABLE, "Brokers", columns, rows)
    assert capsys.readouterr().out == "BROKER  OFFSET  RACK\n1       58665   -\n"
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes stdout for a terminal
    show(OutputFormat.TABLE, "Brokers", columns, rows)
    assert "58665" in capsys.readouterr().out


def test_a_cell_of_several_values_is_an_array_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    columns = ("partition", "replicas", "in_sync")
    rows: list[tuple[Any, ...]] = [(0, [1, 2], [])]
    show(OutputFormat.JSON, "Topic", columns, rows)
    assert json.loads(capsys.readouterr().out) == [
        {"partition": 0, "replicas": [1, 2], "in_sync": []}
    ]
    show(OutputFormat.TABLE, "Topic", columns, rows)
    assert capsys.readouterr().out.splitlines()[1].split() == ["0", "1", "2", "-"]


def test_one_is_singular() -> None:
    assert [counted(number, "record") for number in (0, 1, 2)] == [
        "0 records",
        "1 record",
        "2 records",
    ]


def test_what_cannot_be_written_is_told_and_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    for failure, expected in ((None, OSError), (KeyError("of the command"), KeyError)):
        with Path("/dev/full").open("w") as full:
            monkeypatch.setattr(sys, "stdout", full)
            full.write("lost")
            with pytest.raises(expected), flushed_stdout():
                _fail_with(failure)
            full.flush()  # as the interpreter does at its end


def _fail_with(failure: Exception | None) -> None:
    if failure is not None:
        raise failure


def test_a_closed_stdout_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OSError, match="standard output is closed"), flushed_stdout():
        pass


def test_bars_are_silent_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with TwoBars(10) as bars:
        bars.produced(5)
        bars.consumed(5)
    assert capsys.readouterr() == ("", "")


def test_errors_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    complain("no such topic")
    assert capsys.readouterr() == ("", "error: no such topic\n")
    warn("no such option")
    assert capsys.readouterr() == ("", "warning: no such option\n")
