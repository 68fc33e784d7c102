"""Owns the state of a consumer: which state may follow which, its start and its stop.

It makes the engine when the consumer starts, and closes it when the consumer stops. It does not
know the public consumer, so that a consumer dropped without `stop()` is noticed. Only `start` and
`stop` wait.
"""

import asyncio
import logging
import random

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.life import Life, LifeState
from aiokafka_lite.concurrency.running_loop import running_loop
from aiokafka_lite.concurrency.waiting_calls import WaitingCalls
from aiokafka_lite.consumer.consumer_config import ConsumerConfig, GroupMembershipOperation
from aiokafka_lite.consumer.consumer_engine import ConsumerEngine, observe
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.consumer.stop_bounds import divide_stop_time
from aiokafka_lite.errors import ConsumerStoppedError, IllegalStateError
from aiokafka_lite.metrics.counters import Counters

logger = logging.getLogger(__name__)


MAY_FOLLOW: dict[LifeState, frozenset[LifeState]] = {
    # A stop before the start has nothing to close.
    LifeState.NEW: frozenset({LifeState.STARTING, LifeState.STOPPED}),
    # A start that failed may be repeated. A stop during the start ends at once.
    LifeState.STARTING: frozenset({LifeState.RUNNING, LifeState.NEW, LifeState.STOPPED}),
    # STOPPED without STOPPING: the event loop has ended, so nothing can be closed any more.
    LifeState.RUNNING: frozenset({LifeState.STOPPING, LifeState.STOPPED}),
    # Polls return no more records. A rebalance listener may still commit.
    LifeState.STOPPING: frozenset({LifeState.STOPPED}),
    LifeState.STOPPED: frozenset({LifeState.STOPPED}),
}
"""State -> the states that may come next."""


