"""The run of a schedule: a cluster, a group of consumers, and what `group_steps` says happens.

`play` goes through the steps in virtual time, ends all trouble, and lets the members that are there
read on. What the model has to complain of by then is what the tests judge.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.cluster_state import TopicState
from aiokafka_lite.testing.broker.state.groups.group_offsets import GroupOffsets, StoredOffset
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from tests.adversity.cluster_troubles import ClusterTroubles
from tests.adversity.group.group_member import API_TIMEOUT_MS, Member
from tests.adversity.group.group_model import GroupModel
from tests.adversity.group.group_steps import (
    METADATA_MAX_AGE_MS,
    NODES,
    TOPICS,
    Crash,
    Create,
    Delete,
    Disconnect,
    FailApi,
    Grow,
    Isolate,
    Join,
    Latency,
    Leave,
    MemberOptions,
    MoveCoordinator,
    MoveLeader,
    OfMember,
    Reconnect,
    Recreate,
    Release,
    StartNode,
    Step,
    StopNode,
    Trim,
    Trouble,
    Truncate,
    Wait,
    Write,
)
from tests.consumer.batches import batch

GROUP = "g"
FIRST_PARTITIONS = 2
MAX_PARTITIONS = 4
SESSION_TIMEOUT_MS = 6_000
HEARTBEAT_MS = 1_000
_BY_MEMBERS = {"session_timeout_ms": SESSION_TIMEOUT_MS, "heartbeat_interval_ms": HEARTBEAT_MS}
PROTOCOLS: dict[str, dict[str, Any]] = {
    "eager": {**_BY_MEMBERS, "partition_assignment_strategy": [RangePartitionAssignor]},
    "cooperative": {**_BY_MEMBERS, "partition_assignment_strategy": [CooperativeStickyAssignor]},
    "consumer": {"group_protocol": "consumer"},
}
"""By name: the options of members. With the last one, brokers have the same times."""
READ_ALL_WITHIN_S = 60.0
"""When there is no trouble any more: sessions run out, listeners wait, what failed is repeated."""
LOOK_EVERY_S = 0.5
MAX_TURNS = 400_000


class Play:
    """One run of a schedule."""

    def __init__(
        self,
        broker: EmbeddedBroker,
        clock: FakeClock,
        network: VirtualNetwork,
        model: GroupModel,
        *,
        protocol: str,
    ) -> None:
        self.broker = broker
        self.clock = clock
        self.troubles = ClusterTroubles(broker, network, GROUP)
        self.network = network
        self.model = model
        self.members: dict[int, Member] = {}
        self.tasks: list[asyncio.Task[None]] = []
        self._protocol = PROTOCOLS[protocol]
        self._counts: dict[str, int] = {}
        self._has_grown = False

    # Members…

    def join(self, number: int, options: MemberOptions) -> None:
        """Let a consumer take a place."""
        name = f"m{number}.{sum(task.get_name().startswith(f'm{number}.') for task in self.tasks)}"
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.broker.bootstrap_servers,
            client_id=name,
            group_id=GROUP,
            group_instance_id=f"s{number}" if options.is_static else None,
            **self._protocol,
            auto_offset_reset="earliest",
            enable_auto_commit=options.auto_commit_interval_ms is not None,
            auto_commit_interval_ms=options.auto_commit_interval_ms or 5_000,
            max_poll_interval_ms=options.max_poll_interval_ms,
            max_poll_records=options.max_poll_records,
            prefetch_max_bytes=options.prefetch_max_bytes,
            fetch_max_bytes=options.fetch_max_bytes,
            fetch_max_wait_ms=200,
            request_timeout_ms=3_000,
            default_api_timeout_ms=API_TIMEOUT_MS,
            retry_backoff_ms=20,
            retry_backoff_max_ms=200,
            reconnect_backoff_ms=20,
            reconnect_backoff_max_ms=200,
            metadata_max_age_ms=options.metadata_max_age_ms,
            allow_auto_create_topics=False,
            clock=self.clock,
            rng=random.Random(number),
        )
        self.model.tell(f"{name} joins")
        member = Member(name, consumer, options, self.model, self.clock, self._known_members)
        member.task = asyncio.create_task(member.live(), name=name)
        self.members[number] = member
        self.tasks.append(member.task)

    def _known_members(self) -> set[str]:
        """Return the names of those whom the coordinator has as members."""
        ids = set(self.broker.group(GROUP).members)
        return {member.name for member in self.members.values() if member.is_in(ids)}

    @property
    def _living(self) -> list[Member]:
        return [member for member in self.members.values() if not member.is_over]

    def _of(self, number: int) -> Member | None:
        """Return one of those who are there: numbers are counted round."""
        living = self._living
        return living[number % len(living)] if living else None

    # What happens…

    async def step(self, step: Step) -> None:
        """Let one step happen."""
        self.model.tell(f"-- {step}")
        match step:
            case Join(number, options):
                if number not in self.members or self.members[number].is_over:
                    self.join(number, options)
            case Crash(number):
                if (member := self._of(number)) is not None:
                    self.troubles.crash(member.name)
                    member.die()
            case Isolate(number):
                if (member := self._of(number)) is not None:
                    self.network.isolate(member.name)
            case Wait(ms):
                await self.clock.sleep(ms / 1000)
            case (
                FailApi()
                | Trouble()
                | Release()
                | MoveCoordinator()
                | StopNode()
                | StartNode()
                | Disconnect()
                | Reconnect()
                | Latency()
            ):
                self.troubles.happens(step)
            case (
                Write()
                | Trim()
                | Truncate()
                | MoveLeader()
                | Delete()
                | Create()
                | Recreate()
                | Grow()
            ):
                self._change_topic(step)
            case _:
                self._of_member(step)
        await asyncio.sleep(0)

    def _of_member(self, step: OfMember) -> None:
        if (member := self._of(step.member)) is not None:
            member.steps.put_nowait(step)

    # Topics…

    def create(self, topic: str, partitions: int) -> None:
        """Make a topic, with a few records."""
        self.broker.create_topic(topic, partitions)
        self._has_grown |= partitions > self._counts.get(topic, partitions)
        self._counts[topic] = partitions
        self.model.topic_created(topic)
        for partition in range(partitions):
            self.write(TopicPartition(topic, partition), (1,) * 30 if topic == TOPICS[0] else (2,))

    def write(self, tp: TopicPartition, sizes: Sequence[int]) -> None:
        """Append batches of these sizes."""
        state = self.broker.cluster.partition(tp)
        for size in sizes:
            first = state.log.log_end_offset
            values = self.model.write(tp, first, size, state.leader_epoch)
            self.broker.append(tp, batch(values, first))

    def _topic(self, name: str) -> TopicState | None:
        return self.broker.cluster.topics.get(name)

    def _partition(self, topic: str, partition: int) -> TopicPartition | None:
        state = self._topic(topic)
        return None if state is None else TopicPartition(topic, partition % len(state.partitions))

    def _change_topic(
        self,
        step: Write | Trim | Truncate | MoveLeader | Delete | Create | Recreate | Grow,
    ) -> None:
        match step:
            case Write(topic, partition, sizes) if tp := self._partition(topic, partition):
                self.write(tp, sizes)
            case Trim(topic, partition, records) if tp := self._partition(topic, partition):
                log = self.broker.log(tp)
                start = min(log.log_start_offset + records, log.log_end_offset)
                self.broker.delete_records(tp, start)
                self.model.trimmed(tp, start)
            case Truncate(topic, partition) if tp := self._partition(topic, partition):
                self._truncate(tp, step)
            case MoveLeader(topic, partition, node) if node in self.troubles.alive:
                if tp := self._partition(topic, partition):
                    self.broker.move_leader(tp, node)
            case Delete(topic):
                self._delete(topic)
            case Recreate(topic, partitions) if self.troubles.alive:
                self._delete(topic)
                self.create(topic, partitions)
            case Create(topic, partitions) if self.troubles.alive and self._topic(topic) is None:
                self.create(topic, partitions)
            case Grow(topic) if state := self._topic(topic):
                count = len(state.partitions) + 1
                if count <= MAX_PARTITIONS and len(self.troubles.alive) == NODES:
                    self._has_grown = True
                    self._counts[topic] = count
                    cluster = self.broker.cluster
                    cluster.add_partitions(state, cluster.place_new_partitions(state, count, None))
                    self.write(TopicPartition(topic, count - 1), (2,))

    def _delete(self, topic: str) -> None:
        if self._topic(topic) is not None:
            self.broker.delete_topic(topic)
            self.model.topic_deleted(topic)

    def _truncate(self, tp: TopicPartition, step: Truncate) -> None:
        state = self.broker.cluster.partition(tp)
        former = state.leader
        state.truncate(max(state.log.log_start_offset, state.log.log_end_offset - step.records))
        if step.node in self.troubles.alive:
            self.broker.move_leader(tp, step.node)
        else:
            state.lead(state.leader)
        self.model.truncated(tp, state.log.log_end_offset, state.leader_epoch)
        if step.written:
            self.write(tp, (step.written,))
        if not step.is_alone and step.node in self.troubles.alive:
            for topic in self.broker.cluster.topics.values():
                for other in topic.partitions:
                    if other.leader == former:
                        self.broker.move_leader(other.topic_partition, step.node)

    # The end…

    def heal(self) -> None:
        """End all trouble; what was lost, stays so."""
        self.model.tell("-- all trouble is over")
        self.troubles.heal()

    async def read_all(self) -> None:
        """Let the members read on until everything is processed and committed."""
        until_s = self.clock.monotonic() + READ_ALL_WITHIN_S
        if self._has_grown:  # a leader that reads nothing of the topic hears of it by age alone
            until_s += METADATA_MAX_AGE_MS / 1000
        for member in self.members.values():
            member.drain()
        while self.model.undone() or self.model.uncommitted():
            if self.clock.monotonic() > until_s:
                self._complain_of_what_is_left()
                return
            if not self._living:
                self.join(0, MemberOptions())
                self.members[0].drain()
            await self.clock.sleep(LOOK_EVERY_S)

    def _complain_of_what_is_left(self) -> None:
        undone, uncommitted = self.model.undone(), self.model.uncommitted()
        if undone:
            self.model.complain(f"never processed: {undone}")
        elif uncommitted:
            self.model.complain(f"never committed: {uncommitted}")

    async def leave(self) -> None:
        """Let everybody leave, and wait for those who are on their way."""
        for member in self._living:
            member.steps.put_nowait(Leave(0))
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def play(
    clock: FakeClock, network: VirtualNetwork, *, schedule: Sequence[Step], protocol: str
) -> GroupModel:
    """Let a schedule happen to a group whose members use this protocol, one of `PROTOCOLS`. Return
    the model, with its complaints.
    """
    model = GroupModel(clock.monotonic)
    async with EmbeddedBroker(
        NODES,
        auto_create_topics=False,
        group_min_session_timeout_ms=1_000,
        group_consumer_session_timeout_ms=SESSION_TIMEOUT_MS,
        group_consumer_heartbeat_interval_ms=HEARTBEAT_MS,
        max_logged_requests=0,
        clock=clock,
        rng=random.Random(1),
    ) as broker:
        with patch.object(GroupOffsets, "commit", _telling(model, GroupOffsets.commit)):
            run = Play(broker, clock, network, model, protocol=protocol)
            for topic in TOPICS:
                run.create(topic, FIRST_PARTITIONS)
            for step in schedule:
                await run.step(step)
            run.heal()
            await run.read_all()
            await run.leave()
            for task in run.tasks:
                if not task.cancelled() and (error := task.exception()) is not None:
                    error.add_note(str(model))
                    raise error
    return model


def _telling(
    model: GroupModel, commit: Callable[[GroupOffsets, TopicPartition, StoredOffset], None]
) -> Callable[[GroupOffsets, TopicPartition, StoredOffset], None]:
    """Return a commit() of the coordinator that the model hears of."""

    def telling(self: GroupOffsets, tp: TopicPartition, committed: StoredOffset) -> None:
        commit(self, tp, committed)
        model.commit(tp, committed.offset, committed.leader_epoch)

    return telling
