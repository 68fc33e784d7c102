"""A client in a process of its own, which reads and writes lines. Every call blocks."""

import json
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from benchmarks.peers.job import Outcome


class ChildProcess:
    """A child process; `child_process` makes it."""

    def __init__(self, process: "subprocess.Popen[str]", errors: TextIO) -> None:
        self._process = process
        self._errors = errors

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def expect(self, line: str) -> None:
        """Wait for a line. Raises: SystemExit with its error output if another line comes."""
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if said.strip() != line:
            self._give_up(f"said {said!r}, not {line!r}")

    def lines(self) -> Iterator[str]:
        """Yield its lines until it ends. Raises: SystemExit if it failed."""
        assert self._process.stdout is not None
        yield from self._process.stdout
        self._check_end()

    def say(self, line: str) -> None:
        """Write a line to it."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """Close its input, which tells a member to end; does not wait for it."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def outcome(self) -> Outcome:
        """Wait for the end and return the outcome. Raises: SystemExit if it failed."""
        assert self._process.stdout is not None
        said = self._process.stdout.read()
        self._check_end()
        return Outcome(**json.loads(said.splitlines()[-1]))

    def _check_end(self) -> None:
        self._process.wait()
        if self._process.returncode != 0:
            self._give_up("failed")

    def _give_up(self, what: str) -> None:
        self._errors.seek(0)
        raise SystemExit(f"{self._process.args!r} {what}:\n{self._errors.read()[-3000:]}")


@contextmanager
def child_process(command: Sequence[str], limit_s: float) -> Iterator[ChildProcess]:
    """Yield a child that lives at most `limit_s`, and no longer than the block."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        limit = threading.Timer(limit_s, process.kill)
        limit.start()
        try:
            yield ChildProcess(process, errors)
        finally:
            limit.cancel()
            process.kill()
