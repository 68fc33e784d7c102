"""Polls the consumer and queues what it returns. The polls keep the member alive in its group."""

import logging
from typing import Any, Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.portions import Portions
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import ConsumerStoppedError, KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.workers.idle_workers import IdleWorkers
from aiokafka_lite.workers.partition_pauses import PartitionPauses
from aiokafka_lite.workers.stop_request import StopRequest
from aiokafka_lite.workers.work_queues import WorkQueues

logger = logging.getLogger(__name__)

POLL_MS: Final = 1000
_AFTER_ERROR_S: Final = 1.0
_MOST_KEYS: Final = 128
"""So many keys a function of the user names in a row, however fast it was."""


class RecordIntake:
    """The polls of one run."""

    def __init__(
        self,
        consumer: AIOKafkaConsumer[Any, Any],
        queues: WorkQueues,
        pauses: PartitionPauses,
        idle: IdleWorkers,
        stop: StopRequest,
        clock: Clock,
        *,
        is_paced: bool,
    ) -> None:
        """`is_paced`: a function of the user names the keys; it may be slow."""
        self._portions = Portions(clock, _MOST_KEYS) if is_paced else None
        self._consumer = consumer
        self._queues = queues
        self._pauses = pauses
        self._idle = idle
        self._stop = stop
        self._clock = clock

    async def run(self) -> None:
        """Poll until the workers stop, or a poll raises what another poll would not mend.

        Cancelled: no record is lost; the queued ones are not committed.
        """
        try:
            while not self._stop.is_set:
                await self._poll()
        except (KafkaError, ConsumerStoppedError) as error:
            self._stop.set(error)

    async def _poll(self) -> None:
        limit, portions = self._pauses.poll_limit, self._portions
        if portions is not None:
            limit = min(limit, portions.count)
        try:
            found = await self._consumer.getmany(timeout_ms=POLL_MS, max_records=limit)
        except KafkaError as error:
            if not error.retriable:
                raise
            logger.warning("a poll failed, another one follows: %s", error)
            await self._clock.sleep(_AFTER_ERROR_S)
            return
        if found:
            ready = self._queues.ready
            changed = []
            if portions is not None:
                portions.begin()
            try:
                for tp, records in found.items():
                    work = self._queues.partition(tp)
                    work.offsets.returned(self._leader_epoch(tp))
                    self._queues.add(work, records)
                    changed.append(work)
            except BaseException:  # the user's function of a record may raise anything
                self._queues.refuse(found)
                raise
            self._pauses.added(changed)
            self._idle.wake(self._queues.ready - ready)
            if portions is not None and portions.learn(sum(map(len, found.values()))):
                await portions.turn()

    def _leader_epoch(self, tp: TopicPartition) -> int:
        """Return the leader epoch of the newest record that the last poll returned."""
        state = self._consumer._subscription.get(tp)
        return -1 if state is None else state.offset_epoch


__all__ = ["RecordIntake"]
