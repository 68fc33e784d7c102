"""The order in which partitions change hands: 2e-6 and 2e-11, eager and cooperative."""

import logging
from collections.abc import Collection, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover, Farewell, changes
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener, ListenerCalls
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.model import TopicPartition

EAGER, COOPERATIVE = RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE
T0, T1, T2 = (TopicPartition("t", n) for n in range(3))
U0 = TopicPartition("u", 0)


def names(partitions: Iterable[TopicPartition]) -> str:
    return " ".join(f"{topic}{n}" for topic, n in sorted(partitions)) or "nothing"


class Scene(ConsumerRebalanceListener):
    """A consumer of topics t and u that owns `owned`. It is listener and user of the assignment at
    once and writes down, beside each event, which partitions are assigned and which may be fetched.
    """

    def __init__(
        self,
        protocol: RebalanceProtocol,
        *owned: TopicPartition,
        topics: str = "tu",
        has_listener: bool = True,
    ) -> None:
        self.events: list[str] = []
        self.taken = 0
        self.subscription = SubscriptionState(None)
        self.subscription.subscribe(topics, by_group=True)
        self.subscription.assign_from_group(owned)
        for tp in owned:
            self.subscription.seek(tp, 0)
        calls = ListenerCalls()
        calls.listener = self if has_listener else None
        self.handover = AssignmentHandover(self.subscription, protocol, calls, self)

    def tell(self, event: str) -> None:
        flowing = [s.topic_partition for s in self.subscription.states() if not s.is_held]
        self.events.append(
            f"{event} | has {names(self.subscription.assignment)}, flowing {names(flowing)}"
        )

    async def commit_before_revocation(self, partitions: Collection[TopicPartition]) -> None:
        self.tell(f"commit {names(partitions)}")

    def assignment_lost(self) -> None:
        self.tell("no longer held back")

    def positions_go(self, states: object) -> None:
        pass

    def assignment_changed(self) -> None:
        self.tell("changed")

    def assignment_taken(self) -> None:
        self.taken += 1

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self.tell(f"revoked {names(revoked)}")

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self.tell(f"assigned {names(assigned)}")

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self.tell(f"lost {names(lost)}")


# Before joining…


async def test_2e_6_eager_gives_everything_up_before_it_joins() -> None:
    """An eager member commits and tells its listener before it gives partitions up (2e-11)."""
    scene = Scene(EAGER, T0, T1)
    await scene.handover.prepare()
    assert scene.events == [
        "commit t0 t1 | has t0 t1, flowing nothing",
        "revoked t0 t1 | has t0 t1, flowing nothing",
        "changed | has nothing, flowing nothing",
    ]


async def test_2e_6_eager_tells_the_listener_of_nothing_too() -> None:
    scene = Scene(EAGER)
    await scene.handover.prepare()
    assert scene.events == ["revoked nothing | has nothing, flowing nothing"]


async def test_2e_6_cooperative_keeps_everything_while_it_joins() -> None:
    """A cooperative member commits before it joins, as it cannot during the join (2e-11)."""
    scene = Scene(COOPERATIVE, T0, T1)
    await scene.handover.prepare()
    assert scene.events == ["commit t0 t1 | has t0 t1, flowing t0 t1"]
    assert scene.subscription.assignment == {T0, T1}


async def test_2e_6_cooperative_gives_up_what_is_no_longer_subscribed() -> None:
    scene = Scene(COOPERATIVE, T0, U0, T1)
    scene.subscription.subscribe("t", by_group=True)
    await scene.handover.prepare()
    assert scene.events == [
        "commit t0 t1 u0 | has t0 t1 u0, flowing t0 t1",
        "revoked u0 | has t0 t1 u0, flowing t0 t1",
        "changed | has t0 t1, flowing t0 t1",
    ]


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
async def test_without_a_listener_the_same_is_committed_and_let_go(
    protocol: RebalanceProtocol,
) -> None:
    scene = Scene(protocol, U0, has_listener=False)
    scene.subscription.subscribe("t", by_group=True)
    await scene.handover.prepare()
    assert scene.events == [
        "commit u0 | has u0, flowing nothing",
        "changed | has nothing, flowing nothing",
    ]


# Taking an assignment…


async def test_2e_6_what_is_new_flows_once_the_listener_has_ended() -> None:
    scene = Scene(EAGER)
    assert await scene.handover.take([T1, T0]) is False
    assert scene.events == [
        "changed | has t0 t1, flowing nothing",
        "assigned t0 t1 | has t0 t1, flowing nothing",
        "changed | has t0 t1, flowing t0 t1",
    ]


async def test_an_assignment_is_taken_once_the_listener_has_ended() -> None:
    class Looking(Scene):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            assert not self.taken

    scene = Looking(EAGER)
    await scene.handover.take([T0])
    assert scene.taken == 1


