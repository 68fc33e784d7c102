"""Owns the state of a share consumer: which state may follow which, its start and its stop.

It makes the engine when the consumer starts, and closes it when the consumer stops. It does not
know the public consumer, so that a consumer dropped without `stop()` is noticed.
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
from aiokafka_lite.consumer.consumer_life import MAY_FOLLOW
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.errors import ConsumerStoppedError, IllegalStateError
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.share.held_locks import LockHolder
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_engine import AcknowledgementCallback, ShareEngine

logger = logging.getLogger(__name__)

_LEAST_S = 1.0
_SHARE_OF_ENGINE = 0.9
"""Of the time to stop, how much sessions and group may take; the rest is for the connections."""


class ShareLife(Life[LifeState]):
    """The state of one share consumer, its subscription, and its engine while it has one."""

    def __init__(
        self,
        config: ShareConsumerConfig,
        *,
        clock: Clock,
        rng: random.Random | None,
        name: str,
        host: KafkaClient | None = None,
    ) -> None:
        """`name` is the name of the consumer's class, for logs and errors."""
        super().__init__(MAY_FOLLOW, LifeState.NEW)
        self.engine: ShareEngine | None = None
        """The parts of a consumer that starts, runs or stops; None before, and after a failure."""
        self.loop: asyncio.AbstractEventLoop | None = None
        """The event loop of start()."""
        self.topics: frozenset[str] = frozenset()
        self.callback: AcknowledgementCallback | None = None
        self.holder: LockHolder | None = None
        """Workers that hold records over polls; None for all other users."""
        self.waiting_calls = WaitingCalls(clock, self._stopped)
        self._config = config
        self._clock = clock
        self._rng = rng
        self._name = name
        self._host = host
        self._signal = PollSignal(clock)

    def __repr__(self) -> str:
        return f"<{self._name} client_id={self._config.client_id!r} {self._state.value}>"

    def _stopped(self) -> ConsumerStoppedError:
        return ConsumerStoppedError(f"{self!r}: stopped; make a new consumer")

    def refusal(self, _state: LifeState, /) -> Exception:
        """Return ConsumerStoppedError of a stopped consumer; otherwise IllegalStateError."""
        if self._state is LifeState.STOPPED:
            return self._stopped()
        return IllegalStateError(f"{self!r}: did you call start() twice?")

    def check_not_stopped(self) -> None:
        """Raise ConsumerStoppedError once stop() was called; IllegalStateError in another event
        loop than that of start().
        """
        if self._state in (LifeState.STOPPING, LifeState.STOPPED):
            raise self._stopped()
        if self.engine is not None:
            self.engine.client.loop.check()

    def running(self) -> ShareEngine:
        """Return the engine of a running consumer.

        Raises: as `check_not_stopped`; IllegalStateError before start().
        """
        self.check_not_stopped()
        if self.engine is None or self._state is not LifeState.RUNNING:
            raise IllegalStateError(
                f"{self!r}: await its start() first, or use it as `async with consumer:`"
            )
        return self.engine

    # Starting and stopping…

    async def start(self) -> None:
        """Make an engine and start it.

        Raises: as `ShareEngine.start`, and `to`; ConsumerStoppedError when stopped meanwhile.
        Cancelled: as if it had failed, which leaves no task, socket or timer behind.
        """
        loop = running_loop()
        self.to(LifeState.STARTING)
        self.loop = loop
        config, counters = self._config, Counters()
        client = KafkaClient(
            config,
            clock=self._clock,
            rng=self._rng,
            name=f"share consumer {config.client_id}",
            allow_auto_topic_creation=config.allow_auto_create_topics,
            observer=counters,
            host=self._host,
        )
        counters.observe(config.observer, "consumer", config.client_id, config.group_id)
        self.engine = engine = ShareEngine(
            config, client, self._signal, lambda: self.topics, lambda: self.callback, self.holder
        )
        try:
            await engine.start()
            self.check_not_stopped()
            self.to(LifeState.RUNNING)
        except BaseException as error:
            try:
                with anyio_shield():
                    await self._close(engine, _LEAST_S)
            finally:  # also when it is cancelled once more
                self.engine = None
                was_stopped = self._state is not LifeState.STARTING
                if not was_stopped:
                    self.to(LifeState.NEW)
            if was_stopped:
                raise self._stopped() from error
            raise

    async def stop(self, timeout_ms: float) -> None:
        """Stop within `timeout_ms`; see `AIOKafkaShareConsumer.stop`."""
        engine = self.engine
        if engine is None or self._state in (LifeState.NEW, LifeState.STOPPED):
            self.to(LifeState.STOPPED)
            return
        if engine.client.loop.has_ended:
            self.to(LifeState.STOPPED)
            logger.warning("%r: its event loop has ended before stop()", self)
            return
        engine.client.loop.check()
        if self._state is LifeState.STARTING:
            self.to(LifeState.STOPPED)
            engine.poller.stop()
            await engine.close_client(_LEAST_S)
        elif self._state is LifeState.STOPPING:
            until_s = self._clock.monotonic() + timeout_ms / 1000
            while self.state is LifeState.STOPPING and self._clock.monotonic() < until_s:
                await self._signal.wait(until_s)
        else:
            self.to(LifeState.STOPPING)
            engine.poller.stop()
            self.waiting_calls.end()
            try:
                await self._close(engine, max(timeout_ms / 1000, _LEAST_S))
            finally:
                self.to(LifeState.STOPPED)
                self._signal.notify()

    async def _close(self, engine: ShareEngine, timeout_s: float) -> None:
        began_s = self._clock.monotonic()
        try:
            await engine.close(timeout_s * _SHARE_OF_ENGINE)
        except TimeoutError:
            logger.warning("%r: its group or sessions did not end within %.1f s", self, timeout_s)
        finally:
            left_s = timeout_s - (self._clock.monotonic() - began_s)
            await engine.close_client(max(left_s, _LEAST_S))


__all__ = ["ShareLife"]
