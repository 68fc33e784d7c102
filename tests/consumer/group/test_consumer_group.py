"""The group as the rest of the consumer sees it: what it waits for, commits, says at its end."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.stop_bounds import divide_stop_time
from aiokafka_lite.errors import (
    GroupAuthorizationFailedError,
    GroupLoadInProgressError,
    KafkaTimeoutError,
    OffsetMetadataTooLargeError,
)
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill, offsets
from tests.scenarios.grouping import Listener, assigned, committed, member_of, poll

P0, P1 = tps(0, 1)


class Scene:
    """A started member and its group, on a clock that stands still."""

    def __init__(self, broker: EmbeddedBroker, consumer: AIOKafkaConsumer[Any, Any]) -> None:
        assert consumer._engine is not None
        assert consumer._engine.group is not None
        self.broker, self.consumer = broker, consumer
        self.group: ConsumerGroup = consumer._engine.group


@asynccontextmanager
async def scene_of(
    *topics: str, clock: FakeClock | None = None, **options: Any
) -> AsyncIterator[Scene]:
    async with embedded({"t": 2, "u": 1}) as broker:
        options = {"heartbeat_interval_ms": 3000, **options}
        consumer = member_of(broker, *topics, clock=clock or FakeClock(), **options)
        async with consumer:
            yield Scene(broker, consumer)


async def read_twice(scene: Scene) -> None:
    """Two polls of two records each."""
    fill(scene.broker, P0, 4)
    assert offsets(await poll(scene.consumer, max_records=2)) == {0: [0, 1]}
    assert offsets(await poll(scene.consumer, max_records=2)) == {0: [2, 3]}


# The first assignment…


async def test_the_wait_for_an_assignment_is_bounded_and_says_how_it_stands() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with scene_of(clock=clock) as scene:
        with pytest.raises(
            KafkaTimeoutError, match=r"no assignment in group 'g' within 2 s.*UNJOIN"
        ):
            await asyncio.wait_for(scene.group.wait_for_assignment(2.0), 30)


async def test_the_wait_for_an_assignment_ends_with_it_or_with_what_the_group_refuses() -> None:
    async with scene_of() as scene:
        scene.broker.faults.fail(JoinGroupRequest, GroupAuthorizationFailedError)
        scene.consumer.subscribe(["t"])
        with pytest.raises(GroupAuthorizationFailedError):
            await asyncio.wait_for(scene.group.wait_for_assignment(60.0), 30)
        scene.group.poll_began()
        scene.group.poll_ended()
        await asyncio.wait_for(scene.group.wait_for_assignment(60.0), 30)
        await scene.group.wait_for_assignment(0.0)


# What it knows…


async def test_partitions_that_were_here_before_are_known() -> None:
    """So that a commit for them fails as one that came too late, not as a mistake."""
    async with scene_of("t") as scene:
        assert scene.group.had(P0)
        assert not scene.group.had(TopicPartition("u", 0))
        scene.consumer.subscribe(["u"])
        await assigned(scene.consumer, [TopicPartition("u", 0)])
        assert scene.group.had(P0)
        assert scene.group.membership.topics == {"u"}, "of the whole group, which this member leads"
        (member_id,) = scene.broker.group("g").members
        generation_id = scene.broker.group("g").generation_id
        assert scene.group.metadata == ("g", generation_id, member_id, None)


async def test_b7_consumed_is_with_the_newest_poll_and_processed_without() -> None:
    async with scene_of("t", max_poll_records=2) as scene:
        fill(scene.broker, P0, 4)
        for tp in (P0, P1):
            assert await scene.consumer.position(tp) == 0
        assert offsets(await poll(scene.consumer)) == {0: [0, 1]}
        assert scene.group.consumed()[P0].offset == 2
        processed = scene.group.processed()
        assert {tp: each.offset for tp, each in processed.items()} == {P0: 0, P1: 0}
        assert offsets(await poll(scene.consumer)) == {0: [2, 3]}
        assert scene.group.consumed()[P0].offset == 4
        assert scene.group.processed([P0])[P0].offset == 2
        assert scene.group.processed([P1])[P1].offset == 0
        assert scene.group.processed([]) == {}


async def test_b7_processed_knows_of_records_taken_on_the_fast_path() -> None:
    async with scene_of("t") as scene:
        fill(scene.broker, P0, 4)
        for offset in range(3):
            assert (await scene.consumer.getone()).offset == offset
        assert scene.group.processed([P0])[P0].offset == 2
        assert scene.group.consumed()[P0].offset == 3


# Commits…


async def test_2e_11_before_a_revocation_a_failure_is_logged_and_no_more(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with scene_of("t") as scene:
        await read_twice(scene)
        scene.broker.faults.fail(OffsetCommitRequest, OffsetMetadataTooLargeError)
        with caplog.at_level(logging.WARNING):
            await scene.group.commit_before_revocation({P0})
        assert "auto-commit" in caplog.text
        await scene.group.commit_before_revocation({P0})
        assert committed(scene.broker) == {P0: 2}


async def test_2e_11_a_commit_before_a_revocation_is_bounded_by_the_rebalance_timeout(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    options = {"retry_backoff_ms": 1000, "retry_backoff_max_ms": 1000}
    async with scene_of("t", clock=clock, rebalance_timeout_ms=4000, **options) as scene:
        await read_twice(scene)
        scene.broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError, times=None)
        before_s = clock.monotonic()
        await asyncio.wait_for(scene.group.commit_before_revocation({P0}), 30)
        assert clock.monotonic() - before_s == pytest.approx(4, abs=0.1)
        assert "not committed within 4 s" in caplog.text
        scene.broker.faults.clear()


async def test_without_auto_commit_nothing_is_committed_before_a_revocation() -> None:
    async with scene_of("t", enable_auto_commit=False) as scene:
        await read_twice(scene)
        await scene.group.commit_before_revocation({P0})
        assert scene.broker.requests_of(OffsetCommitRequest) == []


async def test_callbacks_of_users_hear_of_values_of_the_public_kind() -> None:
    async with scene_of("t", enable_auto_commit=False) as scene:
        heard: list[Any] = []
        scene.group.commit_async(
            {P0: CommittedOffset(3, 5, "note")}, lambda *told: heard.append(told)
        )
        assert await scene.group.offsets.settle(10.0)
        ((stored, error),) = heard
        assert error is None
        assert stored == {P0: OffsetAndMetadata(3, "note")}
        assert stored[P0].leader_epoch == 5


# Polls…


async def test_an_interval_that_ends_makes_the_next_quick_poll_look_around() -> None:
    clock = FakeClock()
    async with scene_of("t", clock=clock) as scene:
        revision = scene.consumer._subscription.revision
        before = revision.number
        await clock.advance(5.1)
        assert revision.number > before


# The end…


async def test_the_end_commits_then_tells_the_listener_then_leaves() -> None:
    class Looker(Listener):
        def on_partitions_revoked(self, revoked: set[TopicPartition]) -> object:
            if revoked:
                stored.append(committed(broker))
                members.append(len(broker.group("g").members))
            return super().on_partitions_revoked(revoked)

    stored: list[dict[TopicPartition, int]] = []
    members: list[int] = []
    async with embedded({"t": 1}) as broker:
        listener = Looker()
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        await consumer.start()
        fill(broker, P0, 2)
        await poll(consumer)
        await consumer.stop()
        assert stored == [{P0: 2}]
        assert members == [1]
        assert broker.group("g").members == {}
        assert len(broker.requests_of(LeaveGroupRequest)) == 1


@pytest.mark.parametrize(("processed_all", "offset"), [(True, 4), (False, 2)])
async def test_b7_the_end_may_or_may_not_count_the_newest_poll(
    processed_all: bool, offset: int
) -> None:
    async with scene_of("t") as scene:
        await read_twice(scene)
        await scene.group.close(divide_stop_time(10_000), processed_all=processed_all)
        assert committed(scene.broker)[P0] == offset
        scene.consumer._subscription.unsubscribe()