async def test_the_log_says_who_has_got_and_lost_what_and_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With several consumers in a process, their lines can be told apart."""
    scene = Scene(COOPERATIVE, T0)
    scene.handover = AssignmentHandover(
        scene.subscription, COOPERATIVE, scene.handover._listeners, scene, "client 'app'"
    )
    with caplog.at_level(logging.INFO):
        await scene.handover.take([T1])
        await scene.handover.lose("it slept")
    assert [record.message for record in caplog.records] == [
        "client 'app' gives up t-0",
        "client 'app' has t-1; new: t-1",
        "client 'app' lost t-1: it slept",
    ]


async def test_without_a_listener_what_is_new_flows_at_once() -> None:
    scene = Scene(EAGER, has_listener=False)
    await scene.handover.take([T0])
    assert scene.events[0] == "changed | has t0, flowing t0"


async def test_2e_6_cooperative_revokes_what_goes_and_asks_for_another_join() -> None:
    """What stays flows all the time (KIP-429)."""
    scene = Scene(COOPERATIVE, T0, T1)
    assert await scene.handover.take([T1, T2]) is True
    assert scene.events == [
        "commit t0 | has t0 t1, flowing t1",
        "revoked t0 | has t0 t1, flowing t1",
        "changed | has t1, flowing t1",
        "changed | has t1 t2, flowing t1",
        "assigned t2 | has t1 t2, flowing t1",
        "changed | has t1 t2, flowing t1 t2",
    ]


async def test_2e_6_assigned_is_always_told_also_of_nothing() -> None:
    scene = Scene(COOPERATIVE, T0)
    assert await scene.handover.take([T0]) is False
    assert scene.events == [
        "changed | has t0, flowing t0",
        "assigned nothing | has t0, flowing t0",
        "changed | has t0, flowing t0",
    ]


async def test_2c_9_what_stays_keeps_position_pause_and_place_in_the_queue() -> None:
    scene = Scene(COOPERATIVE, T2, T0)
    scene.subscription.seek(T2, 5)
    scene.subscription.assigned(T2).is_paused = True
    await scene.handover.take([T0, T1, T2, U0])
    assert scene.subscription.queue() == (T2, T0, T1, U0)
    assert scene.subscription.assigned(T2).position == 5
    assert scene.subscription.assigned(T2).is_paused


async def test_a_partition_held_back_and_assigned_again_flows_on() -> None:
    scene = Scene(COOPERATIVE, T0)
    scene.subscription.revoke_soon([T0])
    await scene.handover.take([T0])
    assert not scene.subscription.assigned(T0).is_held


async def test_a_listener_that_unsubscribes_while_partitions_are_revoked_gets_nothing() -> None:
    class Leaving(Scene):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            await super().on_partitions_revoked(revoked)
            self.subscription.unsubscribe()

    scene = Leaving(COOPERATIVE, T0)
    assert await scene.handover.take([T1]) is False
    assert scene.events == [
        "commit t0 | has t0, flowing nothing",
        "revoked t0 | has t0, flowing nothing",
    ]
    assert scene.subscription.assignment == frozenset()


async def test_a_listener_that_unsubscribes_when_it_is_told_of_its_assignment_has_none() -> None:
    class Leaving(Scene):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            self.subscription.unsubscribe()

    scene = Leaving(EAGER)
    await scene.handover.take([T1])
    assert scene.events[-1] == "changed | has nothing, flowing nothing"


async def test_a_listener_that_fails_does_not_stop_the_handover() -> None:
    class Failing(Scene):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            raise ValueError("no")

        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            raise ValueError("no")

    scene = Failing(COOPERATIVE, T0)
    assert await scene.handover.take([T1]) is True
    assert scene.events[-1] == "changed | has t1, flowing t1"


# Losing and leaving…


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
async def test_2e_6_lost_partitions_are_told_as_lost_and_not_committed(
    protocol: RebalanceProtocol,
) -> None:
    scene = Scene(protocol, T0, U0)
    await scene.handover.lose()
    assert scene.events == [
        "lost t0 u0 | has t0 u0, flowing nothing",
        "changed | has nothing, flowing nothing",
    ]


async def test_nothing_to_lose_is_not_told() -> None:
    scene = Scene(EAGER)
    await scene.handover.lose()
    assert scene.events == []


@pytest.mark.parametrize(("is_lost", "told"), [(False, "revoked"), (True, "lost")])
async def test_2e_6_leaving_tells_lost_or_revoked(is_lost: bool, told: str) -> None:
    """The user has let go of the partitions before, by unsubscribe() or stop()."""
    scene = Scene(EAGER)
    await scene.handover.leave(Farewell({T0, T1}, scene), is_lost=is_lost)
    assert scene.events == [f"{told} t0 t1 | has nothing, flowing nothing"]


@pytest.mark.parametrize("is_lost", [False, True])
async def test_leaving_with_nothing_is_not_told(is_lost: bool) -> None:
    scene = Scene(EAGER)
    await scene.handover.leave(Farewell((), scene), is_lost=is_lost)
    assert scene.events == []


# Losing everything while something is waited for…


class LosingIn(Scene):
    """The membership is lost while the named part of the handover is waited for."""

    def __init__(self, where: str, *owned: TopicPartition) -> None:
        super().__init__(COOPERATIVE, *owned)
        self.where = where

    async def commit_before_revocation(self, partitions: Collection[TopicPartition]) -> None:
        await super().commit_before_revocation(partitions)
        self._lose_in("commit")

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        await super().on_partitions_revoked(revoked)
        self._lose_in("revoked")

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        await super().on_partitions_assigned(assigned)
        self._lose_in("assigned")

    def _lose_in(self, where: str) -> None:
        if where == self.where:
            self.subscription.lose_everything()


async def test_what_is_lost_before_the_listener_is_told_is_lost_not_revoked() -> None:
    """While the commit before a revocation is waited for: nothing could be committed any more."""
    scene = LosingIn("commit", T0, T1)
    assert await scene.handover.take([T1, T2]) is False
    await scene.handover.lose()
    assert scene.events == [
        "commit t0 | has t0 t1, flowing t1",
        "lost t0 t1 | has t0 t1, flowing nothing",
        "changed | has nothing, flowing nothing",
    ]


async def test_what_is_lost_while_the_listener_revokes_is_not_read_on() -> None:
    """Nor are partitions taken that were assigned to the membership that is no more."""
    scene = LosingIn("revoked", T0, T1)
    assert await scene.handover.take([T1, T2]) is False
    await scene.handover.lose()
    assert scene.events[1:] == [
        "revoked t0 | has t0 t1, flowing t1",
        "changed | has t1, flowing nothing",
        "lost t1 | has t1, flowing nothing",
        "changed | has nothing, flowing nothing",
    ]


async def test_what_is_lost_while_the_listener_is_told_of_it_stays_held() -> None:
    scene = LosingIn("assigned", T0)
    await scene.handover.take([T0, T1])
    assert scene.events[-1] == "changed | has t0 t1, flowing nothing"


@pytest.mark.parametrize("protocol", [EAGER, COOPERATIVE])
async def test_what_is_lost_while_the_member_prepares_to_join_is_told_as_lost(
    protocol: RebalanceProtocol,
) -> None:
    scene = LosingIn("commit", T0, U0)
    scene.handover = AssignmentHandover(
        scene.subscription, protocol, scene.handover._listeners, scene
    )
    scene.subscription.subscribe("t", by_group=True)
    await scene.handover.prepare()
    await scene.handover.lose()
    assert scene.events[1:] == [
        "lost t0 u0 | has t0 u0, flowing nothing",
        "changed | has nothing, flowing nothing",
    ]


async def test_giving_something_up_lifts_the_hold_of_nothing_else() -> None:
    """A subscription that changes while the listener is told of what an earlier change took."""

    class Changing(Scene):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            self.subscription.subscribe("v", by_group=True)

    scene = Changing(COOPERATIVE, T0, U0)
    scene.subscription.subscribe("u", by_group=True)
    await scene.handover.prepare()
    assert scene.events[-1] == "changed | has u0, flowing nothing"


async def test_a_topic_unsubscribed_from_while_something_is_revoked_stays_held() -> None:
    class Changing(Scene):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            self.subscription.subscribe("u", by_group=True)

    scene = Changing(COOPERATIVE, T0, T1, U0)
    await scene.handover.take([T1, U0])
    assert scene.events[-1] == "changed | has t1 u0, flowing u0"


async def test_a_listener_that_subscribes_anew_while_partitions_are_revoked_gets_nothing() -> None:
    """unsubscribe() has given up what the assignment in hand was made for."""

    class Anew(Scene):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            self.subscription.unsubscribe()
            self.subscription.subscribe("tu", by_group=True)

    scene = Anew(COOPERATIVE, T0)
    assert await scene.handover.take([T1]) is False
    assert scene.subscription.assignment == frozenset()


# What an assignment changes…

partition_sets = st.frozensets(st.sampled_from([T0, T1, T2, U0]))


@given(partition_sets, partition_sets)
def test_2e_6_revoked_is_owned_without_assigned_and_added_the_reverse(
    owned: frozenset[TopicPartition], assigned: frozenset[TopicPartition]
) -> None:
    revoked, added = changes(owned, list(assigned))
    assert revoked == owned - assigned
    assert added == assigned - owned
    assert (owned - revoked) | added == assigned