class ConsumerLife(Life[LifeState]):
    """The state of one consumer, and its engine while it has one."""

    def __init__(
        self,
        config: ConsumerConfig,
        subscription: SubscriptionState,
        signal: PollSignal,
        *,
        clock: Clock,
        rng: random.Random | None,
        counters: Counters,
        name: str,
        host: KafkaClient | None = None,
    ) -> None:
        """`name` is the name of the consumer's class, for logs and errors."""
        super().__init__(MAY_FOLLOW, LifeState.NEW)
        self.engine: ConsumerEngine | None = None
        """The parts of a consumer that starts, runs or stops; None before, and after a failure."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop of start()."""
        self._config = config
        self._subscription = subscription
        self._signal = signal
        self._clock = clock
        self._rng = rng
        self._counters = counters
        self._name = name
        self._host = host
        self._waiting_calls = WaitingCalls(clock, _stopped_meanwhile)

    def __repr__(self) -> str:
        return f"<{self._name} client_id={self._config.client_id!r} {self._state.value}>"

    @property
    def has_stopped(self) -> bool:
        """Whether stop() was called."""
        return self._state in (LifeState.STOPPING, LifeState.STOPPED)

    def refusal(self, _state: LifeState, /) -> Exception:
        """Return ConsumerStoppedError of a stopped consumer; otherwise IllegalStateError."""
        if self._state is LifeState.STOPPED:
            return ConsumerStoppedError(f"{self!r} cannot be started again; make a new one")
        return IllegalStateError(f"{self!r}: did you call start() twice?")

    # Which calls are allowed…

    def check_loop(self) -> None:
        """Raise IllegalStateError in another event loop than that of start()."""
        if self.engine is not None and self._state is not LifeState.STOPPED:
            self.engine.client.loop.check()

    def check_not_stopped(self) -> None:
        """Raise ConsumerStoppedError once stop() was called; otherwise as `check_loop`."""
        self.check_loop()
        if self.has_stopped:
            raise ConsumerStoppedError(f"{self!r} takes no more calls; make a new consumer")

    def running(self) -> ConsumerEngine:
        """Return the engine of a running consumer. A rebalance listener also gets it before start()
        has returned, and while stop() runs.

        Raises: IllegalStateError before start() and in another event loop, ConsumerStoppedError
        once stop() was called.
        """
        self.check_loop()
        engine = self.engine
        if engine is not None and (
            self._state is LifeState.RUNNING
            or (self._state is not LifeState.STOPPED and engine.is_in_listener)
        ):
            return engine
        self.check_not_stopped()
        raise IllegalStateError(
            f"{self!r}: await its start() first, or use it as `async with consumer:`"
        )

    # Starting and stopping…

    async def start(self, listener: ConsumerRebalanceListener | None) -> ConsumerEngine:
        """Make an engine, start it and return it. `listener`: that of the subscription.

        Raises: as `ConsumerEngine.start`, and `to`; ConsumerStoppedError when stopped meanwhile.
        Cancelled: as if it had failed, which leaves no task, socket or timer behind.
        """
        loop = running_loop()
        self.to(LifeState.STARTING)
        self.loop = loop
        client = KafkaClient(
            self._config,
            clock=self._clock,
            rng=self._rng,
            name=f"consumer {self._config.client_id}",
            allow_auto_topic_creation=self._config.allow_auto_create_topics,
            observer=self._counters,
            host=self._host,
        )
        self.engine = engine = ConsumerEngine(
            self._config, client, self._subscription, self._signal, self._waiting_calls, listener
        )
        observe(engine, self._config, self._subscription, self._counters)
        try:
            await engine.start()
            self.check_not_stopped()
            self.to(LifeState.RUNNING)
        except BaseException as error:
            try:
                with anyio_shield():
                    await engine.give_up()
            finally:  # also when it is cancelled once more
                self.engine = None
                if not self.has_stopped:
                    self.to(LifeState.NEW)
            if self.has_stopped:
                raise ConsumerStoppedError(f"{self!r} while it was starting") from error
            raise
        return engine

    async def stop(
        self,
        timeout_ms: float,
        *,
        processed_all: bool,
        operation: GroupMembershipOperation = "default",
    ) -> None:
        """Stop within `timeout_ms`; see `AIOKafkaConsumer.stop`.

        `processed_all`: what the newest poll returned counts as processed (B7). `operation`: as
        `AIOKafkaConsumer.stop`.
        """
        engine = self.engine
        if engine is None or self._state in (LifeState.NEW, LifeState.STOPPED):
            self.to(LifeState.STOPPED)
            return
        if engine.client.loop.has_ended:
            self.to(LifeState.STOPPED)
            logger.warning("%r: its event loop has ended before stop()", self)
            return
        self.check_loop()
        if engine.is_in_listener:
            raise IllegalStateError(
                "stop() inside a rebalance listener would wait for itself: let the listener "
                "return, and stop the consumer afterwards"
            )
        if self._state is LifeState.STOPPING:
            await self._wait_for_other_stop(timeout_ms / 1000)
        elif self._state is LifeState.STARTING:
            self.to(LifeState.STOPPED)
            engine.stop()
            await engine.close_client(timeout_ms / 1000)
        else:
            await self._stop_running(
                engine, timeout_ms, processed_all=processed_all, operation=operation
            )

    async def _stop_running(
        self,
        engine: ConsumerEngine,
        timeout_ms: float,
        *,
        processed_all: bool,
        operation: GroupMembershipOperation,
    ) -> None:
        self.to(LifeState.STOPPING)
        engine.stop()
        self._waiting_calls.end()
        bounds = divide_stop_time(timeout_ms)
        began_s = self._clock.monotonic()
        try:
            await engine.leave(bounds, processed_all=processed_all, operation=operation)
        except TimeoutError:
            logger.warning("%r: its group or fetches did not end within %d ms", self, timeout_ms)
        finally:
            self.to(LifeState.STOPPED)
            self._waiting_calls.end()  # those of a listener
            left_s = bounds.total_s - (self._clock.monotonic() - began_s)
            await engine.close_client(max(left_s, 1.0))
            self._signal.notify()

    async def _wait_for_other_stop(self, timeout_s: float) -> None:
        """Wait until another call of stop() has ended, at most `timeout_s`."""
        until_s = self._clock.monotonic() + timeout_s
        while self._state is LifeState.STOPPING and self._clock.monotonic() < until_s:
            await self._signal.wait(until_s)


def _stopped_meanwhile() -> ConsumerStoppedError:
    return ConsumerStoppedError("the consumer was stopped while this call waited for an answer")


__all__ = ["MAY_FOLLOW", "ConsumerLife"]
