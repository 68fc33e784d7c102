"""Commits how far the records of each partition are finished: in intervals, and before it goes."""

import asyncio
import logging
from collections.abc import Collection
from typing import Any, Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    GroupAuthorizationFailedError,
    KafkaError,
    OffsetMetadataTooLargeError,
    RebalanceInProgressError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition, names_of
from aiokafka_lite.workers.finished_note import read_note
from aiokafka_lite.workers.stop_request import StopRequest
from aiokafka_lite.workers.work_queues import PartitionWork, WorkQueues

logger = logging.getLogger(__name__)

_AGAIN_S: Final = 0.1
_FOR_GOOD = (GroupAuthorizationFailedError, TopicAuthorizationFailedError)


class OffsetCommits:
    """The commits of one consumer. One at a time, so that an offset never goes back."""

    def __init__(
        self,
        consumer: AIOKafkaConsumer[Any, Any],
        queues: WorkQueues,
        stop: StopRequest,
        clock: Clock,
        interval_s: float,
    ) -> None:
        self._consumer = consumer
        self._queues = queues
        self._stop = stop
        self._clock = clock
        self._interval_s = interval_s
        self._turn = asyncio.Lock()
        self._writes_notes = True

    async def run(self) -> None:
        """Commit in intervals, until it is cancelled."""
        while True:
            await self._clock.sleep(self._interval_s)
            await self.commit(tuple(self._queues.partitions.values()))

    async def commit(self, works: Collection[PartitionWork]) -> bool:
        """Commit what is finished of these partitions.

        A failure is logged. Return whether another commit may mend it, such as after a rebalance.
        Takes `default_api_timeout_ms` at most, and as long for a commit before it. Cancelled: the
        offsets may be stored or not.
        """
        async with self._turn:
            try:
                await self._commit(works)
            except OffsetMetadataTooLargeError as error:
                if not self._writes_notes:
                    return self._failed(error)
                logger.warning("offsets are committed without notes from now on: %s", error)
                self._writes_notes = False
                return True
            except KafkaError as error:
                return self._failed(error)
            except ConsumerStoppedError as error:
                self._stop.set(error)
            return False

    async def commit_all(self, works: Collection[PartitionWork]) -> None:
        """Commit until nothing is left to commit, or a failure is for good.

        The caller sets the bound. Cancelled: as `commit`.
        """
        while await self.commit(works):
            await self._clock.sleep(_AGAIN_S)

    async def _commit(self, works: Collection[PartitionWork]) -> None:
        assignment = self._consumer.assignment()
        changed: dict[TopicPartition, tuple[PartitionWork, int]] = {}
        offsets: dict[TopicPartition, OffsetAndMetadata] = {}
        for work in works:
            if work.is_lost or work.tp not in assignment:
                continue
            position = self._position(work.tp)
            if work.offsets.has_news or self._has_passed(work, position):
                changed[work.tp] = (work, work.offsets.changes)
                offsets[work.tp] = self._offset(work, position)
        if not changed:
            return
        await self._consumer.commit(offsets)
        for work, changes in changed.values():
            work.offsets.committed(changes)
            work.stored = offsets[work.tp].offset

    def _position(self, tp: TopicPartition) -> OffsetAndMetadata | None:
        """Return the position behind what was returned since the partition came; None: nothing was.

        `consumed_offsets()` goes on with that of before a rebalance, until a poll. Records up to
        there may have been given back.
        """
        state = self._consumer._subscription.get(tp)
        if state is None or state.position is None:
            return None
        return OffsetAndMetadata(state.offset, "", state.offset_epoch)

    @staticmethod
    def _has_passed(work: PartitionWork, position: OffsetAndMetadata | None) -> bool:
        """Say whether the position has moved although no record came, as behind aborted
        transactions: without a commit the group's lag would stay.
        """
        if position is None or work.stored is None or position.offset <= work.stored:
            return False
        return not len(work.offsets) and not work.offsets.has_note

    def _offset(self, work: PartitionWork, position: OffsetAndMetadata | None) -> OffsetAndMetadata:
        """Return what to commit of a partition.

        If everything is finished, and a note has nothing to tell, that is the position: it lies
        behind the markers of transactions, and has the leader epoch.
        """
        tracker = work.offsets
        offset = tracker.next_offset
        if offset is None:
            assert position is not None, "no record has come, and the position has moved"
            return position
        note = tracker.note if self._writes_notes else ""
        if not (note or len(tracker)) and position is not None and position.offset >= offset:
            return position
        return OffsetAndMetadata(offset, note, tracker.leader_epoch)

    def _failed(self, error: KafkaError) -> bool:
        if error.fatal or isinstance(error, _FOR_GOOD):
            self._stop.set(error)
        else:
            logger.warning("a commit failed, the next one covers it: %s", error)
        return error.retriable or isinstance(error, RebalanceInProgressError)

    async def recall(self, partitions: Collection[TopicPartition]) -> None:
        """Read the notes of the earlier owners of new partitions.

        A failure is logged: then records that they have finished are handled again. Takes
        `default_api_timeout_ms` at most. Cancelled: as after a failure.
        """
        if not partitions:
            return
        try:
            committed = await self._consumer._committed_of(partitions)
        except KafkaError as error:
            logger.warning(
                "records of %s may be handled again, their notes were not found: %s",
                names_of(sorted(partitions)),
                error,
            )
            return
        for tp, found in committed.items():
            work = self._queues.partition(tp)
            work.stored = 0 if found is None else found.offset
            if found is not None and found.metadata:
                note = read_note(found.offset, found.metadata)
                work.offsets.finished_before(note, found.leader_epoch)


__all__ = ["OffsetCommits"]
