"""Heartbeats go out in the broker's interval, and at once with news; what answers call for."""

import asyncio
import random
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
import pytest_asyncio

from aiokafka_lite import errors
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_heartbeats import EpochHeartbeats
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_member import EpochMember, EpochState
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_coordinator import NOT_OFFERED
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import (
    HeartbeatFields,
    MemberWishes,
)
from aiokafka_lite.consumer.group.group_errors import Action
from aiokafka_lite.consumer.group.loop_watch import LoopWatch
from aiokafka_lite.errors import BrokerResponseError, KafkaConnectionError, KafkaError
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from aiokafka_lite.testing.fake_clock import FakeClock, settle

T1 = UUID(int=1)


class Scene:
    """A member, and a coordinator that answers with `answers` in turn, then with the next epoch.

    It asks for a heartbeat every 5 s. A failure comes again after 1 s.
    """

    not_offered = NOT_OFFERED

    def __init__(self) -> None:
        self.clock = FakeClock(100.0)
        self.waits = LongWaits(self.clock, "c")
        self.retry_backoff = ExponentialBackoff(1.0, 1.0, jitter=0, rng=random.Random(1))
        self.member = EpochMember("g", None, "app", lambda: "m-1")
        self.wishes = MemberWishes(60_000, topics=frozenset({"t"}))
        self.answers: list[int | KafkaError] = []
        self.interval_ms = 5000
        self.assignment: frozenset[int] | None = frozenset({0})
        self.held: asyncio.Future[None] | None = None
        self.sent: list[tuple[float, int, HeartbeatFields]] = []
        self.lost_because: list[str] = []
        self.verdicts: list[tuple[Action, BrokerResponseError]] = []
        self.failures: list[KafkaError] = []
        self.releases = 0
        self.release_answer = errors.FencedInstanceIdError.errno
        self.answered = 0
        self.heartbeats = EpochHeartbeats(
            self,  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            self.member,
            LoopWatch(self.clock, "'app'", 3.0, lambda: self.member.sends_heartbeats),
            lambda: self.wishes,
            self._note_answer,
            lambda action, error: self.verdicts.append((action, error)),
            self.failures.append,
        )

    def _note_answer(self) -> None:
        self.answered += 1

    async def find(self) -> int:
        return 1

    async def heartbeat(
        self, node_id: int, told: HeartbeatFields
    ) -> ConsumerGroupHeartbeatResponse:
        epoch = self.member.epoch
        self.sent.append((self.clock.monotonic(), epoch, told))
        answer = self.answers.pop(0) if self.answers else 0
        if self.held is not None:
            await self.held
        if isinstance(answer, KafkaError):
            raise answer
        given, self.assignment = self.assignment, None
        return ConsumerGroupHeartbeatResponse(
            error_code=answer,
            error_message="the broker's words" if answer else None,
            member_epoch=epoch + 1,
            heartbeat_interval_ms=self.interval_ms,
            assignment=None
            if given is None
            else Assignment(
                topic_partitions=[TopicPartitions(topic_id=T1, partitions=sorted(given))]
            ),
        )

    async def release_place(self, node_id: int) -> int:
        self.releases += 1
        return self.release_answer

    def lost(self, why: str) -> None:
        self.lost_because.append(why)

    @property
    def times(self) -> list[float]:
        return [sent_at_s for sent_at_s, _, _ in self.sent]

    async def be_stable(self) -> None:
        """Join at 100 and acknowledge at once."""
        self.member.join()
        self.heartbeats.look()
        await settle()
        self.member.took(self.member.target, self.member.membership)
        self.heartbeats.look()
        await settle()
        assert self.member.state is EpochState.STABLE
        self.sent.clear()


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


async def test_a_member_without_partitions_asks_for_them_soon(scene: Scene) -> None:
    scene.assignment = None
    await scene.be_stable()
    scene.assignment = frozenset({0})
    await scene.clock.advance(1)
    scene.member.took(scene.member.target, scene.member.membership)
    scene.heartbeats.look()
    await scene.clock.advance(10)
    assert scene.times == [100.1, 101, 106, 111]


async def test_none_goes_out_before_the_member_joins(scene: Scene) -> None:
    await scene.clock.advance(60)
    assert scene.sent == []


async def test_joining_and_acknowledging_do_not_wait(scene: Scene) -> None:
    scene.member.join()
    scene.heartbeats.look()
    await settle()
    assert [(at, epoch, told.owned) for at, epoch, told in scene.sent] == [(100, 0, frozenset())]
    assert scene.member.target == {(T1, 0)}
    assert scene.answered == 1
    scene.member.took(scene.member.target, scene.member.membership)
    scene.heartbeats.look()
    await settle()
    acknowledgement = HeartbeatFields(owned=frozenset({(T1, 0)}))
    assert scene.sent[1:] == [(100, 1, acknowledgement)]


async def test_the_broker_says_how_often(scene: Scene) -> None:
    await scene.be_stable()
    await scene.clock.advance(10)
    assert scene.times == [105, 110]
    scene.interval_ms = 2000
    await scene.clock.advance(9)
    assert scene.times == [105, 110, 115, 117, 119]
    assert {told for _, _, told in scene.sent} == {HeartbeatFields()}


async def test_another_subscription_is_told_at_once(scene: Scene) -> None:
    await scene.be_stable()
    await scene.clock.advance(2)
    scene.wishes = MemberWishes(60_000, topics=frozenset({"t", "u"}))
    scene.heartbeats.look()
    await settle()
    assert scene.sent == [(102, 2, HeartbeatFields(topics=("t", "u")))]


