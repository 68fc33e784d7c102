"""Heartbeats go out while the member is in a generation; what answers call for is 2e-4."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from aiokafka_lite import errors
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.consumer.group.classic.heartbeat_timer import HeartbeatTimer
from aiokafka_lite.consumer.group.classic.heartbeats import Heartbeats
from aiokafka_lite.consumer.group.classic.member import Generation, Member
from aiokafka_lite.consumer.group.group_errors import Action
from aiokafka_lite.consumer.group.loop_watch import LoopWatch
from aiokafka_lite.errors import BrokerResponseError, KafkaConnectionError, KafkaError
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatResponse
from aiokafka_lite.testing.fake_clock import FakeClock, settle

GENERATION = Generation(5, "m-1", "range")


class Scene:
    """A member, its heartbeats every 3 s in a session of 10 s, and a coordinator that answers with
    `answers` in turn, then with success. A failure comes again after 1 s.
    """

    def __init__(self) -> None:
        self.clock = FakeClock(100.0)
        self.member = Member("g", None)
        self.answers: list[int | KafkaError] = []
        self.held: asyncio.Future[None] | None = None
        self.sent_at_s: list[float] = []
        self.lost_because: list[str] = []
        self.verdicts: list[tuple[Action, BrokerResponseError, Generation]] = []
        self.failures: list[KafkaError] = []
        backoff = ExponentialBackoff(1.0, 1.0, jitter=0, rng=random.Random(1))
        self.timer = HeartbeatTimer(3.0, 10.0, backoff)
        self.loop_watch = LoopWatch(self.clock, "'app'", 3.0, lambda: self.member.sends_heartbeats)
        self.heartbeats = Heartbeats(
            self,  # type: ignore[arg-type]
            self.member,
            self.timer,
            self.loop_watch,
            self.clock,
            self._heard,
            self.failures.append,
            LongWaits(self.clock, "app"),
        )

    async def heartbeat(self) -> HeartbeatResponse:
        self.sent_at_s.append(self.clock.monotonic())
        answer = self.answers.pop(0) if self.answers else 0
        if self.held is not None:
            await self.held
        if isinstance(answer, KafkaError):
            raise answer
        return HeartbeatResponse(error_code=answer)

    def lost(self, why: str) -> None:
        self.lost_because.append(why)

    def _heard(self, action: Action, error: BrokerResponseError, generation: Generation) -> None:
        self.verdicts.append((action, error, generation))

    def join(self, generation: Generation = GENERATION) -> None:
        self.member.begin_join()
        self.member.joined(generation)
        self.heartbeats.restart()


@pytest_asyncio.fixture
async def scene() -> AsyncIterator[Scene]:
    scene = Scene()
    task = asyncio.create_task(scene.heartbeats.run())
    await settle()
    yield scene
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert scene.clock.pending_timers == 0


# When they go out…


async def test_2e_4_no_heartbeat_goes_out_before_a_generation_has_formed(scene: Scene) -> None:
    scene.member.begin_join()
    scene.heartbeats.restart()
    await scene.clock.advance(60)
    assert scene.sent_at_s == []


async def test_2e_4_they_begin_while_the_assignment_is_still_on_its_way(scene: Scene) -> None:
    scene.join()
    await scene.clock.advance(9)
    assert scene.sent_at_s == [103, 106, 109]
    scene.member.synced()
    await scene.clock.advance(3)
    assert scene.sent_at_s == [103, 106, 109, 112]


async def test_they_rest_while_the_member_joins_and_go_on_with_the_next_generation(
    scene: Scene,
) -> None:
    scene.join()
    await scene.clock.advance(4)
    scene.member.begin_join()
    await scene.clock.advance(60)
    assert scene.sent_at_s == [103]
    scene.member.joined(Generation(6, "m-1", "range"))
    scene.heartbeats.restart()
    await scene.clock.advance(3)
    assert scene.sent_at_s == [103, 167]
    assert scene.lost_because == []


async def test_they_end_with_the_membership(scene: Scene) -> None:
    scene.join()
    scene.member.lose_membership()
    await scene.clock.advance(60)
    assert scene.sent_at_s == []


async def test_only_one_is_on_its_way(scene: Scene) -> None:
    scene.join()
    scene.held = asyncio.get_running_loop().create_future()
    await scene.clock.advance(8)
    assert scene.sent_at_s == [103]
    scene.held.set_result(None)
    scene.held = None
    await settle()
    assert scene.sent_at_s == [103, 108]


# Failures…


async def test_2e_4_a_failure_is_tried_again_after_the_backoff(scene: Scene) -> None:
    scene.join()
    scene.answers = [KafkaConnectionError("gone"), KafkaConnectionError("gone")]
    await scene.clock.advance(9)
    assert scene.sent_at_s == [103, 104, 105, 108]
    assert scene.failures == []


async def test_2e_4_a_session_without_success_makes_the_coordinator_unknown(scene: Scene) -> None:
    """It is asked again at once, wherever it is found, and given another session."""
    scene.join()
    scene.answers = [KafkaConnectionError("gone")] * 50
    await scene.clock.advance(9.5)
    assert scene.lost_because == []
    await scene.clock.advance(0.5)
    assert scene.lost_because == ["the session timed out without an answer to a heartbeat"]
    assert scene.sent_at_s[-1] == 110
    await scene.clock.advance(10)
    assert len(scene.lost_because) == 2


async def test_2e_4_answers_keep_the_session(scene: Scene) -> None:
    scene.join()
    await scene.clock.advance(60)
    assert scene.lost_because == []
    assert len(scene.sent_at_s) == 20


async def test_a_failure_that_time_does_not_mend_is_told(scene: Scene) -> None:
    scene.join()
    error = errors.UnsupportedVersionError("no heartbeats here")
    scene.answers = [error]
    await scene.clock.advance(3)
    assert scene.failures == [error]
    assert scene.verdicts == []


# Answers…


@pytest.mark.parametrize(
    "error", [errors.GroupCoordinatorNotAvailableError, errors.NotCoordinatorForGroupError]
)
async def test_2e_4_a_coordinator_that_is_none_is_looked_for(
    scene: Scene, error: type[BrokerResponseError]
) -> None:
    scene.join()
    scene.answers = [error.errno]
    await scene.clock.advance(4)
    assert scene.lost_because == [error.message]
    assert scene.sent_at_s == [103, 104]
    assert scene.verdicts == []


async def test_2e_4_a_coordinator_that_loads_is_asked_again(scene: Scene) -> None:
    scene.join()
    scene.answers = [errors.GroupLoadInProgressError.errno]
    await scene.clock.advance(4)
    assert scene.sent_at_s == [103, 104]
    assert (scene.lost_because, scene.verdicts) == ([], [])


async def test_an_answer_that_does_not_count_does_not_keep_the_session(scene: Scene) -> None:
    scene.join()
    scene.answers = [errors.GroupLoadInProgressError.errno] * 20
    await scene.clock.advance(10)
    assert len(scene.lost_because) == 1


async def test_2e_4_a_rebalance_counts_as_alive_and_heartbeats_go_on(scene: Scene) -> None:
    """Whether to rejoin depends on the state, and is the membership's business."""
    scene.join()
    scene.answers = [errors.RebalanceInProgressError.errno] * 20
    await scene.clock.advance(12)
    assert scene.sent_at_s == [103, 106, 109, 112]
    assert scene.lost_because == []
    assert {action for action, _, _ in scene.verdicts} == {Action.REJOIN}
    assert {generation for _, _, generation in scene.verdicts} == {GENERATION}


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (errors.UnknownMemberIdError, Action.LOSE_MEMBERSHIP),
        (errors.IllegalGenerationError, Action.LOSE_GENERATION),
        (errors.FencedInstanceIdError, Action.RAISE),
        (errors.GroupAuthorizationFailedError, Action.RAISE),
    ],
)
async def test_2e_4_what_ends_the_membership_is_told_to_it(
    scene: Scene, error: type[BrokerResponseError], action: Action
) -> None:
    scene.join()
    scene.answers = [error.errno]
    await scene.clock.advance(3)
    [(heard, told, generation)] = scene.verdicts
    assert heard is action
    assert type(told) is error
    assert "heartbeat in group 'g': " in str(told)
    assert generation is GENERATION
    assert scene.lost_because == []


