"""Clients in several interpreters and event loops: what is run where, and what is told."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
import uvloop

from benchmarks.__main__ import main
from benchmarks.clients import environments
from benchmarks.peers.job import Job
from benchmarks.processes.harness import peer_command, run_peer
from benchmarks.processes.run_peer import main as run_peer_main

HERE = f"CPython {sys.version.split()[0]}"


def test_a_client_runs_in_the_interpreter_it_was_asked_for(address: str, tmp_path: Path) -> None:
    python, seen = tmp_path / "python", tmp_path / "seen"
    python.write_text(f'#!/bin/sh\necho "$@" > {seen}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    assert run_peer("ours", "send", Job(address, "by", 2000), python=str(python)).records == 2000
    assert seen.read_text().startswith("-m benchmarks.processes.run_peer ours send ")


def test_a_client_runs_in_the_loop_it_was_asked_for(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[asyncio.AbstractEventLoop] = []

    def new_event_loop() -> asyncio.AbstractEventLoop:
        made.append(uvloop.Loop())
        return made[0]

    monkeypatch.setattr(uvloop, "new_event_loop", new_event_loop)
    monkeypatch.setattr("sys.argv", peer_command("ours", "send", Job(address, "in", 2000))[2:])
    run_peer_main()
    assert not made, "asyncio's own"
    job = Job(address, "in", 2000, loop="uvloop")
    monkeypatch.setattr("sys.argv", peer_command("ours", "send", job)[2:])
    run_peer_main()
    assert [loop.is_closed() for loop in made] == [True]
    assert capsys.readouterr().out.count('"records": 2000') == 2


def test_an_interpreter_without_the_package_is_told_with_its_error(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    python = str(tmp_path / "bin" / "python")
    with pytest.raises(
        SystemExit, match=r"pip install -e '.\[bench\]' may help:\n(.*\n)*.*aiokafka"
    ):
        environments.look_at([python], ["asyncio"], ["aiokafka"])
    with pytest.raises(SystemExit, match=r"cannot be run: .*No such file"):
        environments.look_at([str(tmp_path / "none")], ["asyncio"], ["ours"])


def test_the_command_writes_a_column_for_each_loop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    markdown, values = tmp_path / "told.md", tmp_path / "told.json"
    command = [
        *("benchmarks", "clients", "--brokers", "embedded", "--paths", "send", "getmany"),
        *("--loops", "asyncio", "uvloop", "--pythons", sys.executable, "--scale", "0.001"),
        *("--peers", "ours", "aiokafka_peer", "confluent_peer", "--rounds", "1"),
        *("--markdown", str(markdown), "--json", str(values)),
    ]
    monkeypatch.setattr("sys.argv", command)
    main()
    assert "Interpreters and event loops on embedded broker" in capsys.readouterr().out
    heading, _, *rows = [line for line in markdown.read_text().splitlines() if line[:1] == "|"]
    corner, *columns = [cell.strip() for cell in heading.strip("|").split("|")]
    assert corner == "CPU µs/record"
    assert [column.rpartition(", ")[2] for column in columns] == ["asyncio", "uvloop"]
    assert all(column.startswith(HERE) for column in columns)
    assert [row.split("|")[1].strip() for row in rows] == [
        "send, keyed, then flush: aiokafka-lite",
        "send, keyed, then flush: aiokafka",
        "getmany, 500 a call: aiokafka-lite",
        "getmany, 500 a call: aiokafka",
    ], "confluent-kafka's client knows no event loop"
    lines = json.loads(values.read_text())["tables"][0]["lines"]
    assert len(lines) == len(rows) * len(columns)
    assert all(line["median"] > 0 for line in lines)


def test_clients_that_know_no_loop_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["benchmarks", "clients", "--loops", "uvloop", "--peers", "confluent_peer"]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit):
        main()
    assert "--loops and --pythons measure ours, aiokafka_peer" in capsys.readouterr().err
