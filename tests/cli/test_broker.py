"""`aiokafka-lite broker`: a process that serves until it is told to end."""

import re
import signal
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
