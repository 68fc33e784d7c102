"""Pauses and resumes partitions of the consumer as `FlowBounds` decides. Does not wait."""

from collections.abc import Collection
from typing import Any

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.workers.flow_bounds import FlowBounds
from aiokafka_lite.workers.work_queues import PartitionWork


class PartitionPauses:
    """The paused partitions of one consumer."""

    def __init__(self, consumer: AIOKafkaConsumer[Any, Any], bounds: FlowBounds) -> None:
        self._consumer = consumer
        self._bounds = bounds

    @property
    def poll_limit(self) -> int:
        """How many records the next poll may return."""
        return self._bounds.poll_limit()

    def added(self, changed: Collection[PartitionWork]) -> None:
        """Pause what is over its bounds now that records of `changed` were added."""
        self._consumer.pause(*self._assigned(self._bounds.to_pause(changed)))

    def finished(self, work: PartitionWork) -> None:
        """Resume what is below its bounds now that a record of `work` is finished."""
        if self._bounds.is_full or (work.is_paused and work.records <= work.resume_at):
            self._resume(self._bounds.to_resume(work))

    def gone(self, works: Collection[PartitionWork]) -> None:
        """Resume what is below its bounds now that `works` are given back."""
        self._bounds.forget(works)
        if self._bounds.paused:
            self._resume(self._bounds.to_resume())

    def _resume(self, works: list[PartitionWork]) -> None:
        if works:
            self._consumer.resume(*self._assigned(works))

    def _assigned(self, works: list[PartitionWork]) -> list[Any]:
        """Leave out what the user has taken out of the assignment meanwhile."""
        assignment = self._consumer.assignment() if works else ()
        return [work.tp for work in works if work.tp in assignment]


__all__ = ["PartitionPauses"]
