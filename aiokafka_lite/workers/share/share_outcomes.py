"""Takes the outcome of each handler of share workers: accept, release, reject, or nothing more.

Retries are the broker's: a released record is delivered again, here or elsewhere. Does not wait,
but for the shape that the pool asks for.
"""

import logging
from collections.abc import Collection
from typing import Any, Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import KafkaConfigurationError, RecordDeserializationError
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.share.pending_acknowledgements import AckGroup, Outcome
from aiokafka_lite.share.share_consumer import AIOKafkaShareConsumer
from aiokafka_lite.workers.share.share_queue import Place, ShareItem, ShareQueue
from aiokafka_lite.workers.stop_request import StopRequest

logger = logging.getLogger(__name__)

_VERDICTS: Final = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)


class ShareOutcomes:
    """What follows each attempt, and what the brokers say about it."""

    def __init__(
        self,
        consumer: AIOKafkaShareConsumer[Any, Any],
        queue: ShareQueue,
        backoff: ExponentialBackoff,
        not_retried: tuple[type[Exception], ...],
        stop: StopRequest,
        clock: Clock,
    ) -> None:
        self._consumer = consumer
        self._queue = queue
        self._backoff = backoff
        self._not_retried = not_retried
        self._stop = stop
        self._clock = clock
        self._waiting: dict[Place, TimerHandle] = {}
        self._is_closed = False
        self.news = Wakeup()
        """Set when something is to be sent."""
        self.room = Wakeup()
        """Set when records may be fetched again."""
        self.failed_attempts = 0
        self.lost_locks = 0
        self.refused = 0
        self.taken = dict.fromkeys(_VERDICTS, 0)
        """How many records the brokers have taken a verdict about."""

    @property
    def waiting(self) -> int:
        """How many records wait for their release."""
        return len(self._waiting)

    # Of handlers…

    def finished(self, item: ShareItem, result: object) -> None:
        """Take a record whose handler has returned; a verdict that it returned counts."""
        if isinstance(result, AcknowledgeType) and result not in _VERDICTS:
            self._queue.finish(item)
            self._stop.set(
                KafkaConfigurationError(
                    f"the handler of {item} returned {quoted(result)}; return ACCEPT, RELEASE or "
                    "REJECT, or nothing: locks are renewed while a handler works"
                )
            )
            return
        self._end(item, result if isinstance(result, AcknowledgeType) else AcknowledgeType.ACCEPT)

    async def failed(self, item: ShareItem, error: BaseException) -> None:
        """Take a record whose handler has raised."""
        self.failed_attempts += 1
        if not item.is_held:
            logger.warning(
                "handler of %s failed after its lock had ended: %s",
                item,
                item.why(error),
            )
            self._end(item, AcknowledgeType.RELEASE)
            return
        count = item.record.delivery_count
        if isinstance(error, self._not_retried):
            logger.error(
                "handler of %s failed, delivery %d; it is rejected: %s",
                item,
                count,
                item.why(error),
                exc_info=item.trace(error),
            )
            self._end(item, AcknowledgeType.REJECT)
            return
        delay_s = self._backoff.delay(count - 1)
        logger.warning(
            "handler of %s failed, delivery %d; it is released in %.3g s: %s",
            item,
            count,
            delay_s,
            item.why(error),
            exc_info=item.trace(error) if count == 1 else None,
        )
        self._release_later(item.place, delay_s)

    def is_stuck(self, item: ShareItem, age_s: float) -> None:
        """Take a record whose handler does not end: it is released while the handler is cancelled,
        or rejected if that is what a TimeoutError means.
        """
        self.failed_attempts += 1
        item.is_stuck = True
        is_final = isinstance(TimeoutError(), self._not_retried)
        logger.error(
            "handler of %s is stuck since %.1f s: it is cancelled, and its record %s",
            item,
            age_s,
            "rejected" if is_final else "released",
        )
        if item.is_held:
            item.is_held = False
            verdict = AcknowledgeType.REJECT if is_final else AcknowledgeType.RELEASE
            self._settle(item.place, verdict)

    def unreadable(self, error: RecordDeserializationError) -> None:
        """Take a record that could not be deserialized, as one whose handler has raised that."""
        self.failed_attempts += 1
        place = (error.topic_partition, error.offset)
        if isinstance(error, self._not_retried) or isinstance(error.__cause__, self._not_retried):
            logger.error("%s; it is rejected", error)
            self._settle(place, AcknowledgeType.REJECT)
            return
        delay_s = self._backoff.delay(0)
        logger.warning("%s; it is released in %.3g s", error, delay_s)
        self._release_later(place, delay_s)

    def _end(self, item: ShareItem, verdict: AcknowledgeType) -> None:
        self._queue.finish(item)
        if item.is_held:
            item.is_held = False
            self._settle(item.place, verdict)
        self._look_for_room()

    def _look_for_room(self) -> None:
        if self._queue.room:
            self.room.set()

    def _settle(self, place: Place, verdict: AcknowledgeType) -> None:
        tp, offset = place
        engine = self._consumer._life.engine
        if engine is not None and engine.held.settle(tp, offset, verdict):
            self.news.set()

    # Releases that wait…

    def _release_later(self, place: Place, delay_s: float) -> None:
        if self._is_closed:
            self._release(place)
            return
        due_s = self._clock.monotonic() + delay_s
        self._forget_timer(place)
        self._waiting[place] = self._clock.call_at(due_s, lambda: self._release(place))

    def _release(self, place: Place) -> None:
        self._forget_timer(place)
        item = self._queue.unfinished.get(place)
        if item is None:
            self._settle(place, AcknowledgeType.RELEASE)
        else:
            self._end(item, AcknowledgeType.RELEASE)

    def _forget_timer(self, place: Place) -> None:
        timer = self._waiting.pop(place, None)
        if timer is not None:
            timer.cancel()

    def close(self) -> None:
        """Release what waits for it."""
        self._is_closed = True
        for place in list(self._waiting):
            self._release(place)

    # Of brokers…

    def locks_lost(self, places: Collection[Place]) -> None:
        """Hear of records that others may have by now."""
        self.lost_locks += len(places)
        lost = self._queue.lose(places)
        for item in lost:
            if item.place in self._waiting:
                self._forget_timer(item.place)
                self._queue.finish(item)
            elif not item.is_queued:
                logger.warning(
                    "the lock of %s has ended while its handler works: the record is delivered "
                    "again, and the outcome of this handler does not count",
                    item,
                )
        self._look_for_room()

    def topics_replaced(self, topics: Collection[str]) -> None:
        """Hear of topics that were deleted and created again: their records are gone."""
        for place in [place for place in list(self._waiting) if place[0].topic in topics]:
            self._forget_timer(place)
        gone = self._queue.forget(topics)
        self.lost_locks += len(gone)
        logger.warning(
            "%s deleted and created again: %d records of before are forgotten, and the outcomes of "
            "their handlers do not count",
            *(", ".join(sorted(topics)), len(gone)),
        )
        self._look_for_room()

    def answered(self, group: AckGroup, outcome: Outcome) -> None:
        """Count what the brokers have taken."""
        for tp, batches in group.batches.items():
            error = outcome.get(tp)
            refused = 0
            for batch in batches:
                if not batch.by_user:
                    continue
                for verdict in _VERDICTS:
                    count = batch.types.count(verdict)
                    if error is None:
                        self.taken[verdict] += count
                    else:
                        refused += count
            if refused:
                self.refused += refused
                self._tell(tp, refused, error)

    def _tell(self, tp: TopicPartition, count: int, error: BaseException | None) -> None:
        logger.warning(
            "acknowledgements of %d records of %s-%d were refused, most records come again: %s",
            count,
            *tp,
            error,
        )


__all__ = ["ShareOutcomes"]
