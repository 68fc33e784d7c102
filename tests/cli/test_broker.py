"""`aiokafka-lite broker`: a process that serves until it is told to end."""

import re
import signal
import socket
import subprocess
import sys

from typer.testing import CliRunner

from aiokafka_lite.cli.app import app


def test_it_serves_until_it_is_interrupted() -> None:
    command = [sys.executable, "-u", "-m", "aiokafka_lite", "broker", "--port", "0", "--nodes", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"serving on (\S+)", line)
        assert found, line
        assert len(found[1].split(",")) == 2
        listed = CliRunner().invoke(app, ["topics", "list", "-b", found[1], "--output", "json"])
        assert listed.stdout.strip() == "[]"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_port_that_is_taken_or_impossible_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        taken = CliRunner().invoke(app, ["broker", "--port", str(port)])
    assert taken.exit_code == 1
    impossible = CliRunner().invoke(app, ["broker", "--port", "80000"])
    assert impossible.exit_code == 2
    for result, named in ((taken, str(port)), (impossible, "80000")):
        assert len(result.stderr.splitlines()) == 1
        assert named in result.stderr
