"""Measures one rebalance as readers notice it: the longest gap of each partition.

A group of one reads a topic that is written steadily, and a second member joins. A gap lies between
two returned records of a partition, of either member. Members and producer are processes of their
own. Every call blocks.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from benchmarks.peers.job import Job
from benchmarks.processes.child_process import ChildProcess, child_process
from benchmarks.processes.harness import peer_command

QUIET_S = 2.0
"""How long the group of one is watched before the join, to measure the machine's own gaps."""
WATCH_S = 5.0
"""How long both read. With heartbeats each second, two rebalances end in less than three."""
AFTERMATH_S = 0.3
"""How long after the last partition has moved the join counts as over."""
LIMIT_S = 60.0

Returned = tuple[float, int, int, int]
"""Moment, partition, first and last offset."""


@dataclass(slots=True)
class Pauses:
    """The effects of a join; seconds by partition."""

    quiet_s: list[float] = field(default_factory=list)
    """The longest gap of each partition before the join."""
    pause_s: list[float] = field(default_factory=list)
    """The longest gap of each partition that ended, or still lasted, after the join."""
    repeated: int = 0
    """Records that were returned twice."""
    skipped: int = 0
    """Records that were skipped: never returned, although later ones of their partition were."""
    moved: set[int] = field(default_factory=set)
    """The partitions that the second member read from."""


def measure(peer: str, job: Job, *, per_second: int) -> Pauses:
    """Let a second member join the group `job.group_id`, and return the effects."""
    topic = (job.bootstrap_servers, job.topic, str(job.partitions), str(per_second))
    with ExitStack() as stack:
        writer = stack.enter_context(
            child_process(
                [sys.executable, "-m", "benchmarks.processes.steady_producer", *topic], LIMIT_S
            )
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
    """Return each partition's longest gaps before and after the join, by the members' notes.

    Only records returned for the first time end a gap. If no member continued a partition, it
    paused until the end. Gaps that begin `AFTERMATH_S` after the last partition has moved are
    ignored.
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
    pauses.moved = set(moved_s)
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
