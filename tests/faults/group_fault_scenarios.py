"""Plays accidents on a group with a real three-node Kafka: one function per accident.

Each is played on a `Stage`, which checks every rule all the time and at the end. The figure is the
time until every partition made progress again.
"""

import asyncio
import warnings
from collections.abc import Awaitable, Callable

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import GroupDescription
from aiokafka_lite.clock import SYSTEM_CLOCK
from tests.faults.group_faults import (
    Group,
    ProcessMember,
    Stage,
    coordinator_of,
    eventually,
)
from tests.support.topics import connected

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    import kafka  # reads its schemas by a way that Python 3.11 deprecates
    from kafka.admin import KafkaAdminClient

Scenario = Callable[[Stage], Awaitable[None]]

OUTAGE_S = 8.0
VISIT_S = 2.0
VISITS = 4
STEADILY_S = 0.015  # most rebalances come while the records of a poll are processed
SLOWLY_S = 0.06  # too slow for its share of the records, so a rebalance always comes meanwhile
MANNERS = ("commit", "auto", "iterate", "explicit")
PREFERRED = 0


async def member_killed(stage: Stage) -> None:
    """Kill two members in the middle of their work, one of them with auto-commit."""
    await stage.everyone(_two_tasks_and_two_processes)
    since_s = SYSTEM_CLOCK.monotonic()
    await stage.everyone(_kill_processes)
    await stage.resumed("after two members were killed", since_s)


async def _two_tasks_and_two_processes(group: Group) -> None:
    for manner in ("commit", "auto"):
        group.join(manner)
    for manner in ("explicit", "auto"):
        await group.spawn(manner, SLOWLY_S)
    await group.all_at_work()


def _processes(group: Group) -> list[ProcessMember]:
    return [member for member in group.members if isinstance(member, ProcessMember)]


async def _kill_processes(group: Group) -> None:
    for member in _processes(group):
        await group.kill(member)


async def members_paused(stage: Stage) -> None:
    """Stop two members by SIGSTOP until the others have their partitions, and let them go on."""
    await stage.everyone(_two_tasks_and_two_processes)
    since_s = SYSTEM_CLOCK.monotonic()
    for group in stage.groups:
        for member in _processes(group):
            member.pause()
    await stage.resumed("after two members were paused", since_s)
    back_s = SYSTEM_CLOCK.monotonic()
    for group in stage.groups:
        for member in _processes(group):
            member.go_on()
    await stage.everyone(lambda group: _have_lost(group, back_s))
    await stage.everyone(Group.all_at_work)
    await stage.resumed("after they went on", back_s)


async def _have_lost(group: Group, since_s: float) -> None:
    """Wait until the paused members know that they have lost their partitions."""
    names = {member.name for member in _processes(group)}

    def all_know() -> bool:
        lost = (each for each in group.history.refresh() if each.word == "lost")
        return names <= {each.member for each in lost if each.at_s > since_s}

    await eventually(f"{sorted(names)} of the {group!r} lose their partitions", all_know)


async def members_join_and_leave(stage: Stage) -> None:
    """Two members stay. Every two seconds a new one joins, and the previous new one leaves."""

    async def visits(group: Group) -> None:
        for manner in ("commit", "auto"):
            group.join(manner, STEADILY_S)
        await group.all_at_work()
        visitors = []
        for number in range(VISITS):
            visitors.append(group.join(MANNERS[number % 4], STEADILY_S))
            await asyncio.sleep(VISIT_S)
            visitors[-1].leave_soon()
        await group.leave(visitors)

    await stage.everyone(visits)
    await stage.resumed("after the last visit", SYSTEM_CLOCK.monotonic())


async def coordinator_killed(stage: Stage) -> None:
    """Kill the node that coordinates all groups, and start it again."""
    await stage.everyone(_three_that_stay)
    node_id = await _coordinator(stage)
    since_s = SYSTEM_CLOCK.monotonic()
    await stage.cluster.kill([stage.cluster.node(node_id)])
    await stage.resumed("after the coordinator was killed", since_s)
    await stage.cluster.heal()
    await stage.resumed("after it was back", SYSTEM_CLOCK.monotonic())


async def leader_killed(stage: Stage) -> None:
    """Kill a node that leads partitions and coordinates no group, and start it again."""
    await stage.everyone(_three_that_stay)
    coordinator = await _coordinator(stage)
    leaders = set((await stage.cluster.leaders(stage.topic)).values())
    node_id = next(node_id for node_id in leaders if node_id not in {coordinator, None})
    assert node_id is not None
    since_s = SYSTEM_CLOCK.monotonic()
    await stage.cluster.kill([stage.cluster.node(node_id)])
    await stage.resumed("after a leader was killed", since_s)
    await stage.cluster.heal()
    await stage.resumed("after it was back", SYSTEM_CLOCK.monotonic())


