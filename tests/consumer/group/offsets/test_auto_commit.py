"""When offsets are committed without being asked (B7, 2e-14), on a clock that stands still."""

import logging
import random
from typing import cast

import pytest

from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.consumer.group.offsets.auto_commit import AutoCommit
from aiokafka_lite.consumer.group.offsets.offset_committer import (
    CommitCallback,
    OffsetCommitter,
    Offsets,
)
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import (
    CommitFailedError,
    GroupLoadInProgressError,
    KafkaError,
    OffsetMetadataTooLargeError,
)
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps

P0, P1 = tps(0, 1)


class Scene:
    """An `AutoCommit` every five seconds, and in place of the committer what it was told."""

    def __init__(self, interval_s: float = 5.0) -> None:
        self.clock = FakeClock()
        self.commits: list[tuple[Offsets, CommitCallback]] = []
        self.refusal: KafkaError | None = None
        self.looks = 0
        self.commits_sent = 0
        self.offsets: Offsets = {P0: CommittedOffset(3)}
        self.poll = 1
        self.asked_since: list[int] = []
        backoff = ExponentialBackoff(0.1, 1.0, rng=random.Random(7))
        committer = cast("OffsetCommitter", self)
        self.auto_commit = AutoCommit(
            *(interval_s, self.clock, backoff, committer, "me"),
            *(self.processed, lambda: self.poll, self.look),
        )

    def processed(self, since: int) -> Offsets:
        self.asked_since.append(since)
        return self.offsets

    def progress(self) -> None:
        """A poll began, and so records of partition 0 were processed."""
        self.poll += 1
        self.offsets = {**self.offsets, P0: CommittedOffset(self.offsets[P0].offset + 1)}

    def look(self) -> None:
        self.looks += 1

    # In place of the OffsetCommitter…

    def check_may_commit(self) -> None:
        if self.refusal is not None:
            raise self.refusal

    def commit_async(
        self, offsets: Offsets, callback: CommitCallback, *, is_automatic: bool = False
    ) -> None:
        assert is_automatic
        self.commits.append((offsets, callback))
        self.commits_sent += 1

    def answer(self, error: Exception | None = None, left: Offsets | None = None) -> None:
        """The newest commit is over; `left` was not stored, or with an error everything."""
        offsets, callback = self.commits[-1]
        callback(offsets, error, left if left is not None else offsets if error else {})


async def test_b7_the_first_poll_after_the_interval_commits_once() -> None:
    scene = Scene()
    scene.auto_commit.restart()
    scene.auto_commit.polled()
    await scene.clock.advance(4.9)
    scene.auto_commit.polled()
    assert scene.commits == []
    assert scene.looks == 0
    await scene.clock.advance(0.1)
    assert scene.looks == 1, "a poll that waits, or is on a fast path, is to look here"
    scene.auto_commit.polled()
    scene.auto_commit.polled()
    assert [offsets for offsets, _ in scene.commits] == [{P0: CommittedOffset(3)}]


async def test_b7_the_next_interval_counts_from_the_commit() -> None:
    scene = Scene()
    scene.auto_commit.restart()
    await scene.clock.advance(8)
    scene.auto_commit.polled()
    scene.answer()
    await scene.clock.advance(4.9)
    scene.auto_commit.polled()
    assert len(scene.commits) == 1
    scene.progress()
    await scene.clock.advance(0.2)
    scene.auto_commit.polled()
    assert len(scene.commits) == 2


async def test_b7_a_commit_has_what_changed_and_only_looks_at_what_moved() -> None:
    """Of 5,000 partitions of which one has records, one is committed, not each of them."""
    scene = Scene()
    scene.offsets = {P0: CommittedOffset(3), P1: CommittedOffset(7)}
    scene.auto_commit.restart()
    for poll in (5, 9, 12):
        scene.poll = poll
        await scene.clock.advance(5)
        scene.auto_commit.polled()
        scene.answer()
        scene.progress()
    scene.poll = 20
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    assert [offsets for offsets, _ in scene.commits] == [
        {P0: CommittedOffset(3), P1: CommittedOffset(7)},
        {P0: CommittedOffset(4)},
        {P0: CommittedOffset(5)},
        {P0: CommittedOffset(6)},
    ]
    assert scene.asked_since == [0, 5, 9, 12]


