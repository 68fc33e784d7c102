"""Starting where the group left off: asked once per assignment, used only if still wanted (B4)."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

import pytest

from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.position.committed_positions import adjusted
from aiokafka_lite.consumer.position.offset_fetcher import OffsetFetcher
from aiokafka_lite.consumer.position.subscription_state import FetchState
from aiokafka_lite.errors import (
    CoordinatorLoadInProgressError,
    GroupAuthorizationFailedError,
    IllegalArgumentError,
    KafkaError,
    NoOffsetForPartitionError,
)
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.consumer.position.test_offset_fetcher import Bench, asking
from tests.scenarios.consuming import embedded, fill
from tests.support.patience import eventually

P0, P1, P2, P3 = tps(0, 1, 2, 3)


class Group:
    """Answers with `offsets`, or with the next of `errors`, once `may_answer` is set."""

    def __init__(self, offsets: Mapping[TopicPartition, CommittedOffset | None]) -> None:
        self.offsets = offsets
        self.errors: list[KafkaError] = []
        self.asked: list[set[TopicPartition]] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def fetch_committed(
        self, partitions: Collection[TopicPartition]
    ) -> Mapping[TopicPartition, CommittedOffset | None]:
        self.asked.append(set(partitions))
        await self.may_answer.wait()
        if self.errors:
            raise self.errors.pop(0)
        return {tp: self.offsets[tp] for tp in partitions if tp in self.offsets}


def join(bench: Bench, group: Group) -> None:
    bench.fetcher = OffsetFetcher(
        bench.config, bench.client, bench.subscription, bench.signal, group
    )


async def at(bench: Bench, tp: TopicPartition, offset: int) -> None:
    await eventually(lambda: bench.subscription.assigned(tp).position == offset)


async def failed(bench: Bench, tp: TopicPartition) -> None:
    await eventually(lambda: bench.subscription.assigned(tp).failures)


async def answered(bench: Bench) -> None:
    committed = bench.fetcher._committed
    assert committed is not None
    await eventually(lambda: not committed._asked)


def list_offsets_of(broker: EmbeddedBroker) -> list[int]:
    return [
        partition.partition_index
        for request in broker.requests_of(ListOffsetsRequest)
        for topic in request.topics
        for partition in topic.partitions
    ]


async def test_b4_2_committed_offsets_come_before_resets_and_only_the_others_are_reset() -> None:
    group = Group({P0: CommittedOffset(2, -1, "")})
    async with embedded({"t": 2}) as broker, asking(broker, P0, P1) as bench:
        fill(broker, P0, 3)
        join(bench, group)
        bench.fetcher.update_positions()
        assert list_offsets_of(broker) == []
        await at(bench, P0, 2)
        bench.fetcher.update_positions()
        await at(bench, P1, 0)
        assert group.asked == [{P0, P1}]
        assert list_offsets_of(broker) == [1]


async def test_b4_2_the_group_is_asked_once_per_assignment_not_per_poll() -> None:
    group = Group({P0: CommittedOffset(2), P1: CommittedOffset(1)})
    async with embedded({"t": 2}) as broker, asking(broker, P0) as bench:
        join(bench, group)
        for _ in range(3):
            bench.fetcher.update_positions()
        await at(bench, P0, 2)
        bench.fetcher.update_positions()
        bench.subscription.assign_from_user([P0, P1])
        bench.fetcher.update_positions()
        await at(bench, P1, 1)
        assert group.asked == [{P0}, {P1}]


async def test_2c_5_without_a_committed_offset_and_a_policy_the_user_hears_of_it() -> None:
    group = Group({P0: None})
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        bench.subscription.default_reset = None
        join(bench, group)
        bench.fetcher.update_positions()
        await eventually(lambda: bench.subscription.assigned(P0).has_no_committed)
        for _ in range(2):
            bench.fetcher.update_positions()
            with pytest.raises(NoOffsetForPartitionError, match="t-0"):
                bench.fetcher.raise_for_missing_positions()
        assert len(group.asked) == 1


async def test_b4_2_a_seek_that_came_in_between_wins() -> None:
    group = Group({P0: CommittedOffset(2)})
    group.may_answer.clear()
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        join(bench, group)
        bench.fetcher.update_positions()
        bench.subscription.seek(P0, 1)
        group.may_answer.set()
        await answered(bench)
        assert bench.subscription.assigned(P0).position == 1


async def test_b4_2_an_answer_to_an_earlier_assignment_is_not_used() -> None:
    group = Group({P0: CommittedOffset(2)})
    group.may_answer.clear()
    async with embedded({"t": 1}) as broker, asking(broker, P0) as bench:
        join(bench, group)
        bench.fetcher.update_positions()
        await eventually(lambda: group.asked)
        bench.subscription.assign_from_user([])
        bench.subscription.assign_from_user([P0])
        state = bench.subscription.assigned(P0)
        group.may_answer.set()
        await answered(bench)
        assert state.fetch_state is FetchState.INITIALIZING
        bench.fetcher.update_positions()
        await at(bench, P0, 2)


async def test_b4_2_a_retriable_error_is_repeated_after_the_backoff() -> None:
    group = Group({P0: CommittedOffset(2)})
    group.errors.append(CoordinatorLoadInProgressError())
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, asking(broker, P0, clock=clock) as bench:
        join(bench, group)
        bench.fetcher.update_positions()
        await failed(bench, P0)
        due_at_s = bench.fetcher.update_positions()
        assert due_at_s is not None
        assert 0.08 <= due_at_s - clock.monotonic() <= 0.12
        assert bench.fetcher.take_error() is None
        await clock.advance(0.13)
        bench.fetcher.update_positions()
        await at(bench, P0, 2)


async def test_2c_7_another_error_is_kept_for_the_user_unless_the_partition_was_let_go() -> None:
    group = Group({})
    group.errors += [GroupAuthorizationFailedError("g"), GroupAuthorizationFailedError("g")]
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, asking(broker, P0, clock=clock) as bench:
        join(bench, group)
        bench.fetcher.update_positions()
        await failed(bench, P0)
        assert isinstance(bench.fetcher.take_error(), GroupAuthorizationFailedError)
        assert bench.fetcher.take_error() is None
        await clock.advance(1)
        bench.fetcher.update_positions()
        await eventually(lambda: bench.subscription.assigned(P0).failures == 2)
        bench.subscription.assign_from_user([])
        assert bench.fetcher.take_error() is None


async def test_b4_2_a_question_without_answer_is_asked_again() -> None:
    group = Group({P0: CommittedOffset(2)})
    group.may_answer.clear()
    clock = FakeClock()
    async with (
        embedded({"t": 1}) as broker,
        asking(broker, P0, clock=clock, default_api_timeout_ms=40_000) as bench,
    ):
        join(bench, group)
        bench.fetcher.update_positions()
        await eventually(lambda: group.asked)
        await clock.advance(40.1)
        await failed(bench, P0)
        await clock.advance(0.2)
        group.may_answer.set()
        bench.fetcher.update_positions()
        await at(bench, P0, 2)


async def test_a_hook_adjusts_what_the_group_has_committed_before_it_is_used() -> None:
    asked: list[Mapping[TopicPartition, OffsetAndMetadata | None]] = []

    def adjust(
        committed: Mapping[TopicPartition, OffsetAndMetadata | None],
    ) -> dict[TopicPartition, int | OffsetAndMetadata | None]:
        asked.append(committed)
        return {P0: 1, P1: 2, P2: None}

    group = Group(
        {P0: CommittedOffset(3, 5, "note"), P2: CommittedOffset(4), P3: CommittedOffset(2)}
    )
    async with (
        embedded({"t": 4}) as broker,
        asking(broker, P0, P1, P2, P3, group_id="g", adjust_committed_offsets=adjust) as bench,
    ):
        join(bench, group)
        bench.fetcher.update_positions()
        for tp, offset in ((P0, 1), (P1, 2), (P3, 2)):
            await at(bench, tp, offset)
        bench.fetcher.update_positions()
        await at(bench, P2, 0)
        (committed,) = asked
        assert committed[P0] == OffsetAndMetadata(3, "note")
        assert committed[P1] is None
        assert bench.subscription.assigned(P0).offset_epoch == -1


@pytest.mark.parametrize("result", [{P0: -1}, {P1: 3}, {P0: "3"}, None])
async def test_a_hook_that_fails_is_raised_by_the_poll_and_nothing_is_read(result: Any) -> None:
    group = Group({P0: CommittedOffset(3)})
    options = {"group_id": "g", "adjust_committed_offsets": lambda _committed: result}
    async with embedded({"t": 2}) as broker, asking(broker, P0, **options) as bench:
        join(bench, group)
        bench.fetcher.update_positions()
        await failed(bench, P0)
        with pytest.raises(IllegalArgumentError, match=r"adjust_committed_offsets=.*t-0"):
            raise bench.fetcher.take_error() or AssertionError
        assert bench.subscription.assigned(P0).position is None


def test_an_offset_that_the_hook_leaves_as_it_is_keeps_its_epoch() -> None:
    committed = {P0: CommittedOffset(3, 5, "note"), P1: CommittedOffset(4, 6)}
    assert adjusted(committed, lambda given: given) == committed
    assert adjusted(committed, lambda _given: {P0: 3}) == committed
    assert adjusted(committed, lambda _given: {}) == committed
    moved = adjusted(committed, lambda _given: {P0: OffsetAndMetadata(2, "", 4), P1: 1})
    assert moved == {P0: CommittedOffset(2, 4), P1: CommittedOffset(1)}