async def leaders_moved(stage: Stage) -> None:
    """Move every partition to another leader while all nodes run."""
    await stage.everyone(_three_that_stay)
    before = await stage.cluster.leaders(stage.topic)
    after = {p: leader % 3 + 1 for p, leader in before.items() if leader is not None}
    since_s = SYSTEM_CLOCK.monotonic()
    await asyncio.to_thread(_move_leaders, stage.cluster.address, stage.topic, after)
    async with asyncio.timeout(30):
        while await stage.cluster.leaders(stage.topic) != after:
            await asyncio.sleep(0.1)
    moved_s = SYSTEM_CLOCK.monotonic()
    await stage.resumed("since the leaders moved", moved_s)
    for group in stage.groups:
        group.figures["move itself"] = moved_s - since_s


def _move_leaders(address: str, topic: str, leaders: dict[int, int]) -> None:
    """Make each partition prefer another of its replicas, and elect the preferred ones."""
    with warnings.catch_warnings(action="ignore"):
        admin = KafkaAdminClient(bootstrap_servers=address.split(","))
        try:
            refusals = admin.alter_partition_reassignments(
                {
                    kafka.TopicPartition(topic, partition): [
                        (leader - 1 + step) % 3 + 1 for step in range(3)
                    ]
                    for partition, leader in leaders.items()
                }
            )
            assert not any(refusals.values()), refusals
            admin.elect_leaders(PREFERRED, {topic: list(leaders)}, timeout_ms=10_000)
        finally:
            admin.close()


async def nodes_restarted(stage: Stage) -> None:
    """Restart one node after the other, as an upgrade does."""
    await stage.everyone(_three_that_stay)
    for node in stage.cluster.kafka.nodes:
        since_s = SYSTEM_CLOCK.monotonic()
        await stage.cluster.restart(node)
        await stage.resumed(f"since node {node.node_id} was stopped", since_s)


async def group_migrated(stage: Stage) -> None:
    """Exchange members of the classic protocol for `auto`, one by one, and back again."""
    await stage.everyone(_three_that_stay)
    for protocol, expected in (("auto", "consumer"), (None, "classic")):
        since_s = SYSTEM_CLOCK.monotonic()
        await asyncio.gather(*(_exchange_members(group, protocol) for group in stage.groups))
        await stage.resumed(f"since the move to {expected}", since_s)
        for group in stage.groups:
            assert await _type_of(stage, group) == expected


async def _exchange_members(group: Group, protocol: str | None) -> None:
    for member in list(group.members):
        group.join(member.name.split("-")[0], protocol=protocol)
        await group.all_at_work()
        await group.leave([member])
    await group.all_at_work()


async def _type_of(stage: Stage, group: Group) -> str:
    async with AIOKafkaAdminClient(bootstrap_servers=stage.cluster.address) as admin:
        described = (await admin.describe_groups([group.group_id]))[group.group_id]
    assert isinstance(described, GroupDescription)
    return described.type


async def all_brokers_down(stage: Stage) -> None:
    """Kill all nodes for eight seconds. Meanwhile some members stop, at once and later."""
    cluster = stage.cluster

    async def begin(group: Group) -> None:
        group.join("auto")
        group.join("iterate")
        await _three_that_stay(group)

    await stage.everyone(begin)
    since_s = SYSTEM_CLOCK.monotonic()
    await cluster.kill(cluster.kafka.nodes)
    for group in stage.groups:
        group.members[0].leave_soon()
    await asyncio.sleep(2)
    for group in stage.groups:
        group.members[1].leave_soon()
    await stage.everyone(lambda group: group.leave(group.members[:2]))
    await asyncio.sleep(since_s + OUTAGE_S - SYSTEM_CLOCK.monotonic())
    await cluster.heal()
    healed_s = SYSTEM_CLOCK.monotonic()
    await stage.resumed("since all nodes were killed", since_s)
    await stage.resumed("since all nodes were back", healed_s)


async def _coordinator(stage: Stage) -> int:
    async with connected(stage.cluster.address) as client:
        found = {await coordinator_of(client, group.group_id) for group in stage.groups}
    assert len(found) == 1, "all groups have one coordinator"
    return found.pop()


async def _three_that_stay(group: Group) -> None:
    for manner in ("commit", "auto", "explicit"):
        group.join(manner)
    await group.all_at_work()


SPARING_NODES = (member_killed, members_join_and_leave, leaders_moved)
STRIKING_NODES = (coordinator_killed, leader_killed, all_brokers_down)
LONG = (members_paused, nodes_restarted, group_migrated)
SCENARIOS = (*SPARING_NODES, *STRIKING_NODES, *LONG)
