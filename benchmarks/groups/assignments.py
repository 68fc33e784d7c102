"""Measures what the leader of a classic group does: reads its members, assigns, checks, encodes.

    python -m benchmarks.groups.assignments [--members 1000] [--partitions 50000] [--rounds 3]

There is no broker. `new`: no member has partitions. `again`: all have what they were given.
`joins`, `leaves`: the same, and one member more or less. `halves` are two, with a third of the
topics in both. A figure is the CPU of all threads, the least of the rounds. The longest step is
that of the leader's event loop, the most of all rounds.
"""

import argparse
import asyncio
import gc
import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.consumer.group.classic.group_leader import GroupLeader
from aiokafka_lite.consumer.group.classic.rebalance import MemberPosition, join_protocols
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from benchmarks.report.machine_facts import machine_facts

ASSIGNORS: Final = (
    RangePartitionAssignor,
    RoundRobinPartitionAssignor,
    StickyPartitionAssignor,
    CooperativeStickyAssignor,
)
TOPICS: Final = (50, 1_000, 5_000)
MOMENTS: Final = ("new", "again", "joins", "leaves")

Given = dict[str, ConsumerProtocolMemberAssignment]


@dataclass(frozen=True, slots=True)
class Group:
    """The members of a group, and the topics that the cluster has."""

    kind: type[AbstractPartitionAssignor]
    members: int
    topics: list[str]
    each: int
    """Partitions of a topic."""
    subscribe: str

    def names(self) -> list[str]:
        """Member ids in the form that coordinators give."""
        rng = random.Random(1)
        return [f"consumer-{at}-{rng.getrandbits(128):032x}" for at in range(self.members + 1)]

    def told(self, members: Iterable[tuple[int, str]], given: Given) -> JoinGroupResponse:
        """Return what the coordinator tells the leader, whose members have what was `given`."""
        found = []
        third = len(self.topics) // 3
        halves = self.topics[:-third], self.topics[third:]
        for at, member_id in members:
            topics = self.topics if self.subscribe == "alike" else halves[at % 2]
            assignor, mine = self.kind(), given.get(member_id)
            if mine is not None:
                assignor.on_assignment(mine)
                assignor.on_generation(1)
            owned = mine.partitions() if mine and "cooperative" in assignor.name else []
            position = MemberPosition(owned, 1 if mine else -1, None)
            (said,) = join_protocols([assignor], topics, position)
            found.append(JoinGroupResponseMember(member_id=member_id, metadata=said.metadata))
        first = found[0].member_id
        return JoinGroupResponse(leader=first, member_id=first, members=found)

    async def led(self, joined: JoinGroupResponse) -> tuple[dict[str, bytes], float, float]:
        """Return what the leader sends, its CPU, and the CPU of the longest step; seconds."""
        partitions = tuple(range(self.each))
        known = dict.fromkeys(self.topics, partitions)
        snapshot = SimpleNamespace(partition_ids=known.__getitem__, topics={}, nodes={})
        config = SimpleNamespace(client_id="c")
        client: Any = SimpleNamespace(metadata=SimpleNamespace(snapshot=snapshot), config=config)
        assignor = self.kind()
        leader = GroupLeader(client)
        gc.collect()
        began, step_s = time.process_time(), 0.0
        work = asyncio.ensure_future(
            leader.assign(assignor, joined, assignor.supported_protocols[0])
        )
        while not work.done():
            before = time.thread_time()
            await asyncio.sleep(0.001)
            step_s = max(step_s, time.thread_time() - before)
        return await work, time.process_time() - began, step_s


def measured(group: Group, rounds: int) -> Iterator[tuple[float, float]]:
    """Yield CPU and longest step of each of `MOMENTS`; seconds."""
    names = list(enumerate(group.names()))
    before = names[:-1]

    def least(joined: JoinGroupResponse) -> tuple[dict[str, bytes], float, float]:
        taken = [asyncio.run(group.led(joined)) for _ in range(rounds)]
        return taken[0][0], min(cpu_s for _, cpu_s, _ in taken), max(step for *_, step in taken)

    sent, *costs = least(group.told(before, {}))
    yield costs[0], costs[1]
    given = {key: ConsumerProtocolMemberAssignment.decode(each) for key, each in sent.items()}
    later = [group.told(each, given) for each in (before, names, before[:3] + before[4:])]
    del given  # a leader does not have it, and the garbage collector would look through it
    for joined in later:
        _, cpu_s, step_s = least(joined)
        yield cpu_s, step_s


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--members", type=int, default=1_000)
    parser.add_argument("--partitions", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    facts = machine_facts()
    print(f"{facts['date']}, {facts['machine']}, {facts['python']}; {options.members:,} members,")
    print(f"{options.partitions:,} partitions; CPU in ms, the least of {options.rounds} rounds\n")
    print(f"| assignor, subscriptions, topics | {' | '.join(MOMENTS)} | longest step |")
    print(f"|---|{'---|' * (len(MOMENTS) + 1)}")
    for kind in ASSIGNORS:
        for subscribe in ("alike", "halves"):
            for topics in TOPICS:
                if topics <= options.partitions:
                    names = [f"topic-{number}" for number in range(topics)]
                    each = options.partitions // topics
                    group = Group(kind, options.members, names, each, subscribe)
                    costs = list(measured(group, options.rounds))
                    row = " | ".join(f"{cpu_s * 1000:.0f}" for cpu_s, _ in costs)
                    step_ms = max(step_s for _, step_s in costs) * 1000
                    assignor = kind().name
                    print(f"| {assignor}, {subscribe}, {topics:,} | {row} | {step_ms:.1f} |")


if __name__ == "__main__":
    main()
