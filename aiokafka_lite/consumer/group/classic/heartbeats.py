"""Sends heartbeats to the coordinator, in a task beside that of the membership.

The membership decides what an error means for it. Source: 2e-4, KIP-62.
"""

import logging
from collections.abc import Callable

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.long_waits import LongWait, LongWaits
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.group.classic.classic_coordinator import ClassicCoordinator
from aiokafka_lite.consumer.group.classic.heartbeat_timer import HeartbeatTimer
from aiokafka_lite.consumer.group.classic.member import Generation, Member
from aiokafka_lite.consumer.group.group_errors import HEARTBEAT_ACTIONS, Action
from aiokafka_lite.consumer.group.loop_watch import LoopWatch
from aiokafka_lite.errors import BrokerResponseError, KafkaError

logger = logging.getLogger(__name__)

HeartbeatVerdict = Callable[[Action, BrokerResponseError, Generation], None]


class Heartbeats:
    """Sends heartbeats while the member is in a generation.

    `on_error(action, error, generation)` is called for errors that concern the membership;
    `on_failure(error)` for a failure that another heartbeat does not mend.
    """

    def __init__(
        self,
        coordinator: ClassicCoordinator,
        member: Member,
        timer: HeartbeatTimer,
        loop_watch: LoopWatch,
        clock: Clock,
        on_error: HeartbeatVerdict,
        on_failure: Callable[[KafkaError], None],
        waits: LongWaits,
    ) -> None:
        self._coordinator = coordinator
        self._member = member
        self._timer = timer
        self._loop_watch = loop_watch
        self._clock = clock
        self._on_error = on_error
        self._on_failure = on_failure
        self._waits = waits
        self._wait: LongWait | None = None
        """Since the first heartbeat without an answer."""
        self._wakeup = Wakeup()

    def restart(self) -> None:
        """Begin a session: the member has just joined a generation."""
        self._timer.restart(self._clock.monotonic())
        self._wakeup.set()

    def why_lost(self) -> str:
        """Return why the coordinator gave the member up, if this client knows it; else ""."""
        silent_s = self._clock.monotonic() - self._timer.heard_at_s
        blocked_s = self._loop_watch.blocked_s(self._timer.heard_at_s)
        if silent_s < self._timer.session_s or not blocked_s:
            return ""
        return (
            f"the coordinator heard no heartbeat for {silent_s:.1f} s, longer than "
            f"session_timeout_ms={self._timer.session_s * 1000:.0f}, since the event loop was "
            f"blocked for at least {blocked_s:.1f} s; run what computes for long in a thread "
            f"(asyncio.to_thread) or another process, or raise session_timeout_ms"
        )

    async def run(self) -> None:
        """Send heartbeats until cancelled. Waits while the member is in no generation."""
        try:
            while True:
                if not self._member.sends_heartbeats:
                    self._waits_no_longer()
                    await self._wakeup.wait()
                    continue
                self._loop_watch.start()
                now_s = self._clock.monotonic()
                if self._timer.is_expired(now_s):
                    self._coordinator.lost("the session timed out without an answer to a heartbeat")
                    self._timer.expired(now_s)
                if now_s < self._timer.due_at_s:
                    await self._wakeup.wait_for(self._clock, self._timer.due_at_s - now_s)
                    continue
                await self._beat(now_s)
        finally:
            self._waits_no_longer()
            self._loop_watch.stop()

    def _waits_no_longer(self) -> None:
        if self._wait is not None:
            self._wait.end()
            self._wait = None

    def _failed(self, error: KafkaError, now_s: float) -> None:
        if self._wait is not None:
            self._wait.failed(error)
        self._timer.failed(now_s)

    def _answered(self, now_s: float) -> None:
        self._waits_no_longer()
        self._timer.answered(now_s)

    async def _beat(self, now_s: float) -> None:
        member, generation = self._member, self._member.generation
        failure: KafkaError | None = None
        error_code = 0
        self._timer.sent(now_s)
        if self._wait is None:
            self._wait = self._waits.of(
                f"the coordinator of group {quoted(member.group_id)} to answer a heartbeat",
                "check that node, and the topic __consumer_offsets",
                lambda: "" if member.is_rebalancing else None,  # the wait to join is told
            )
        try:
            error_code = (await self._coordinator.heartbeat()).error_code
        except KafkaError as error:
            logger.debug("heartbeat of %r: %s", member, error)
            failure = error
        now_s = self._clock.monotonic()
        if member.generation is not generation or not member.sends_heartbeats:
            return  # what this says about `generation` does not matter any more (2e-4)
        if failure is not None:
            self._failed(failure, now_s)
            if not failure.retriable:
                self._on_failure(failure)
        elif error_code:
            self._refused(error_code, generation, now_s)
        else:
            self._answered(now_s)

    def _refused(self, error_code: int, generation: Generation, now_s: float) -> None:
        action, error = HEARTBEAT_ACTIONS.action_for(error_code)
        logger.info("heartbeat of %r: %s", self._member, error.message)
        if action is Action.REJOIN:
            self._answered(now_s)  # the coordinator has counted this heartbeat
        elif action in (Action.RETRY, Action.FIND_COORDINATOR):
            self._failed(error(), now_s)
        if action is Action.FIND_COORDINATOR:
            self._coordinator.lost(error.message)
        elif action is not Action.RETRY:
            instance_id = self._member.group_instance_id
            of_whom = "" if instance_id is None else f" as group_instance_id={quoted(instance_id)}"
            what = f"heartbeat in group {quoted(self._member.group_id)}{of_whom}"
            self._on_error(action, error(f"{what}: {error.description}"), generation)


__all__ = ["Heartbeats"]
