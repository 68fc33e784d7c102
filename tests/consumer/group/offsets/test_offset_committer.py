"""Storing offsets and asking for them: retries, order, in whose name, and who hears of refusals
(2e-12, 2e-13, 2e-15), against the embedded broker.
"""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.consumer.group.classic.member import Generation
from aiokafka_lite.consumer.group.group_errors import (
    COMMIT_ACTIONS,
    EPOCH_COMMIT_ACTIONS,
    Action,
    rebalanced_meanwhile,
)
from aiokafka_lite.consumer.group.offsets.offset_committer import OffsetCommitter, Offsets
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import (
    BrokerResponseError,
    CommitFailedError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    GroupLoadInProgressError,
    IllegalGenerationError,
    KafkaError,
    KafkaTimeoutError,
    OffsetMetadataTooLargeError,
    RebalanceInProgressError,
    StaleMemberEpochError,
    UnknownMemberIdError,
)
from aiokafka_lite.model import ConsumerGroupMetadata, TopicPartition
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from tests.consumer.batches import tps
from tests.consumer.group.classic.test_classic_coordinator import Scene, scene_of

P0, P1 = tps(0, 1)


class Bench:
    """A committer, the membership it asks and tells, and what its callbacks heard."""

    def __init__(self, scene: Scene, *, is_member: bool) -> None:
        scene.broker.create_topic("t", 2)
        self.broker, self.member, self.client = scene.broker, scene.member, scene.client
        self.scene = scene
        self.subscription = SubscriptionState(None)
        if is_member:
            self.subscription.subscribe(["t"], by_group=True)
        else:
            self.subscription.assign_from_user([P0, P1])
        self.signal = PollSignal(scene.client.clock)
        self.told: list[tuple[Action, type[BrokerResponseError]]] = []
        self.heard: list[tuple[int, Exception | None]] = []
        self.committer = OffsetCommitter(
            scene.client, scene.cache, "g", self, self.subscription, self.signal
        )

    commit_actions = COMMIT_ACTIONS
    has_epochs = False

    def take_epochs(self) -> None:
        """Let the membership be one whose epoch changes while it lasts (KIP-848)."""
        self.has_epochs = True
        self.commit_actions = EPOCH_COMMIT_ACTIONS
        self.subscription.assign_from_group([P0, P1])

    @property
    def is_rebalancing(self) -> bool:
        return self.member.is_rebalancing

    def identity(self) -> ConsumerGroupMetadata:
        return self.member.identity()

    def identity_to_fetch(self) -> None:
        return None

    def overtaken(self, committer: ConsumerGroupMetadata) -> KafkaError:
        return rebalanced_meanwhile(committer.group_id)

    def go_on(
        self, committer: ConsumerGroupMetadata, had: Collection[TopicPartition]
    ) -> ConsumerGroupMetadata | None:
        if not self.has_epochs:
            return committer if committer == self.identity() else None
        return self.identity() if self.subscription.assignment.issuperset(had) else None

    def check_may_commit(self) -> None:
        self.member.check_may_commit()

    def commit_failed(self) -> CommitFailedError:
        return self.member.commit_failed()

    def commit_refused(self, action: Action, error: BrokerResponseError) -> None:
        self.told.append((action, type(error)))

    def hear(self, offsets: Offsets, error: Exception | None, left: Offsets) -> None:
        self.heard.append((offsets[P0].offset, error))

    def stored(self) -> dict[TopicPartition, tuple[int, int, str]]:
        return {
            tp: (each.offset, each.leader_epoch, each.metadata)
            for tp, each in self.broker.group("g").offsets.items()
        }

    def commits(self) -> int:
        return len(self.broker.requests_of(OffsetCommitRequest))


@asynccontextmanager
async def bench_of(*, is_member: bool = False, **options: Any) -> AsyncIterator[Bench]:
    async with scene_of(**options) as scene:
        bench = Bench(scene, is_member=is_member)
        scene.client.metadata.set_topics({"t"})
        await scene.client.metadata.wait_for_topic("t", 5.0)
        if is_member:
            await scene.be_stable()
        yield bench


