"""Sends the heartbeats of a member whose coordinator assigns, in a task beside its membership.

The broker says how often; `heartbeat_pace` knows the exception. A heartbeat with news is sent at
once. The membership decides what an error means for it. Source: KIP-848,
ConsumerHeartbeatRequestManager.
"""

import logging
from collections.abc import Callable

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.long_waits import LongWait
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_member import (
    JOIN_EPOCH,
    EpochMember,
    EpochState,
)
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_coordinator import (
    HeartbeatCoordinator,
    HeartbeatResponse,
    assigned_by,
)
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import MemberWishes
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_pace import HeartbeatPace
from aiokafka_lite.consumer.group.group_errors import EPOCH_HEARTBEAT_ACTIONS, Action
from aiokafka_lite.consumer.group.loop_watch import LoopWatch
from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedInstanceIdError,
    GroupIdNotFound,
    KafkaError,
    UnreleasedInstanceIdError,
    UnsupportedVersionError,
    for_code,
)

logger = logging.getLogger(__name__)


class EpochHeartbeats:
    """Sends heartbeats while the member joins or is in the group.

    `wishes()` returns what the member wants. `on_answer()` is called after the member has taken an
    answer over. `on_error(action, error)` is called for errors that concern the membership, and
    `on_failure(error)` for a failure that another heartbeat does not mend.
    """

    def __init__(
        self,
        client: KafkaClient,
        coordinator: HeartbeatCoordinator,
        member: EpochMember,
        loop_watch: LoopWatch,
        wishes: Callable[[], MemberWishes],
        on_answer: Callable[[], object],
        on_error: Callable[[Action, BrokerResponseError], object],
        on_failure: Callable[[KafkaError], object],
    ) -> None:
        self._client = client
        self._coordinator = coordinator
        self._member = member
        self._loop_watch = loop_watch
        self._wishes = wishes
        self._on_answer = on_answer
        self._on_error = on_error
        self._on_failure = on_failure
        self._wakeup = Wakeup()
        self._pace = HeartbeatPace()
        self._due_at_s = 0.0
        self._retry_at_s = 0.0
        self._failures = 0
        self._wait: LongWait | None = None

    def look(self) -> None:
        """Send a heartbeat at once if the member has news, or joins."""
        self._wakeup.set()

    def ask_soon(self) -> None:
        """Send a heartbeat at once, for its answer has the newest epoch."""
        self._due_at_s = 0.0
        self._wakeup.set()

    async def run(self) -> None:
        """Send heartbeats until cancelled. Waits while the member neither joins nor is in."""
        clock = self._client.clock
        try:
            while True:
                if not self._member.sends_heartbeats:
                    if self._member.state is not EpochState.FENCED:  # it joins again soon
                        self._waits_no_longer()
                    await self._wakeup.wait()
                    continue
                self._loop_watch.start()
                delay_s = self._delay_s(clock.monotonic())
                if delay_s > 0:
                    await self._wakeup.wait_for(clock, delay_s)
                    continue
                if self._wait is None:
                    self._wait = self._client.waits.of(
                        f"the coordinator of group {quoted(self._member.group_id)} to "
                        "answer a heartbeat",
                        "check that node, and the topic __consumer_offsets",
                    )
                await self._beat()
        finally:
            self._waits_no_longer()
            self._loop_watch.stop()

    def _waits_no_longer(self) -> None:
        if self._wait is not None:
            self._wait.end()
            self._wait = None

    def _delay_s(self, now_s: float) -> float:
        """Return after how many seconds the next heartbeat is to be sent, unless there is news."""
        has_news = self._member.has_news(self._wishes())
        return max(self._retry_at_s - now_s, 0.0 if has_news else self._due_at_s - now_s)

    async def _beat(self) -> None:
        member, clock = self._member, self._client.clock
        membership = member.membership
        try:
            node_id = await self._coordinator.find()
            if member.membership != membership:
                return
            sent_at_s = clock.monotonic()
            told = member.begin_heartbeat(self._wishes())
            answer = await self._coordinator.heartbeat(node_id, told)
            is_own_place = (
                answer.error_code == UnreleasedInstanceIdError.errno
                and await self._releases_place(node_id)
            )
        except KafkaError as error:
            logger.debug("heartbeat of %r: %s", member, error)
            if member.membership == membership:
                self._failed(error)
                if not error.retriable:
                    self._on_failure(error)
            return
        if member.membership != membership:
            return  # what this says about the former membership does not matter any more
        if answer.error_code:
            self._refused(answer, is_own_place=is_own_place)
            return
        self._failures = 0
        self._waits_no_longer()
        member.answered(answer.member_epoch, assigned_by(answer))
        self._due_at_s = self._pace.next_at_s(
            sent_at_s,
            answer.heartbeat_interval_ms / 1000,
            answer.member_epoch,
            has_partitions=bool(member.target),
        )
        self._on_answer()

    async def _releases_place(self, node_id: int) -> bool:
        """Give up the place of this member's instance id; say whether it had that place itself.

        A coordinator refuses a join under an instance id that a member has, also if it is this
        member. It is so if the answer to an earlier join was lost, or the epoch is fenced.
        The member id tells them apart: under the id of another one, nothing is given up.
        """
        code = await self._coordinator.release_place(node_id)
        is_own = code != FencedInstanceIdError.errno
        if is_own:
            logger.info(
                "%r has its place in the group already: an answer was lost, or its epoch is "
                "fenced; it leaves for a while and joins again (%s)",
                *(self._member, for_code(code).message if code else "no error"),
            )
        return is_own

    def _failed(self, error: KafkaError) -> None:
        """Tell everything with the next heartbeat, after a backoff that grows."""
        if self._wait is not None:
            self._wait.failed(error)
        self._member.heartbeat_failed()
        backoff_s = self._client.retry_backoff.delay(self._failures)
        self._retry_at_s = self._client.clock.monotonic() + backoff_s
        self._failures += 1

    def _refused(self, answer: HeartbeatResponse, *, is_own_place: bool) -> None:
        action, error = EPOCH_HEARTBEAT_ACTIONS.action_for(answer.error_code)
        is_of_other_kind = error is GroupIdNotFound and self._member.epoch == JOIN_EPOCH
        if is_of_other_kind:  # a join makes the group otherwise
            action = Action.RAISE
        logger.info("heartbeat of %r: %s", self._member, error.message)
        self._failed(error(error.explained(answer.error_message)))
        if action is Action.FIND_COORDINATOR:
            self._coordinator.lost(error.message)
        elif action is not Action.RETRY and not is_own_place:
            if action is Action.RELEASE_PLACE:  # it is another member's
                action = Action.RAISE
            what = f"heartbeat in group {quoted(self._member.group_id)}"
            why = error.explained(answer.error_message)
            if error is UnsupportedVersionError:
                why = self._coordinator.not_offered
            elif is_of_other_kind:
                why = f"{why} The id belongs to a group of another kind; choose another group_id"
            self._on_error(action, error(f"{what}: {why}"))


__all__ = ["EpochHeartbeats"]