async def test_a_newer_epoch_is_asked_for_at_once(scene: Scene) -> None:
    await scene.be_stable()
    scene.heartbeats.ask_soon()
    await settle()
    assert scene.sent == [(100, 2, HeartbeatFields())]
    assert scene.member.epoch == 3


async def test_only_one_is_on_its_way(scene: Scene) -> None:
    await scene.be_stable()
    scene.held = asyncio.get_running_loop().create_future()
    await scene.clock.advance(20)
    assert scene.times == [105]
    scene.held.set_result(None)
    scene.held = None
    await settle()
    assert scene.times == [105, 120]


async def test_they_end_with_the_membership(scene: Scene) -> None:
    await scene.be_stable()
    scene.member.leave_unpolled("silence")
    await scene.clock.advance(60)
    assert scene.sent == []


# Failures…


async def test_a_failure_is_tried_again_after_the_backoff_with_everything(scene: Scene) -> None:
    await scene.be_stable()
    scene.answers = [KafkaConnectionError("gone"), KafkaConnectionError("gone")]
    await scene.clock.advance(9)
    assert scene.times == [105, 106, 107]
    everything = HeartbeatFields(
        rebalance_timeout_ms=60_000, topics=("t",), owned=frozenset({(T1, 0)})
    )
    assert [told for _, _, told in scene.sent] == [HeartbeatFields(), everything, everything]
    assert scene.failures == []
    assert scene.member.state is EpochState.STABLE


async def test_a_failure_that_time_does_not_mend_is_told(scene: Scene) -> None:
    await scene.be_stable()
    error = errors.UnsupportedVersionError("no heartbeats here")
    scene.answers = [error]
    await scene.clock.advance(5)
    assert scene.failures == [error]
    assert scene.verdicts == []


# Answers…


@pytest.mark.parametrize(
    "error", [errors.GroupCoordinatorNotAvailableError, errors.NotCoordinatorForGroupError]
)
async def test_a_coordinator_that_is_none_is_looked_for(
    scene: Scene, error: type[BrokerResponseError]
) -> None:
    await scene.be_stable()
    scene.answers = [error.errno]
    await scene.clock.advance(6)
    assert scene.lost_because == [error.message]
    assert scene.times == [105, 106]
    assert scene.verdicts == []
    assert scene.member.state is EpochState.STABLE


async def test_a_coordinator_that_loads_is_asked_again(scene: Scene) -> None:
    await scene.be_stable()
    scene.answers = [errors.GroupLoadInProgressError.errno]
    await scene.clock.advance(6)
    assert scene.times == [105, 106]
    assert (scene.lost_because, scene.verdicts) == ([], [])


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (errors.FencedMemberEpochError, Action.LOSE_GENERATION),
        (errors.UnknownMemberIdError, Action.LOSE_GENERATION),
        (errors.GroupIdNotFound, Action.LOSE_GENERATION),
        (errors.UnreleasedInstanceIdError, Action.RAISE),  # a stranger has the name
        (errors.TopicAuthorizationFailedError, Action.TELL),
        (errors.GroupMaxSizeReachedError, Action.RAISE),
    ],
)
async def test_what_concerns_the_membership_is_told_in_the_brokers_words(
    scene: Scene, error: type[BrokerResponseError], action: Action
) -> None:
    await scene.be_stable()
    scene.answers = [error.errno]
    await scene.clock.advance(5)
    ((told, refusal),) = scene.verdicts
    assert (told, type(refusal)) == (action, error)
    assert "heartbeat in group 'g': the broker's words" in str(refusal)


@pytest.mark.parametrize("answer", [0, errors.UnknownMemberIdError.errno])
async def test_a_place_that_is_its_own_is_given_up_and_taken_again(
    scene: Scene, answer: int
) -> None:
    scene.release_answer = answer
    scene.answers = [errors.UnreleasedInstanceIdError.errno]
    scene.member.join()
    scene.heartbeats.look()
    await settle()
    assert (scene.releases, scene.verdicts) == (1, [])
    await scene.clock.advance(1)
    assert [epoch for _, epoch, _ in scene.sent] == [0, 0]
    assert scene.member.is_member


async def test_the_id_of_a_group_of_another_kind_is_refused(scene: Scene) -> None:
    """A member that joins makes the group if there is none, so the id must be taken."""
    scene.answers = [errors.GroupIdNotFound.errno]
    scene.member.join()
    scene.heartbeats.look()
    await settle()
    ((action, refusal),) = scene.verdicts
    assert action is Action.RAISE
    assert "choose another group_id" in str(refusal)


async def test_a_protocol_that_is_off_is_told_with_its_remedy(scene: Scene) -> None:
    await scene.be_stable()
    scene.answers = [errors.UnsupportedVersionError.errno]
    await scene.clock.advance(5)
    ((_, refusal),) = scene.verdicts
    assert NOT_OFFERED in str(refusal)


@pytest.mark.parametrize("answer", [0, errors.FencedMemberEpochError.errno])
async def test_an_answer_to_a_former_membership_means_nothing(scene: Scene, answer: int) -> None:
    await scene.be_stable()
    scene.held = asyncio.get_running_loop().create_future()
    scene.answers = [answer]
    await scene.clock.advance(5)
    scene.member.leave_unpolled("silence")
    scene.held.set_result(None)
    await settle()
    assert (scene.answered, scene.verdicts) == (2, [])
    assert scene.member.state is EpochState.STALE
