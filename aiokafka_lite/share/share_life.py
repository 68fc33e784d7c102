"""Owns the state of a share consumer, its subscription, its start and its stop.

It makes the engine when the consumer starts, and closes it when the consumer stops. What it has in
common with other consumers is in `ReaderLife`.
"""

import random

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.consumer.consumer_life import ReaderLife
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.share.held_locks import LockHolder
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_engine import LEAST_S, AcknowledgementCallback, ShareEngine


class ShareLife(ReaderLife[ShareEngine]):
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
        super().__init__(config, PollSignal(clock), clock=clock, rng=rng, name=name, host=host)
        self.topics: frozenset[str] = frozenset()
        self.callback: AcknowledgementCallback | None = None
        self.holder: LockHolder | None = None
        """Workers that hold records over polls; None for all other users."""
        self.counters = Counters()
        self._config = config

    async def start(self) -> None:
        """Make an engine and start it.

        Raises: as `ShareEngine.start`, and `to`; ConsumerStoppedError when stopped meanwhile.
        Cancelled: as if it had failed, which leaves no task, socket or timer behind.
        """
        await self._start(self._make_engine)

    def _make_engine(self) -> ShareEngine:
        config, counters = self._config, self.counters
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
        return ShareEngine(
            config, client, self._signal, lambda: self.topics, lambda: self.callback, self.holder
        )

    async def stop(self, timeout_ms: float) -> None:
        """Stop within `timeout_ms`; see `AIOKafkaShareConsumer.stop`."""
        timeout_s = max(timeout_ms / 1000, LEAST_S)

        async def stop_running(engine: ShareEngine) -> None:
            try:
                await engine.close_all(timeout_s)
            finally:
                self.to(LifeState.STOPPED)
                self._signal.notify()

        await self._stop(timeout_s, stop_running)


__all__ = ["ShareLife"]