# In whose name…


async def test_who_is_no_member_commits_with_the_groups_name_alone() -> None:
    async with bench_of() as bench:
        await bench.committer.commit({P0: CommittedOffset(3, 5, "note")}, 5.0)
        assert bench.stored() == {P0: (3, 5, "note")}
        assert bench.committer.identity() == ("g", -1, "", None)


async def test_members_commit_in_their_generation() -> None:
    async with bench_of(is_member=True, group_instance_id="i") as bench:
        await bench.committer.commit({P0: CommittedOffset(3)}, 5.0)
        (request,) = bench.broker.requests_of(OffsetCommitRequest)
        generation = bench.member.generation
        assert request.generation_id_or_member_epoch == generation.generation_id
        assert (request.member_id, request.group_instance_id) == (generation.member_id, "i")
        assert bench.committer.identity() == (
            "g",
            generation.generation_id,
            generation.member_id,
            "i",
        )


async def test_2e_12_what_is_refused_before_anything_is_sent() -> None:
    async with bench_of(is_member=True) as bench:
        bench.member.begin_join()
        for commit in (bench.committer.check_may_commit, _committing(bench)):
            with pytest.raises(RebalanceInProgressError, match="'g' is rebalancing"):
                await _called(commit)
        bench.member.lose_membership()
        for commit in (bench.committer.check_may_commit, _committing(bench)):
            with pytest.raises(CommitFailedError):
                await _called(commit)
        assert bench.commits() == 0


def _committing(bench: Bench) -> Any:
    return lambda: bench.committer.commit({P0: CommittedOffset(3)}, 5.0)


async def _called(function: Any) -> None:
    result = function()
    if result is not None:
        await result


async def test_2e_12_offsets_of_one_generation_are_not_stored_in_the_next() -> None:
    """By then the partition may belong to another member, whose commit this would undo."""
    async with bench_of(is_member=True) as bench:
        bench.broker.faults.stall(FindCoordinatorRequest)
        bench.scene.cache.forget(*next(iter(bench.scene.cache._nodes)), "the test says so")
        committing = asyncio.create_task(bench.committer.commit({P0: CommittedOffset(3)}, 5.0))
        await asyncio.sleep(0)
        before = bench.member.generation
        bench.member.begin_join()
        bench.member.joined(Generation(before.generation_id + 1, before.member_id, "range"))
        bench.member.synced()
        bench.broker.faults.release()
        with pytest.raises(RebalanceInProgressError, match="meanwhile"):
            await asyncio.wait_for(committing, 30)
        assert bench.commits() == 0


# Retries…


async def test_nothing_to_commit_asks_nobody() -> None:
    async with bench_of() as bench:
        await bench.committer.commit({}, 5.0)
        assert bench.commits() == 0


async def test_2e_12_the_end_of_the_time_names_partitions_and_the_last_failure() -> None:
    async with bench_of() as bench:
        bench.broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError, times=None)
        committing = asyncio.create_task(
            bench.committer.commit({P0: CommittedOffset(3), P1: CommittedOffset(4)}, 2.0)
        )
        await bench.broker.wait_until(lambda: bench.commits() == 1)
        await bench.client.clock.advance(2.1)  # type: ignore[attr-defined]
        with pytest.raises(KafkaTimeoutError, match=r"t-0, t-1 were not committed within 2 s"):
            await asyncio.wait_for(committing, 30)


