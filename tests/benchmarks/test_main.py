"""The one command: what it prints and the files it writes."""

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main


def test_command_prints_tables_and_writes_the_files_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {kind: tmp_path / f"told.{kind}" for kind in ("json", "svg", "md")}
    command = [
        *("benchmarks", "clients", "--brokers", "embedded", "--paths", "send", "getmany"),
        *("--peers", "ours", "aiokafka_peer", "--rounds", "2", "--scale", "0.001"),
        *("--json", str(files["json"]), "--plot", str(files["svg"])),
        *("--markdown", str(files["md"])),
    ]
    monkeypatch.setattr("sys.argv", command)
    main()
    printed = capsys.readouterr()
    assert "Clients on embedded broker" in printed.out
    assert printed.out.count("aiokafka-lite ") >= 3  # its version, and its two rows
    told = json.loads(files["json"].read_text())
    assert {"machine", "python", "build", "aiokafka-lite"} <= set(told["facts"])
    lines = told["tables"][0]["lines"]
    assert [(line["path"], line["client"]) for line in lines] == [
        ("send, keyed, then flush", "aiokafka-lite"),
        ("send, keyed, then flush", "aiokafka"),
        ("getmany, 500 a call", "aiokafka-lite"),
        ("getmany, 500 a call", "aiokafka"),
    ]
    assert all(len(line["samples"]) == 2 for line in lines)
    assert "|  | aiokafka-lite, CPU µs/record | aiokafka |" in files["md"].read_text()
    assert "<svg" in files["svg"].read_text()


def test_unknown_section_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "latencies"])
    with pytest.raises(SystemExit):
        main()
    assert "'latencies' is none of clients, latency" in capsys.readouterr().err
