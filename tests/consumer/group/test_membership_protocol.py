"""A second group protocol is plugged in where `ConsumerGroup` chooses one, and nowhere else."""

from collections.abc import Callable, Collection

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.consumer_config import GroupMembershipOperation
from aiokafka_lite.consumer.group import consumer_group
from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover, Farewell
from aiokafka_lite.consumer.group.classic.membership import ClassicMembership
from aiokafka_lite.consumer.group.group_errors import COMMIT_ACTIONS, Action
from aiokafka_lite.consumer.group.membership_protocol import GroupParts, Membership
from aiokafka_lite.errors import (
    BrokerResponseError,
    CommitFailedError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
)
from aiokafka_lite.model import ConsumerGroupMetadata, TopicPartition
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill, offsets
from tests.scenarios.grouping import Listener, assigned, committed, member_of, poll

P0, P1 = tps(0, 1)


class FixedMembership:
    """Every member has partition 0 of each topic: nobody joins, and no heartbeat is sent."""

    is_rebalancing = False
    join_timeout_s = 5.0
    topics: frozenset[str] = frozenset()
    commit_actions = COMMIT_ACTIONS

    def __init__(self, parts: GroupParts) -> None:
        assert parts.config.group_id is not None
        self._parts = parts
        self._group_id = parts.config.group_id
        self._handover = AssignmentHandover(
            parts.subscription, RebalanceProtocol.COOPERATIVE, parts.listeners, parts.user
        )
        self._wakeup = Wakeup()
        self._tasks: list[OwnedTask] = []
        self._error: BrokerResponseError | None = None
        self._farewell: Farewell | None = None
        self._is_wanted = False
        self.completed_joins = 0

    @property
    def awaits_assignment(self) -> bool:
        return self._is_wanted

    @property
    def is_stable(self) -> bool:
        return not self._is_wanted

    def explain(self) -> None:
        return None

    def start(self) -> None:
        self._tasks = [self._parts.client.owner.spawn("fixed_membership", self._run)]

    async def _run(self) -> None:
        while True:
            await self._wakeup.wait()
            if self._farewell is not None:
                await self.tell_listener(())
            if self._is_wanted:
                await self._handover.take(
                    [TopicPartition(topic, 0) for topic in self._parts.subscription.topics]
                )
                self._is_wanted = False
                self.completed_joins += 1
                self._parts.signal.notify()

    def request_rejoin(self, reason: str) -> None:
        self._is_wanted = True
        self._wakeup.set()

    def leave_soon(self, owned: Collection[TopicPartition]) -> None:
        self._farewell = Farewell(owned, self._parts.listeners.listener)
        self._is_wanted = False
        self._wakeup.set()

    def metadata_changed(self, snapshot: MetadataSnapshot) -> None:
        pass

    def poll_began(self) -> None:
        pass

    def raise_error(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise error

    async def poll_overdue(self, since_s: float) -> None:
        self._parts.subscription.lose_everything()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            await task.wait()

    async def tell_listener(self, owned: Collection[TopicPartition]) -> None:
        farewell, self._farewell = self._farewell, None
        if self._parts.subscription.is_subscribed:
            farewell = farewell or Farewell(owned, self._parts.listeners.listener)
        if farewell is not None:
            await self._handover.leave(farewell, is_lost=False)

    async def leave(
        self, reason: str, timeout_s: float, operation: GroupMembershipOperation = "default"
    ) -> None:
        pass

    # For commits: as from outside of the group, which a group without members allows.

    def identity(self) -> ConsumerGroupMetadata:
        return ConsumerGroupMetadata(self._group_id)

    def identity_to_fetch(self) -> None:
        return None

    def go_on(
        self, committer: ConsumerGroupMetadata, had: Collection[TopicPartition]
    ) -> ConsumerGroupMetadata:
        return committer

    def overtaken(self, committer: ConsumerGroupMetadata) -> CommitFailedError:
        return self.commit_failed()

    def check_may_commit(self) -> None:
        if not self.completed_joins:
            raise self.commit_failed()

    def commit_failed(self) -> CommitFailedError:
        return CommitFailedError("nothing is assigned yet")

    def commit_refused(self, action: Action, error: BrokerResponseError) -> None:
        self._error = error


@pytest.fixture(autouse=True)
def _is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer_group, "ClassicMembership", FixedMembership)


def test_both_implement_the_protocol() -> None:
    """A type checker compares the classes with the protocol; every name of it is there."""
    kinds: list[Callable[[GroupParts], Membership]] = [ClassicMembership, FixedMembership]
    names = {name for base in Membership.__mro__ for name in vars(base) if name[0] != "_"}
    assert len(names) > 10
    for kind in kinds:
        assert not {name for name in names - {"completed_joins"} if not hasattr(kind, name)}


async def test_a_consumer_polls_and_commits_by_another_group_protocol() -> None:
    listener = Listener()
    async with embedded({"t": 2, "u": 1}) as broker:
        fill(broker, P0, 3)
        consumer = member_of(broker, enable_auto_commit=False)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            assert consumer.assignment() == {P0}
            assert offsets(await poll(consumer)) == {0: [0, 1, 2]}
            await consumer.commit()
            assert committed(broker) == {P0: 3}
            assert await consumer.committed(P0) == 3
            assert consumer.group_metadata() == ("g", -1, "", None)
            consumer.subscribe(["u"], listener=listener)
            await assigned(consumer, [TopicPartition("u", 0)])
        assert listener.diary == [
            ("assigned", [0]),
            ("revoked", [0]),
            ("assigned", [0]),
            ("revoked", [0]),
        ]
        assert not broker.requests_of(JoinGroupRequest)
        assert not broker.requests_of(HeartbeatRequest)


async def test_its_offsets_are_committed_automatically_and_read_on_from() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 2)
        async with member_of(broker, "t") as consumer:
            assert offsets(await poll(consumer)) == {0: [0, 1]}
        assert committed(broker) == {P0: 2}, "the end of the consumer commits"
        fill(broker, P0, 1)
        async with member_of(broker, "t") as consumer:
            assert offsets(await poll(consumer)) == {0: [2]}


async def test_it_hears_of_a_commit_that_concerns_the_membership_and_polls_raise_it() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        consumer.unsubscribe()
        consumer.subscribe(["t"])
        await assigned(consumer, [P0])
        broker.faults.fail(OffsetCommitRequest, FencedInstanceIdError)
        with pytest.raises(FencedInstanceIdError):
            await consumer.commit({P0: 1})
        with pytest.raises(FencedInstanceIdError):
            await poll(consumer)
        broker.faults.fail(OffsetCommitRequest, GroupAuthorizationFailedError)
        with pytest.raises(GroupAuthorizationFailedError):
            await consumer.commit({P0: 1})
        await consumer.commit({P0: 1})
        assert committed(broker) == {P0: 1}
