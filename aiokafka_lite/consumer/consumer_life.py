"""Owns the state of a consumer: which state may follow which, its start and its stop.

It makes the engine when the consumer starts, and closes it when the consumer stops. It does not
know the public consumer, so that a consumer dropped without `stop()` is noticed. Consumers of
share groups have the same life, with an engine of their own. Only `start` and `stop` wait.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Generic, Protocol, TypeVar

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.client_config import ClientConfig
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


# On 3.11 it costs a call to find a member in its class.
_RUNNING, _STOPPED = LifeState.RUNNING, LifeState.STOPPED
_HAS_STOPPED = (LifeState.STOPPING, LifeState.STOPPED)

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


class ReaderEngine(Protocol):
    """The parts of a consumer that starts, runs or stops."""

    client: KafkaClient

    async def start(self) -> None:
        """Connect, and join the group. After an error `give_up` is called."""

    async def give_up(self) -> None:
        """Close everything after a start that failed."""

    def stop(self) -> None:
        """End every waiting poll, and every later one. Does not wait."""

    async def close_client(self, timeout_s: float) -> None:
        """Close the connections, and end the tasks that are left."""


EngineT = TypeVar("EngineT", bound=ReaderEngine)


class ReaderLife(Life[LifeState], Generic[EngineT]):
    """The state of a consumer of any kind, and its engine while it has one."""

    def __init__(
        self,
        config: ClientConfig,
        signal: PollSignal,
        *,
        clock: Clock,
        rng: random.Random | None,
        name: str,
        host: KafkaClient | None,
    ) -> None:
        """`name` is the name of the consumer's class, for logs and errors."""
        super().__init__(MAY_FOLLOW, LifeState.NEW)
        self.engine: EngineT | None = None
        """The parts of a consumer that starts, runs or stops; None before, and after a failure."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop of start()."""
        self.waiting_calls = WaitingCalls(clock, _stopped_meanwhile)
        self._client_id = config.client_id
        self._signal = signal
        self._clock = clock
        self._rng = rng
        self._name = name
        self._host = host

    def __repr__(self) -> str:
        return f"<{self._name} client_id={quoted(self._client_id)} {self._state.value}>"

    @property
    def has_stopped(self) -> bool:
        """Whether stop() was called."""
        return self._state in _HAS_STOPPED

    def refusal(self, _state: LifeState, /) -> Exception:
        """Return ConsumerStoppedError of a stopped consumer; otherwise IllegalStateError."""
        if self._state is LifeState.STOPPED:
            return ConsumerStoppedError(f"{self!r} cannot be started again; make a new one")
        return IllegalStateError(f"{self!r}: did you call start() twice?")

    # Which calls are allowed…

    def check_loop(self) -> None:
        """Raise IllegalStateError in another event loop than that of start()."""
        if self.engine is not None and self._state is not _STOPPED:
            self.engine.client.loop.check()

    def check_not_stopped(self) -> None:
        """Raise ConsumerStoppedError once stop() was called; otherwise as `check_loop`."""
        self.check_loop()
        if self.has_stopped:
            raise ConsumerStoppedError(f"{self!r} takes no more calls; make a new consumer")

    def running(self) -> EngineT:
        """Return the engine of a running consumer. A rebalance listener also gets it before start()
        has returned, and while stop() runs.

        Raises: IllegalStateError before start() and in another event loop, ConsumerStoppedError
        once stop() was called.
        """
        engine, state = self.engine, self._state
        if engine is not None and state is not _STOPPED:
            engine.client.loop.check()
            if state is _RUNNING or self._is_in_listener(engine):
                return engine
        self.check_not_stopped()
        raise IllegalStateError(
            f"{self!r}: await its start() first, or use it as `async with consumer:`"
        )

    def _is_in_listener(self, _engine: EngineT) -> bool:
        """Whether a rebalance listener runs, which may call what needs an engine."""
        return False

    # Starting and stopping…

    async def _start(self, make_engine: Callable[[], EngineT]) -> EngineT:
        """Make an engine, start it and return it.

        Raises: as `ReaderEngine.start`, and `to`; ConsumerStoppedError when stopped meanwhile.
        Cancelled: as if it had failed, which leaves no task, socket or timer behind.
        """
        loop = running_loop()
        self.to(LifeState.STARTING)
        self.loop = loop
        self.engine = engine = make_engine()
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

    async def _stop(
        self, timeout_s: float, stop_running: Callable[[EngineT], Awaitable[None]]
    ) -> None:
        """Stop within `timeout_s`. `stop_running` closes a consumer that runs, and sets STOPPED."""
        engine = self.engine
        if engine is None or self._state in (LifeState.NEW, LifeState.STOPPED):
            self.to(LifeState.STOPPED)
            return
        if engine.client.loop.has_ended:
            self.to(LifeState.STOPPED)
            logger.warning("%r: its event loop has ended before stop()", self)
            return
        self.check_loop()
        if self._is_in_listener(engine):
            raise IllegalStateError(
                "stop() inside a rebalance listener would wait for itself: let the listener "
                "return, and stop the consumer afterwards"
            )
        if self._state is LifeState.STOPPING:
            await self._wait_for_other_stop(timeout_s)
        elif self._state is LifeState.STARTING:
            self.to(LifeState.STOPPED)
            engine.stop()
            await engine.close_client(timeout_s)
        else:
            self.to(LifeState.STOPPING)
            engine.stop()
            self.waiting_calls.end()
            await stop_running(engine)

    async def _wait_for_other_stop(self, timeout_s: float) -> None:
        """Wait until another call of stop() has ended, at most `timeout_s`."""
        until_s = self._clock.monotonic() + timeout_s
        while self._state is LifeState.STOPPING and self._clock.monotonic() < until_s:
            await self._signal.wait(until_s)