@pytest.mark.parametrize(
    "error",
    [
        errors.UnknownMemberIdError,
        errors.IllegalGenerationError,
        errors.RebalanceInProgressError,
        errors.NotCoordinatorForGroupError,
        errors.FencedInstanceIdError,
    ],
)
@pytest.mark.parametrize("is_joined_again", [False, True])
async def test_2e_4_errors_about_an_old_generation_are_ignored(
    scene: Scene, error: type[BrokerResponseError], is_joined_again: bool
) -> None:
    scene.join()
    scene.held = asyncio.get_running_loop().create_future()
    scene.answers = [error.errno]
    await scene.clock.advance(3)
    scene.member.begin_join()
    if is_joined_again:
        scene.member.joined(Generation(6, "m-1", "range"))
        scene.heartbeats.restart()
    scene.held.set_result(None)
    await settle()
    assert (scene.verdicts, scene.lost_because) == ([], [])


async def test_a_late_answer_about_an_old_generation_leaves_the_new_one_its_times(
    scene: Scene,
) -> None:
    scene.join()
    scene.held = asyncio.get_running_loop().create_future()
    await scene.clock.advance(3)
    scene.member.begin_join()
    scene.member.joined(Generation(6, "m-1", "range"))
    scene.heartbeats.restart()
    await scene.clock.advance(1)
    held, scene.held = scene.held, None
    held.set_result(None)
    await settle()
    assert scene.timer.due_at_s == 106
    await scene.clock.advance(2)
    assert scene.sent_at_s == [103, 106]


