"""What is kept up to date by changes is what a look at every partition would find: A3, A7, A8, D2,
D3, 2b-5.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch, MetadataSnapshot
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_planner import FetchPlanner, RoundPlan
from aiokafka_lite.consumer.fetch.fetch_session import (
    FetchSession,
    FetchSessionRequest,
    ForgottenPartition,
    SessionPartition,
)
from aiokafka_lite.consumer.fetch.fetch_wishes import node_to_read
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    OffsetResetStrategy,
    PartitionState,
    SubscriptionState,
)
from aiokafka_lite.errors import FetchSessionIdNotFound
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.consumer.batches import TOPIC_ID, tps
from tests.consumer.cluster import cluster

ALL = [*tps(0, 1), TopicPartition("u", 0)]
BUFFER_BYTES = 100
LATEST = OffsetResetStrategy.LATEST


class PlainSession(FetchSession):
    """Finds out what to say by a look at everything (2a-2, 2a-4, 2a-5, 2a-6)."""

    def build(self, place: Callable[[TopicPartition], int]) -> FetchSessionRequest:
        known, wanted = self.partitions, dict(self.wanted)
        forget: list[ForgottenPartition] = []
        replaced: list[ForgottenPartition] = []
        to_send = wanted
        if self.epoch:
            gone = known.keys() - wanted.keys()
            forget = [ForgottenPartition(tp, known[tp].topic_id) for tp in gone]
            to_send = {tp: data for tp, data in wanted.items() if known.get(tp) != data}
            for tp in to_send.keys() & known.keys():
                before = known[tp].topic_id
                if ZERO_UUID not in (before, wanted[tp].topic_id) and before != wanted[tp].topic_id:
                    replaced.append(ForgottenPartition(tp, before))
        self.partitions = wanted
        ids = {data.topic_id for data in wanted.values()} | {each.topic_id for each in forget}
        return FetchSessionRequest(
            self.session_id,
            self.epoch,
            to_send,
            tuple(forget),
            tuple(replaced),
            ZERO_UUID not in ids,
        )


class PlainPlanner(FetchPlanner):
    """Plans each round by a look at every assigned partition."""

    def session(self, node_id: int) -> FetchSession:
        return self._sessions.setdefault(node_id, PlainSession(node_id))

    def plan_round(self, snapshot: MetadataSnapshot, now_s: float) -> RoundPlan:
        found = RoundPlan([])
        due: list[float] = []
        by_node: dict[int, dict[TopicPartition, SessionPartition]] = {}
        wanted: dict[TopicPartition, SessionPartition]
        free = self._wishes.free_states(self._subscription.queue(), float("inf"))
        ahead = self._ahead()
        for state in (*free, *ahead):
            tp = state.topic_partition
            leader = snapshot.leader(tp)
            if state.retry_at_s > now_s:
                due.append(state.retry_at_s)
                continue
            if leader.node_id is None:
                found.leaderless.append(tp)
                continue
            node_id = node_to_read(state, snapshot, now_s)
            assert node_id is not None
            if node_id == leader.node_id and self._subscription.forget_replica(state):
                found.needs_metadata = True
                if now_s < state.preferred_until_s:
                    self._subscription.back_off(state, now_s + 0.1)
                    due.append(state.retry_at_s)
                    continue
            if state in ahead and not self._wishes.may_prefetch(node_id):
                continue
            by_node.setdefault(node_id, {})[tp] = SessionPartition(
                snapshot.topic_id(tp.topic), ahead.get(state, state.offset), 1 << 20, leader.epoch
            )
        for node_id, wanted in by_node.items():
            delay_s = self._nodes.fetch_delay(node_id)
            if delay_s:
                due.append(now_s + delay_s)
            elif delay_s == 0 and self._has_room(node_id):
                session = self.session(node_id)
                session.wanted = wanted  # in the order of service
                found.fetches.append(self._plan(session, now_s))
            elif delay_s == 0:
                found.lacks_room = True
        found.due_at_s = min(due, default=None)
        return found

    def _ahead(self) -> dict[PartitionState, int]:
        """What may be fetched ahead, and from where, the oldest first."""
        found: dict[PartitionState, int] = {}
        for tp in self._buffer.buffered if self._config.prefetch_max_bytes else ():
            state = self._subscription.get(tp)
            if state is not None and state.is_fetchable and not self._wishes.was_dropped(tp):
                offset = self._buffer.end_offset(state)
                if offset is not None:
                    found[state] = offset
        return found


class World:
    """All a planner looks at, and the planner."""

    def __init__(self, planner: type[FetchPlanner], prefetch_max_bytes: int) -> None:
        self.delays: dict[int, float | None] = {}
        config = replace(
            ConsumerConfig(),
            fetch_buffer_bytes=BUFFER_BYTES,
            prefetch_max_bytes=prefetch_max_bytes,
        )
        self.subscription = SubscriptionState(LATEST)
        self.buffer = FetchBuffer(self.subscription.revision)
        self.planner = planner(config, self.subscription, self.buffer, self)

    def fetch_delay(self, node_id: int) -> float | None:
        return self.delays.get(node_id, 0.0)

    def fetch_version(self, node_id: int) -> int | None:
        return 13 if node_id == 1 else None

    def assign(self, partitions: list[TopicPartition]) -> None:
        self.subscription.assign_from_user(partitions)
        for state in list(self.subscription.initializing()):
            self.subscription.seek(state.topic_partition, 0)

    def change(
        self, tp: TopicPartition, how: Callable[[SubscriptionState, PartitionState], Any]
    ) -> None:
        state = self.subscription.get(tp)
        if state is not None:
            how(self.subscription, state)

    def plan(self, snapshot: MetadataSnapshot, now_s: float, said: str) -> dict[str, object]:
        """Plan a round, answer its requests, and return what it was."""
        found = self.planner.plan_round(snapshot, now_s)
        for planned in found.fetches:
            session = self.planner.session(planned.node_id)
            if said == "lost":
                session.handle_error()
            else:
                session.handle_response(
                    error_code=FetchSessionIdNotFound.errno if said == "evicted" else 0,
                    session_id=0 if said == "no session" else 5,
                    throttle_time_ms=0,
                    partitions=() if session.epoch else session.partitions.keys(),
                )
        return told(found)


def told(found: RoundPlan) -> dict[str, object]:
    """A round, without the order in which nodes are asked and partitions are forgotten."""
    requests = {}
    for planned in found.fetches:
        request = planned.request
        named = [
            (topic.topic, topic.topic_id, each.partition, each.fetch_offset)
            for topic in request.topics
            for each in topic.partitions
        ]
        forgotten = {
            (topic.topic, topic.topic_id, each)
            for topic in request.forgotten_topics_data
            for each in topic.partitions
        }
        session = request.session_id, request.session_epoch, planned.max_version
        requests[planned.node_id] = (*session, named, forgotten)
    return {
        "requests": requests,
        "leaderless": sorted(found.leaderless),
        "due": found.due_at_s,
        "flags": (found.needs_metadata, found.lacks_room),
    }


partitions = st.sampled_from(ALL)
some = st.lists(partitions, unique=True)
moments = st.sampled_from([0.0, 0.05, 0.1, 1.0])


class PlannersAgree(RuleBasedStateMachine):
    """Whatever happens in whatever order, both plan the same round."""

    def __init__(self) -> None:
        super().__init__()
        self.worlds: list[World] = []
        self.now_s = 100.0
        self.steps, self.every = 0, 1
        self.snapshot = cluster(dict.fromkeys(ALL[:2], 1))

    def each(self, act: Callable[[World], object]) -> None:
        for world in self.worlds:
            act(world)

    @initialize(every=st.integers(1, 4), prefetch_max_bytes=st.sampled_from([0, 70]))
    def begin(self, every: int, prefetch_max_bytes: int) -> None:
        """A round follows each change, or some."""
        self.every = every
        self.worlds = [World(kind, prefetch_max_bytes) for kind in (FetchPlanner, PlainPlanner)]
        self.each(lambda world: world.assign(ALL))

    @invariant()
    def plan_now_and_then(self) -> None:
        self.steps += 1
        if self.worlds and self.steps % self.every == 0:
            self.plan("granted")

    @rule(said=st.sampled_from(["granted", "granted", "granted", "lost", "evicted", "no session"]))
    def plan(self, said: str) -> None:
        kept, plain = (world.plan(self.snapshot, self.now_s, said) for world in self.worlds)
        assert kept == plain

    @rule(some=some)
    def assign(self, some: list[TopicPartition]) -> None:
        self.each(lambda world: world.assign(some))

    @rule(tp=partitions, offset=st.integers(0, 2))
    def seek(self, tp: TopicPartition, offset: int) -> None:
        self.each(lambda world: world.change(tp, lambda its, _: its.seek(tp, offset)))

    @rule(tp=partitions)
    def pause_or_resume(self, tp: TopicPartition) -> None:
        def turn(its: SubscriptionState, state: PartitionState) -> None:
            (its.resume if state.is_paused else its.pause)(tp)

        self.each(lambda world: world.change(tp, turn))

    @rule(tp=partitions)
    def lose_the_position(self, tp: TopicPartition) -> None:
        self.each(lambda world: world.change(tp, lambda its, _: its.await_reset(tp, LATEST)))

    @rule(tp=partitions)
    def find_it_again(self, tp: TopicPartition) -> None:
        self.each(lambda world: world.change(tp, lambda its, _: its.reset(tp, LATEST, 1)))

    @rule(tp=partitions, epoch=st.integers(3, 4))
    def follow_a_leader(self, tp: TopicPartition, epoch: int) -> None:
        leader = LeaderAndEpoch(1, epoch)

        def follow(its: SubscriptionState, state: PartitionState) -> None:
            its.seek(tp, 1, 3)
            its.follow_leader(state, leader)
            if epoch == 4 and state.fetch_state is FetchState.AWAIT_VALIDATION:
                its.complete_validation(state)

        self.each(lambda world: world.change(tp, follow))

    @rule(tp=partitions)
    def revoke(self, tp: TopicPartition) -> None:
        self.each(lambda world: world.subscription.revoke_soon([tp]))

    @rule(tp=partitions, delay_s=moments)
    def back_off(self, tp: TopicPartition, delay_s: float) -> None:
        at_s = self.now_s + delay_s
        self.each(lambda world: world.change(tp, lambda its, state: its.back_off(state, at_s)))

    @rule(tp=partitions, node_id=st.sampled_from([2, 2, 3]), lease_s=moments)
    def prefer_a_replica(self, tp: TopicPartition, node_id: int, lease_s: float) -> None:
        until_s = self.now_s + lease_s
        self.each(
            lambda world: world.change(
                tp, lambda its, state: its.prefer_replica(state, node_id, until_s)
            )
        )

    @rule(tp=partitions)
    def serve(self, tp: TopicPartition) -> None:
        self.each(lambda world: world.subscription.move_to_end(tp))

    @rule(tp=partitions, node_id=st.integers(1, 2), size=st.sampled_from([10, 60, 100]))
    def buffer(self, tp: TopicPartition, node_id: int, size: int) -> None:
        def add(world: World) -> None:
            state = world.subscription.get(tp)
            offset = 0 if state is None else world.buffer.end_offset(state) or state.offset
            world.buffer.add(
                CompletedFetch(
                    tp,
                    offset,
                    node_id=node_id,
                    size_in_bytes=size,
                    incarnation=0 if state is None else state.incarnation,
                    leader=None if state is None else state.leader,
                    end_offset=offset + 4,
                )
            )

        self.each(add)

    @rule(number=st.integers(0, 3))
    def set_aside(self, number: int) -> None:
        for world in self.worlds:
            for fetch in list(world.buffer)[number : number + 1]:
                if fetch.error is None and world.buffer.is_next(fetch):
                    world.buffer.set_aside(fetch, ValueError("bad"))

    @rule(number=st.integers(0, 3))
    def drain(self, number: int) -> None:
        for world in self.worlds:
            for fetch in list(world.buffer)[number : number + 1]:
                world.buffer.remove(fetch)
                world.subscription.move_to_end(fetch.topic_partition)

    @rule(some=some)
    def make_room(self, some: list[TopicPartition]) -> None:
        self.each(lambda world: world.planner.make_room_for(some, self.snapshot, self.now_s))

    @rule(some=some)
    def want(self, some: list[TopicPartition]) -> None:
        self.each(lambda world: world.planner.want(some))

    @rule(
        leaders=st.dictionaries(partitions, st.sampled_from([-1, 1, 1, 2]), min_size=2),
        topic_id=st.sampled_from([TOPIC_ID, TOPIC_ID, UUID(int=8), ZERO_UUID]),
    )
    def learn(self, leaders: dict[TopicPartition, int], topic_id: UUID) -> None:
        self.snapshot = cluster(leaders, topic_id)

    @rule(seconds=moments)
    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    @rule(node_id=st.integers(1, 2), delay_s=st.sampled_from([None, 0.0, 0.0, 0.5]))
    def node(self, node_id: int, delay_s: float | None) -> None:
        for world in self.worlds:
            world.delays[node_id] = delay_s


PlannersAgree.TestCase.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
test_planners_agree = PlannersAgree.TestCase
