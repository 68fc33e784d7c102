"""Tables for people, JSON for programs."""

import json

import pytest

from aiokafka_lite.cli.output import OutputFormat, TwoBars, complain, show


def test_json_names_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    show(OutputFormat.JSON, "Topics", ("topic", "partitions"), [("orders", 3)])
    assert json.loads(capsys.readouterr().out) == [{"topic": "orders", "partitions": 3}]


def test_a_table_groups_digits_and_may_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    show(OutputFormat.TABLE, "Keys", ("key", "records"), [("UA", 58665)])
    assert "58,665" in capsys.readouterr().out
    show(OutputFormat.TABLE, "Keys", ("key", "records"), [])
    assert "records" in capsys.readouterr().out


def test_bars_are_silent_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with TwoBars(10) as bars:
        bars.produced(5)
        bars.consumed(5)
    assert capsys.readouterr() == ("", "")


def test_errors_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    complain("no such topic")
    assert capsys.readouterr() == ("", "error: no such topic\n")
