"""One rebalance as readers feel it: a group of one reads a topic that is written steadily, a second
member joins, and each partition's longest gap between two records returned by anybody is taken.

Members and producer are processes of their own. Every call blocks.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from benchmarks.harness import peer_command
from benchmarks.peers.job import Job

QUIET_S = 2.0
"""How long the group of one is watched before the join: what the machine itself makes of gaps."""
WATCH_S = 5.0
"""How long both read: with heartbeats each second two rebalances end in less than three."""
AFTERMATH_S = 0.3
"""The join is over so long after the last partition has moved: later gaps are not its doing."""
LIMIT_S = 60.0

Returned = tuple[float, int, int, int]
"""Moment, partition, first and last offset."""


@dataclass(slots=True)
class Pauses:
    """What a join did; seconds by partition."""

    quiet_s: list[float] = field(default_factory=list)
    """The longest gap of each partition while nobody joined."""
    pause_s: list[float] = field(default_factory=list)
    """The longest gap of each partition that ended, or still lasted, after the join."""
    repeated: int = 0
    """Records that were returned twice."""
    skipped: int = 0
    """Records nobody returned though later ones of their partition were."""
    moved: int = 0
    """Partitions the second member read from."""


def measure(peer: str, job: Job, *, per_second: int) -> Pauses:
    """Let a second member join the first of group `job.group_id`, and return what came of it."""
    topic = (job.bootstrap_servers, job.topic, str(job.partitions), str(per_second))
    with ExitStack() as stack:
        writer = stack.enter_context(
            _process([sys.executable, "-m", "benchmarks.steady_producer", *topic])
        )
        writer.expect("writing")
        first, second = (
            stack.enter_context(_process(peer_command(peer, "member", job))) for _ in range(2)
        )
        first.join()
        second.expect("ready")
        first.expect("reading")
        time.sleep(QUIET_S)
        joined_s = time.monotonic()
        second.say("join")
        time.sleep(WATCH_S)
        first.close()
        second.close()
        returned = [first.notes(), second.notes()]
    return find_pauses(returned, range(job.partitions), joined_s)


def find_pauses(
    returned: Sequence[Sequence[Returned]], partitions: Sequence[int], joined_s: float
) -> Pauses:
    """Find each partition's longest gaps before and after the join in what the members noted.

    Only records that nobody had returned before end a gap. A partition nobody went on with paused
    until the end. What comes `AFTERMATH_S` after the last partition has moved is not looked at.
    """
    pauses = Pauses()
    by_partition: dict[int, list[Returned]] = defaultdict(list)
    for item in sorted((item for member in returned for item in member), key=lambda each: each[0]):
        by_partition[item[1]].append(item)
    end_s = joined_s + WATCH_S
    moved_s: dict[int, float] = {}
    for moment_s, partition, _, _ in returned[1]:
        if moment_s < end_s:
            moved_s.setdefault(partition, moment_s)
    pauses.moved = len(moved_s)
    end_s = min(end_s, max(moved_s.values(), default=end_s) + AFTERMATH_S)
    for partition in partitions:
        quiet_s = pause_s = 0.0
        last_s, next_offset = joined_s - QUIET_S, None
        for moment_s, _, first, last in by_partition[partition]:
            if next_offset is not None:
                pauses.repeated += max(0, min(last + 1, next_offset) - first)
                pauses.skipped += max(0, first - next_offset)
                if last < next_offset:
                    continue
            next_offset = last + 1
            if joined_s - QUIET_S <= last_s and moment_s <= joined_s:
                quiet_s = max(quiet_s, moment_s - last_s)
            elif moment_s > joined_s and last_s < end_s:
                pause_s = max(pause_s, moment_s - last_s)
            last_s = moment_s
        pauses.quiet_s.append(quiet_s)
        pauses.pause_s.append(max(pause_s, end_s - last_s))
    return pauses


class _Process:
    """A child that is spoken to by lines."""

    def __init__(self, process: "subprocess.Popen[str]", errors: TextIO) -> None:
        self._process = process
        self._errors = errors

    def expect(self, line: str) -> None:
        """Wait for a line. Raises: SystemExit with its error output if anything else comes."""
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if said.strip() != line:
            self._give_up(f"said {said!r}, not {line!r}")

    def say(self, line: str) -> None:
        """Write a line to it."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def join(self) -> None:
        """Let a member that is ready join."""
        self.expect("ready")
        self.say("join")

    def close(self) -> None:
        """Let a member end, without waiting for it."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def notes(self) -> list[Returned]:
        """Return what a member that was closed has noted."""
        assert self._process.stdout is not None
        said = self._process.stdout.read()
        self._process.wait()
        if self._process.returncode != 0:
            self._give_up("failed")
        figures = json.loads(said.splitlines()[-1])
        return [(moment, *rest) for moment, *rest in figures["returned"]]

    def _give_up(self, what: str) -> None:
        self._errors.seek(0)
        raise SystemExit(f"{self._process.args!r} {what}:\n{self._errors.read()[-3000:]}")


@contextmanager
def _process(command: list[str]) -> Iterator[_Process]:
    """A child that lives at most `LIMIT_S`, and no longer than the block."""
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        limit = threading.Timer(LIMIT_S, process.kill)
        limit.start()
        try:
            yield _Process(process, errors)
        finally:
            limit.cancel()
            process.kill()
