"""What the demo shows people, and how it says no."""

import json
from pathlib import Path

from tests.cli.conftest import Invoke


def test_people_get_a_table_and_throughput(invoke: Invoke) -> None:
    result = invoke("demo", "--limit", "500", "--key", "origin")
    assert result.exit_code == 0, result.stderr
    for shown in ("EWR", "JFK", "LGA", "PARTITION", "500 records", "/s"):
        assert shown in result.stdout


def test_programs_get_json_alone_on_stdout(invoke: Invoke) -> None:
    result = invoke("demo", "--limit", "500", "--key", "origin", "--output", "json")
    assert {row["key"] for row in json.loads(result.stdout)} == {"EWR", "JFK", "LGA"}
    assert "500 records" in result.stderr


def test_a_file_that_is_not_there_is_named(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("demo", "--file", str(tmp_path / "nowhere.csv"))
    assert result.exit_code == 1
    assert "nowhere.csv" in result.stderr


def test_an_empty_file_is_no_crash(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("a,b\n")
    result = invoke("demo", "--file", str(tmp_path / "empty.csv"), "--key", "a")
    assert result.exit_code == 0, result.stderr
    assert "0 records" in result.stdout


def test_a_broker_that_is_not_there_is_named(invoke: Invoke) -> None:
    from aiokafka_lite.testing.free_ports import held_ports

    with held_ports(1) as (port,):
        result = invoke("demo", "--broker", f"127.0.0.1:{port}", "--limit", "1")
    assert result.exit_code == 1
    assert f"127.0.0.1:{port}" in result.stderr