async def test_b7_without_a_change_nothing_is_committed_but_all_once_an_hour() -> None:
    """A broker forgets offsets that nobody commits again, of a group without members (KIP-211)."""
    scene = Scene()
    scene.auto_commit.restart()
    for _ in range(3600 // 5):
        await scene.clock.advance(5)
        scene.auto_commit.polled()
        if len(scene.commits) == 1:
            scene.answer()
    assert len(scene.commits) == 1
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    assert [offsets for offsets, _ in scene.commits] == [{P0: CommittedOffset(3)}] * 2


@pytest.mark.parametrize("event", ["assignment", "another commit", "failure"])
async def test_b7_all_is_committed_again_after(event: str) -> None:
    scene = Scene()
    scene.offsets = {P0: CommittedOffset(3), P1: CommittedOffset(7)}
    scene.auto_commit.restart()
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    if event == "failure":
        scene.answer(OffsetMetadataTooLargeError("a note"))
    else:
        scene.answer()
    if event == "assignment":
        scene.auto_commit.restart()
    elif event == "another commit":
        scene.commits_sent += 1
    scene.progress()
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    assert scene.commits[-1][0] == {P0: CommittedOffset(4), P1: CommittedOffset(7)}


async def test_2e_14_the_interval_begins_anew_with_an_assignment() -> None:
    scene = Scene()
    scene.auto_commit.restart()
    await scene.clock.advance(4)
    scene.auto_commit.restart()
    await scene.clock.advance(4)
    scene.auto_commit.polled()
    assert scene.commits == []
    assert scene.clock.pending_timers == 1


async def test_b7_nothing_is_committed_before_it_is_started_and_after_it_is_stopped() -> None:
    scene = Scene()
    scene.auto_commit.polled()
    scene.auto_commit.restart()
    await scene.clock.advance(6)
    scene.auto_commit.stop()
    scene.auto_commit.stop()
    scene.auto_commit.polled()
    assert scene.commits == []
    assert scene.clock.pending_timers == 0


async def test_b7_one_commit_at_a_time() -> None:
    scene = Scene()
    scene.auto_commit.restart()
    for _ in range(3):
        await scene.clock.advance(6)
        scene.auto_commit.polled()
        scene.progress()
    assert len(scene.commits) == 1
    scene.answer()
    scene.auto_commit.polled()
    assert len(scene.commits) == 2


async def test_b7_without_anything_processed_it_waits_for_the_next_interval() -> None:
    scene = Scene()
    scene.offsets = {}
    scene.auto_commit.restart()
    await scene.clock.advance(6)
    scene.auto_commit.polled()
    scene.offsets, scene.poll = {P1: CommittedOffset(1)}, 2
    scene.auto_commit.polled()
    assert scene.commits == []
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    assert [offsets for offsets, _ in scene.commits] == [{P1: CommittedOffset(1)}]


async def test_2e_12_between_two_assignments_nothing_is_tried() -> None:
    scene = Scene()
    scene.refusal = CommitFailedError()
    scene.auto_commit.restart()
    await scene.clock.advance(6)
    scene.auto_commit.polled()
    assert scene.commits == []
    scene.refusal = None
    scene.poll += 1
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    assert len(scene.commits) == 1


async def test_2e_14_a_failure_that_may_pass_is_tried_again_after_a_backoff_that_grows() -> None:
    scene = Scene()
    scene.auto_commit.restart()
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    for count, delay_s in enumerate((0.1, 0.2, 0.4), start=1):
        scene.answer(GroupLoadInProgressError("not yet"))
        await scene.clock.advance(delay_s * 0.79)
        scene.auto_commit.polled()
        assert len(scene.commits) == count
        await scene.clock.advance(delay_s * 0.42)
        scene.auto_commit.polled()
        assert len(scene.commits) == count + 1
    scene.answer()
    scene.progress()
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    scene.answer(GroupLoadInProgressError("not yet"))
    await scene.clock.advance(0.13)
    scene.auto_commit.polled()
    assert len(scene.commits) == 6, "after a success the backoff is short again"


async def test_2e_14_the_backoff_is_never_longer_than_the_interval() -> None:
    scene = Scene(interval_s=0.02)
    scene.auto_commit.restart()
    await scene.clock.advance(0.02)
    scene.auto_commit.polled()
    scene.answer(GroupLoadInProgressError("not yet"))
    await scene.clock.advance(0.02)
    scene.auto_commit.polled()
    assert len(scene.commits) == 2


async def test_2e_14_a_failure_for_good_is_logged_and_the_interval_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene()
    scene.auto_commit.restart()
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    with caplog.at_level(logging.WARNING):
        scene.answer(OffsetMetadataTooLargeError("a note"))
    assert "a note" in caplog.text
    await scene.clock.advance(1)
    scene.auto_commit.polled()
    assert len(scene.commits) == 1
    await scene.clock.advance(4)
    scene.auto_commit.polled()
    assert len(scene.commits) == 2


async def test_2e_14_an_answer_after_the_end_sets_no_timer() -> None:
    scene = Scene()
    scene.auto_commit.restart()
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    scene.auto_commit.stop()
    scene.answer(GroupLoadInProgressError("not yet"))
    assert scene.clock.pending_timers == 0


async def test_b7_an_interval_of_zero_commits_with_each_poll_that_has_something_new() -> None:
    """A poll that waits looks here whenever anything happens; the commit itself is such a thing."""
    scene = Scene(interval_s=0)
    scene.auto_commit.restart()
    for _ in range(3):
        scene.auto_commit.polled()
        scene.answer()
    assert len(scene.commits) == 1
    scene.progress()
    scene.auto_commit.polled()
    assert len(scene.commits) == 2
    scene.answer(GroupLoadInProgressError("not yet"))
    scene.auto_commit.polled()
    assert len(scene.commits) == 2, "not before its backoff"
    await scene.clock.advance(0.13)
    scene.auto_commit.polled()
    assert len(scene.commits) == 3
    scene.answer(OffsetMetadataTooLargeError("a note"))
    scene.auto_commit.polled()
    assert len(scene.commits) == 3, "what was refused is not tried again as it is"


async def test_b7_what_was_stored_is_not_sent_again_because_something_else_was_refused() -> None:
    scene = Scene()
    scene.offsets = {P0: CommittedOffset(3), P1: CommittedOffset(7)}
    scene.auto_commit.restart()
    await scene.clock.advance(5)
    scene.auto_commit.polled()
    scene.answer(GroupLoadInProgressError("not yet"), left={P1: CommittedOffset(7)})
    await scene.clock.advance(0.13)
    scene.auto_commit.polled()
    assert scene.commits[-1][0] == {P1: CommittedOffset(7)}


@pytest.mark.parametrize("interval_s", [0.0, 0.001, 5.0])
async def test_b7_a_poll_that_goes_on_waiting_is_not_woken_again_and_again(
    interval_s: float,
) -> None:
    """What it may commit was committed when it began; only the hourly commit is left."""
    scene = Scene(interval_s)
    scene.auto_commit.restart()
    for _ in range(20):
        await scene.clock.advance(1)
        scene.auto_commit.polled()
        if scene.commits:
            scene.answer()
    assert scene.looks <= 3
    assert len(scene.commits) == 1
    looks = scene.looks
    await scene.clock.advance(3600)
    assert scene.looks == looks + 1
    scene.auto_commit.polled()
    assert len(scene.commits) == 2


async def test_b7_no_refusal_between_two_assignments_makes_a_waiting_poll_spin() -> None:
    scene = Scene(interval_s=0)
    scene.refusal = CommitFailedError()
    scene.auto_commit.restart()
    for _ in range(20):
        await scene.clock.advance(0)
        scene.auto_commit.polled()
    assert scene.looks <= 3