@pytest.mark.parametrize(
    ("error", "action", "raised"),
    [
        (RebalanceInProgressError, Action.REJOIN, RebalanceInProgressError),
        (UnknownMemberIdError, Action.LOSE_MEMBERSHIP, CommitFailedError),
        (IllegalGenerationError, Action.LOSE_GENERATION, CommitFailedError),
        (FencedInstanceIdError, Action.RAISE, FencedInstanceIdError),
    ],
)
async def test_2e_12_the_membership_hears_what_concerns_it(
    error: type[BrokerResponseError], action: Action, raised: type[KafkaError]
) -> None:
    async with bench_of(is_member=True) as bench:
        bench.broker.faults.fail(OffsetCommitRequest, error)
        with pytest.raises(raised):
            await bench.committer.commit({P0: CommittedOffset(3)}, 5.0)
        assert bench.told == [(action, error)]
        assert bench.commits() == 1


async def test_2e_12_a_static_member_is_not_fenced_by_a_commit_of_its_former_self() -> None:
    """It was in a rebalance meanwhile, and has got a new member id for its old one."""
    async with bench_of(is_member=True, group_instance_id="i") as bench:
        bench.broker.faults.fail(OffsetCommitRequest, FencedInstanceIdError)
        bench.broker.faults.stall(OffsetCommitRequest)
        committing = asyncio.create_task(bench.committer.commit({P0: CommittedOffset(3)}, 30.0))
        await bench.broker.wait_until(lambda: bench.commits() == 1)
        before = bench.member.generation
        bench.member.lose_membership()
        bench.member.begin_join()
        bench.member.joined(Generation(before.generation_id + 1, "another id", "range"))
        bench.member.synced()
        bench.broker.faults.release()
        with pytest.raises(RebalanceInProgressError, match="meanwhile"):
            await asyncio.wait_for(committing, 30)
        assert bench.told == []


@pytest.mark.parametrize("error", [OffsetMetadataTooLargeError, GroupAuthorizationFailedError])
async def test_2e_12_and_nothing_of_what_does_not(error: type[BrokerResponseError]) -> None:
    async with bench_of(is_member=True) as bench:
        bench.broker.faults.fail(OffsetCommitRequest, error)
        with pytest.raises(error, match="t-0"):
            await bench.committer.commit({P0: CommittedOffset(3)}, 5.0)
        assert bench.told == []


async def test_who_is_no_member_has_no_membership_to_lose() -> None:
    async with bench_of() as bench:
        bench.broker.faults.fail(OffsetCommitRequest, UnknownMemberIdError)
        with pytest.raises(CommitFailedError) as caught:
            await bench.committer.commit({P0: CommittedOffset(3)}, 5.0)
        assert isinstance(caught.value.__cause__, UnknownMemberIdError)
        assert bench.told == []


async def test_2e_12_what_a_producer_was_told_concerns_the_member_in_whose_name_it_asked() -> None:
    async with bench_of(is_member=True) as bench:
        committer = bench.committer.identity()
        former = committer._replace(generation_id=committer.generation_id - 1)
        bench.committer.refused_to_producer(former, UnknownMemberIdError())
        bench.committer.refused_to_producer(committer, GroupAuthorizationFailedError())
        bench.member.begin_join()
        bench.committer.refused_to_producer(committer, UnknownMemberIdError())
        assert bench.told == []
    async with bench_of(is_member=True) as bench:
        bench.committer.refused_to_producer(bench.committer.identity(), UnknownMemberIdError())
        assert bench.told == [(Action.LOSE_MEMBERSHIP, UnknownMemberIdError)]


# In the background…


async def test_2e_13_callbacks_keep_the_order_of_the_commits() -> None:
    """The second one is over first: it was cancelled before its first step."""
    async with bench_of() as bench:
        bench.broker.faults.stall(OffsetCommitRequest)
        bench.committer.commit_async({P0: CommittedOffset(1)}, bench.hear)
        await bench.broker.wait_until(lambda: bench.commits() == 1)
        bench.committer.commit_async({P0: CommittedOffset(2)}, bench.hear)
        bench.committer._finish(bench.committer._pending[1])
        assert bench.heard == []
        bench.broker.faults.release()
        await bench.committer.commit({P0: CommittedOffset(3)}, 5.0)
        assert [offset for offset, _ in bench.heard] == [1, 2]


