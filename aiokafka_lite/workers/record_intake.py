"""Polls the consumer and queues what it returns. The polls keep the member alive in its group."""

import logging
from typing import Any, Final

from aiokafka_lite.clock import Clock
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
    ) -> None:
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
        try:
            found = await self._consumer.getmany(
                timeout_ms=POLL_MS, max_records=self._pauses.poll_limit
            )
        except KafkaError as error:
            if not error.retriable:
                raise
            logger.warning("a poll failed, another one follows: %s", error)
            await self._clock.sleep(_AFTER_ERROR_S)
            return
        if found:
            ready = self._queues.ready
            changed = []
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

    def _leader_epoch(self, tp: TopicPartition) -> int:
        """Return the leader epoch of the newest record that the last poll returned."""
        state = self._consumer._subscription.get(tp)
        return -1 if state is None else state.offset_epoch


__all__ = ["RecordIntake"]