async def test_a_late_failure_about_an_old_generation_leaves_the_new_one_its_times(
    scene: Scene,
) -> None:
    scene.join()
    scene.held = asyncio.get_running_loop().create_future()
    scene.answers = [errors.UnsupportedVersionError("of the node before")]
    await scene.clock.advance(3)
    scene.member.begin_join()
    scene.member.joined(Generation(6, "m-1", "range"))
    scene.heartbeats.restart()
    await scene.clock.advance(1)
    held, scene.held = scene.held, None
    held.set_result(None)
    await settle()
    assert scene.timer.due_at_s == 106
    assert scene.failures == []


# Why a membership was lost…


async def test_a_loop_blocked_for_longer_than_the_session_is_why_the_membership_was_lost(
    scene: Scene,
) -> None:
    scene.join()
    await scene.clock.advance(4)
    scene.clock._now += 12
    await scene.clock.advance(0)
    assert scene.heartbeats.why_lost() == "", "it was heard of again"
    scene.answers = [errors.UnknownMemberIdError.errno]
    scene.clock._now += 12
    await scene.clock.advance(0)
    why = scene.heartbeats.why_lost()
    assert why.startswith(
        "the coordinator heard no heartbeat for 12.0 s, longer than session_timeout_ms=10000, "
        "since the event loop was blocked for at least 11.0 s; "
    )


async def test_neither_a_short_block_nor_a_silent_coordinator_is_why(scene: Scene) -> None:
    scene.join()
    await scene.clock.advance(1)
    scene.clock._now += 6
    await scene.clock.advance(0)
    assert scene.loop_watch.blocked_s(0) > 0
    assert scene.heartbeats.why_lost() == ""
    scene.answers = [KafkaConnectionError("down")] * 30
    await scene.clock.advance(20)
    assert scene.heartbeats.why_lost() == ""