async def test_2e_13_settle_says_whether_all_were_over_in_time() -> None:
    async with bench_of() as bench:
        assert await bench.committer.settle(1.0)
        bench.broker.faults.stall(OffsetCommitRequest)
        bench.committer.commit_async({P0: CommittedOffset(1)}, bench.hear)
        await bench.broker.wait_until(lambda: bench.commits() == 1)
        settling = asyncio.create_task(bench.committer.settle(1.0))
        await bench.client.clock.advance(1.1)  # type: ignore[attr-defined]
        assert await asyncio.wait_for(settling, 30) is False
        bench.broker.faults.release()
        assert await asyncio.wait_for(bench.committer.settle(1.0), 30)
        assert bench.heard == [(1, None)]


async def test_2e_13_commits_that_the_end_overtakes_are_told_so() -> None:
    async with bench_of() as bench:
        bench.broker.faults.stall(OffsetCommitRequest)
        for offset in (1, 2):
            bench.committer.commit_async({P0: CommittedOffset(offset)}, bench.hear)
        await bench.client.close()
        assert [offset for offset, _ in bench.heard] == [1, 2]
        assert all(isinstance(error, KafkaError) for _, error in bench.heard)


# A membership whose epoch changes while it lasts (KIP-848)…


async def test_a_commit_in_a_stale_epoch_is_sent_again_in_the_newest_one() -> None:
    async with bench_of(is_member=True, clock=SYSTEM_CLOCK, retry_backoff_ms=1) as bench:
        bench.take_epochs()
        bench.broker.faults.fail(OffsetCommitRequest, StaleMemberEpochError, times=2)
        await bench.committer.commit({P0: CommittedOffset(3)}, 5.0)
        assert bench.commits() == 3
        assert bench.stored() == {P0: (3, -1, "")}
        assert bench.told == [(Action.NEW_EPOCH, StaleMemberEpochError)] * 2


async def test_a_commit_in_the_background_is_not_dropped_for_a_stale_epoch() -> None:
    async with bench_of(is_member=True, clock=SYSTEM_CLOCK, retry_backoff_ms=1) as bench:
        bench.take_epochs()
        bench.broker.faults.fail(OffsetCommitRequest, StaleMemberEpochError, times=2)
        bench.committer.commit_async({P0: CommittedOffset(3)}, bench.hear)
        assert await bench.committer.settle(5.0)
        assert bench.heard == [(3, None)]
        assert bench.stored() == {P0: (3, -1, "")}


async def test_a_partition_that_has_gone_is_not_committed_in_a_newer_epoch() -> None:
    """Another member may have committed for it since."""
    async with bench_of(is_member=True, clock=SYSTEM_CLOCK, retry_backoff_ms=1) as bench:
        bench.take_epochs()
        bench.broker.faults.stall(OffsetCommitRequest)
        bench.broker.faults.fail(OffsetCommitRequest, StaleMemberEpochError)
        task = asyncio.create_task(bench.committer.commit({P0: CommittedOffset(3)}, 5.0))
        await bench.broker.wait_until(lambda: bench.commits() == 1)
        bench.subscription.let_go([P0])
        bench.broker.faults.release()
        with pytest.raises(RebalanceInProgressError, match="has rebalanced meanwhile"):
            await task
        assert bench.stored() == {}


async def test_a_member_that_was_removed_hears_at_once_that_it_may_not_commit() -> None:
    async with bench_of(is_member=True) as bench:
        bench.take_epochs()
        bench.broker.faults.fail(OffsetCommitRequest, UnknownMemberIdError)
        with pytest.raises(CommitFailedError):
            await bench.committer.commit({P0: CommittedOffset(3)}, 5.0)
        assert bench.told == [(Action.LOSE_GENERATION, UnknownMemberIdError)]
