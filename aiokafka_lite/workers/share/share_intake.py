"""Polls a share consumer while there is room, and queues what it returns.

Each poll also sends what was acknowledged, and shows that the member lives.
"""

import logging
from typing import Any, Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import ConsumerStoppedError, KafkaError, RecordDeserializationError
from aiokafka_lite.share.share_consumer import AIOKafkaShareConsumer
from aiokafka_lite.workers.idle_workers import IdleWorkers
from aiokafka_lite.workers.share.share_outcomes import ShareOutcomes
from aiokafka_lite.workers.share.share_queue import ShareQueue
from aiokafka_lite.workers.stop_request import StopRequest

logger = logging.getLogger(__name__)

POLL_S: Final = 1.0
_AFTER_ERROR_S: Final = 1.0


class ShareIntake:
    """The polls of one run."""

    def __init__(
        self,
        consumer: AIOKafkaShareConsumer[Any, Any],
        queue: ShareQueue,
        outcomes: ShareOutcomes,
        idle: IdleWorkers,
        stop: StopRequest,
        clock: Clock,
    ) -> None:
        self._consumer = consumer
        self._queue = queue
        self._outcomes = outcomes
        self._idle = idle
        self._stop = stop
        self._clock = clock

    async def run(self) -> None:
        """Poll until the workers stop, or a poll raises what another poll would not mend.

        Cancelled: nothing was taken by the poll that runs.
        """
        try:
            while not self._stop.is_set:
                await self._poll()
        except (KafkaError, ConsumerStoppedError) as error:
            self._stop.set(error)

    async def _poll(self) -> None:
        engine = self._consumer._readable()
        room = self._queue.room
        if not room:
            await self._outcomes.room.wait_for(self._clock, POLL_S)
            room = self._queue.room
        try:
            found = await engine.poll_beside(room, POLL_S if room else 0.0)
        except RecordDeserializationError as error:
            self._outcomes.unreadable(error)
            return
        except KafkaError as error:
            if not error.retriable:
                raise
            logger.warning("a poll failed, another one follows: %s", error)
            await self._clock.sleep(_AFTER_ERROR_S)
            return
        ready = self._queue.ready
        for tp, records in found.items():
            self._queue.add(tp, records)
        self._idle.wake(self._queue.ready - ready)


__all__ = ["ShareIntake"]
