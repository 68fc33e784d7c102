"""Measures CPU and memory of a process with all its descendants, also ended ones; Linux only.

It also tells the processes of Spark apart: the JVM, planners of streams, workers of tasks.

The system adds the CPU of an ended process to its parent, if the parent waits for it. Spark's
Python daemons do not wait. For their children the last seen value counts.
"""

import ctypes
import os
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from signal import SIGCHLD

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_EVERY_S = 0.5
JVM, STREAM_PLANNER, WORKER, OTHER = "JVM", "stream's planner", "task workers", "other Python"
"""Kinds of processes."""
ENDING = ""
"""The kind of one that ends: it has no command line any more, so it stays what it was."""
_KINDS = {"pyspark.worker": WORKER, "python_streaming_source_runner": STREAM_PLANNER}
"""By the end of the name of PySpark's module."""


@dataclass(frozen=True, slots=True)
class Process:
    """The system's facts about one process."""

    pid: int
    parent: int
    started: int
    """Ticks since boot: a pid may be reused, but not at the same moment."""
    cpu_s: float
    """Of its threads, and of the children for which it has waited."""
    rss_bytes: int
    waits: bool = True
    """Whether it waits for ended children."""
    own_s: float = 0.0
    """Of its threads alone."""
    kind: str = OTHER


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose parents end before them.

    Raises: OSError if the system does not support that.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this system adopts no orphans")


def parse(stat: str, status: str, command: str = "") -> Process:
    """Read /proc/PID/stat, status and cmdline; the name in the first may hold spaces and
    brackets.
    """
    pid = int(stat[: stat.index(" ")])
    fields = stat[stat.rindex(")") + 2 :].split()
    return Process(
        pid=pid,
        parent=int(fields[1]),
        started=int(fields[19]),
        cpu_s=sum(map(int, fields[11:15])) / _TICKS,
        rss_bytes=int(fields[21]) * _PAGE_BYTES,
        waits=not _ignored(status) >> (SIGCHLD - 1) & 1,
        own_s=sum(map(int, fields[11:13])) / _TICKS,
        kind=kind_of(command.split("\0")),
    )


def kind_of(words: Sequence[str]) -> str:
    """Return the kind of a process by its command line."""
    if not words[0]:
        return ENDING
    if words[0].endswith("java"):
        return JVM
    # A daemon has its own module in front of that of its workers.
    module = next((each for each in reversed(words) if each.startswith("pyspark.")), "")
    return next((kind for end, kind in _KINDS.items() if module.endswith(end)), OTHER)


def _ignored(status: str) -> int:
    for line in status.splitlines():
        if line.startswith("SigIgn:"):
            return int(line.split()[1], 16)
    return 0


def tree(root: int) -> list[Process]:
    """Return the process `root` and all its present descendants, parents first."""
    children: dict[int, list[Process]] = defaultdict(list)
    found = []
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                texts = [(entry / name).read_text() for name in ("stat", "status", "cmdline")]
                each = parse(*texts)
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            children[each.parent].append(each)
            if each.pid == root:
                found.append(each)
    for each in found:  # the list grows during the loop
        found += children[each.pid]
    return found


class TreeWatch:
    """The measured use of a tree."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._seen: dict[tuple[int, int], Process] = {}
        self._lost_s = 0.0
        self._ended_s: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.peak_bytes = 0
        """The highest resident memory, summed over processes. Shared memory counts in each."""

    def cpu_s(self) -> float:
        """Measure, and return the CPU seconds of the tree since its beginning."""
        with self._lock:
            self.note(tree(self._root))
            return self.total_s

    @property
    def total_s(self) -> float:
        """CPU seconds of all processes seen."""
        return self._lost_s + sum(each.cpu_s for each in self._seen.values())

    def cpu_by_kind(self) -> dict[str, float]:
        """Measure, and return the CPU seconds of each kind of process.

        Of an ended process it misses what came behind the last look.
        """
        with self._lock:
            self.note(tree(self._root))
            found = defaultdict(float, self._ended_s)
            for each in self._seen.values():
                found[each.kind] += each.own_s
            return dict(found)

    def note(self, processes: Iterable[Process]) -> None:
        """Record the processes of one measurement."""
        now = {(each.pid, each.started): self._named(each) for each in processes}
        deaf = {each.pid for each in self._seen.values() if not each.waits}
        gone = self._seen.keys() - now.keys()
        self._lost_s += sum(self._seen[at].cpu_s for at in gone if self._seen[at].parent in deaf)
        for at in gone:
            self._ended_s[self._seen[at].kind] += self._seen[at].own_s
        self._seen = now
        self.peak_bytes = max(self.peak_bytes, sum(each.rss_bytes for each in now.values()))

    def _named(self, process: Process) -> Process:
        if process.kind != ENDING:
            return process
        before = self._seen.get((process.pid, process.started))
        return replace(process, kind=OTHER if before is None else before.kind)

    def look_until_ended(self) -> None:
        """Measure now and then, so that little of ended processes is missed."""
        while not self._ended.wait(_LOOK_EVERY_S):
            self.cpu_s()

    def end(self) -> None:
        """Stop measuring."""
        self._ended.set()


@contextmanager
def watched(root: int) -> Iterator[TreeWatch]:
    """Watch a tree during the block."""
    watch = TreeWatch(root)
    thread = threading.Thread(target=watch.look_until_ended, daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.end()
        thread.join()
