"""A program of Spark's in a session of its own, in which all of its processes are: it is watched by
its log, and killed with them."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.testing.java_runtime import find_java

_POLL_S = 0.02


class OwnSession:
    """A child process, and all that it has started."""

    patience_s = 240.0
    """A test that waits longer than this has failed."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str], folder: Path
    ) -> None:
        """Start it in a folder; it writes to the log."""
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**environment, "JAVA_HOME": str(find_java().resolve().parents[1])},
                cwd=folder,
            )

    @property
    def pid(self) -> int:
        """The process that was started, and its session."""
        return self._process.pid

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Return when something is so. Fails when the program ends before, or it takes too long."""
        until_s = SYSTEM_CLOCK.monotonic() + self.patience_s
        while not is_so():
            assert SYSTEM_CLOCK.monotonic() < until_s, f"not so in time:\n{self._tail()}"
            assert self.runs_on_for(_POLL_S), f"the program ended:\n{self._tail()}"

    def runs_on_for(self, seconds: float) -> bool:
        """Wait; say whether it still runs."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.poll() is None

    def ends_well(self) -> None:
        """Wait for its end. Fails when it fails."""
        code = self._process.wait(self.patience_s)
        assert code == 0, f"exit code {code}:\n{self._tail()}"

    def members(self, words: str = "") -> list[int]:
        """Return its processes whose command line has these words."""
        return [pid for pid in _processes() if session(pid) == self.pid and words in command(pid)]

    def kill(self) -> int:
        """kill -9 for all of its processes; return how many there were."""
        killed = 0
        while members := self.members():
            for pid in members:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            self._process.wait()
        return killed

    def kill_workers(self) -> int:
        """kill -9 for the Python workers of tasks only; return how many there were."""
        daemons = set(self.members("pyspark.daemon"))
        workers = [pid for pid in daemons if parent(pid) in daemons]
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(workers)

    def log(self) -> str:
        """Return what it has written."""
        return self._log.read_text(errors="replace")

    def _tail(self) -> str:
        return self.log()[-4000:]


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _fields(pid: int) -> list[str]:
    """Return the fields of a process behind its name; a zombie is none."""
    try:
        found = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["Z", "0", "0", "0"]
    return ["Z", "0", "0", "0"] if found[0] == "Z" else found


def parent(pid: int) -> int:
    return int(_fields(pid)[1])


def session(pid: int) -> int:
    return int(_fields(pid)[3])


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def descendants(pid: int) -> Iterator[int]:
    """Yield the processes that a process has started, and those that they have."""
    for each in _processes():
        if parent(each) == pid:
            yield each
            yield from descendants(each)