class ConsumerLife(ReaderLife[ConsumerEngine]):
    """The state of one consumer that is no member of a share group."""

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
        super().__init__(config, signal, clock=clock, rng=rng, name=name, host=host)
        self._config = config
        self._subscription = subscription
        self._counters = counters

    def _is_in_listener(self, engine: ConsumerEngine) -> bool:
        return engine.is_in_listener

    async def start(self, listener: ConsumerRebalanceListener | None) -> ConsumerEngine:
        """Make an engine, start it and return it. `listener`: that of the subscription.

        Raises: as `ConsumerEngine.start`, and `to`; ConsumerStoppedError when stopped meanwhile.
        Cancelled: as if it had failed, which leaves no task, socket or timer behind.
        """
        return await self._start(partial(self._make_engine, listener))

    def _make_engine(self, listener: ConsumerRebalanceListener | None) -> ConsumerEngine:
        client = KafkaClient(
            self._config,
            clock=self._clock,
            rng=self._rng,
            name=f"consumer {self._config.client_id}",
            allow_auto_topic_creation=self._config.allow_auto_create_topics,
            observer=self._counters,
            host=self._host,
        )
        engine = ConsumerEngine(
            self._config, client, self._subscription, self._signal, self.waiting_calls, listener
        )
        observe(engine, self._config, self._counters)
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

        async def stop_running(engine: ConsumerEngine) -> None:
            bounds = divide_stop_time(timeout_ms)
            began_s = self._clock.monotonic()
            try:
                await engine.leave(bounds, processed_all=processed_all, operation=operation)
            except TimeoutError:
                logger.warning(
                    "%r: its group or fetches did not end within %d ms", self, timeout_ms
                )
            finally:
                self.to(LifeState.STOPPED)
                self.waiting_calls.end()  # those of a listener
                left_s = bounds.total_s - (self._clock.monotonic() - began_s)
                await engine.close_client(max(left_s, 1.0))
                self._signal.notify()

        await self._stop(timeout_ms / 1000, stop_running)


def _stopped_meanwhile() -> ConsumerStoppedError:
    return ConsumerStoppedError("the consumer was stopped while this call waited for an answer")


__all__ = ["MAY_FOLLOW", "ConsumerLife", "ReaderEngine", "ReaderLife"]
