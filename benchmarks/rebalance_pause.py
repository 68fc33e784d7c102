"""One rebalance as readers feel it: a group of one reads a topic that is written steadily, a second
member joins, and each partition's longest gap between two records returned by anybody is taken.

Members and producer are processes of their own. Every call blocks.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.child_process import ChildProcess, child_process
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
            child_process([sys.executable, "-m", "benchmarks.steady_producer", *topic], LIMIT_S)
        )
        writer.expect("writing")
        first, second = (
            stack.enter_context(child_process(peer_command(peer, "member", job), LIMIT_S))
            for _ in range(2)
        )
        _join(first)
        second.expect("ready")
        first.expect("reading")
        time.sleep(QUIET_S)
        joined_s = time.monotonic()
        second.say("join")
        time.sleep(WATCH_S)
        first.close()
        second.close()
        returned = [first.outcome().returned, second.outcome().returned]
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


def _join(member: ChildProcess) -> None:
    member.expect("ready")
    member.say("join")
