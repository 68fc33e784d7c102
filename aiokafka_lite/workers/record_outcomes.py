"""Takes the outcome of each handler: finished, again later, to the dead-letter topic, or stop.

Only the write of a dead letter waits.
"""

import logging
from collections.abc import Callable
from typing import Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.errors import HandlerFailedError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.workers.connect_headers import LogIdentity
from aiokafka_lite.workers.dead_letter_topic import DeadLetters
from aiokafka_lite.workers.idle_workers import IdleWorkers
from aiokafka_lite.workers.partition_pauses import PartitionPauses
from aiokafka_lite.workers.retry_plan import AfterFailure, RetryPlan
from aiokafka_lite.workers.stop_request import StopRequest
from aiokafka_lite.workers.work_queues import WorkItem, WorkQueues

logger = logging.getLogger(__name__)

_SET_DEAD_LETTERS: Final = "mend the handler, or set dead_letters to put such records aside"
_MEND_TOPIC: Final = (
    "the cause says what the topic or the producer of dead_letters needs; mend that, or the handler"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a dead letter says of the program that gave its record up."""

    group_id: str
    client_id: str
    handler: str
    log_of: Callable[[TopicPartition], LogIdentity | None]


class RecordOutcomes:
    """What follows each attempt."""

    def __init__(
        self,
        queues: WorkQueues,
        plan: RetryPlan,
        pauses: PartitionPauses,
        idle: IdleWorkers,
        stop: StopRequest,
        clock: Clock,
        dead_letters: DeadLetters | None,
        origin: Origin,
    ) -> None:
        self._queues = queues
        self._plan = plan
        self._pauses = pauses
        self._idle = idle
        self._stop = stop
        self._clock = clock
        self._dead_letters = dead_letters
        self._origin = origin
        self._timer: TimerHandle | None = None
        self._is_closed = False
        self.finished_records = 0
        self.failed_attempts = 0
        self.dead_letters_written = 0

    def finished(self, item: WorkItem, _result: object = None) -> None:
        """Take a record whose handler has returned. Does not wait."""
        self.finished_records += 1
        self._queues.finish(item)
        self._pauses.finished(item.partition)

    async def failed(self, item: WorkItem, error: BaseException) -> None:
        """Take a record whose handler has raised.

        Cancelled: the item is still taken; a dead letter may be written or not.
        """
        self.failed_attempts += 1
        item.failures += 1
        if item.is_void:
            self._queues.put_off(item)
            logger.warning(
                "handler of %s failed, and the log has changed since: %s",
                item,
                item.why(error),
            )
            return
        match self._plan.after(item, error):
            case AfterFailure.RETRY:
                self._try_again_later(item, error)
            case AfterFailure.DEAD_LETTER:
                await self._give_up(item, error)
            case AfterFailure.STOP:
                what = f"failed for good after {item.failures} attempts"
                self._fail(item, what, error, _SET_DEAD_LETTERS)

    def _try_again_later(self, item: WorkItem, error: BaseException) -> None:
        if not self._queues.put_off(item) or self._stop.is_set:
            logger.warning(
                "handler of %s failed, attempt %d; none follows here, because %s: %s",
                item,
                item.failures,
                "the workers stop" if self._stop.is_set else "the partition goes to another member",
                item.why(error),
                exc_info=item.trace(error) if item.failures == 1 else None,
            )
            return
        delay_s = self._plan.add(item, self._clock.monotonic())
        logger.warning(
            "handler of %s failed, attempt %d; the next one follows in %.3g s: %s",
            item,
            item.failures,
            delay_s,
            item.why(error),
            exc_info=item.trace(error) if item.failures == 1 else None,
        )
        self._set_timer()

    async def _give_up(self, item: WorkItem, error: BaseException) -> None:
        assert self._dead_letters is not None
        origin = self._origin
        topic = self._dead_letters.topic
        try:
            await self._dead_letters._send(
                item.record,
                error,
                group_id=origin.group_id,
                client_id=origin.client_id,
                handler=origin.handler,
                log=origin.log_of(TopicPartition(item.record.topic, item.record.partition)),
            )
        except Exception as refusal:  # noqa: BLE001 - also the error itself may raise when it is put into words
            what = f"failed, and topic {quoted(topic)} of dead_letters did not take its dead letter"
            self._fail(item, what, refusal, _MEND_TOPIC)
            return
        self.dead_letters_written += 1
        logger.error(
            "handler of %s failed for good, attempt %d; the record is in %r: %s",
            item,
            item.failures,
            topic,
            item.why(error),
            exc_info=item.trace(error),
        )
        self._queues.finish(item)
        self._pauses.finished(item.partition)

    def _fail(self, item: WorkItem, what: str, cause: BaseException, remedy: str) -> None:
        self._queues.put_off(item)
        self._stop.set(handler_failed(item, what, cause, remedy))

    # Records that are due again…

    def _set_timer(self) -> None:
        due_s = self._plan.next_due_s
        if self._timer is None and due_s is not None and not self._is_closed:
            self._timer = self._clock.call_at(due_s, self._wake_due)

    def _wake_due(self) -> None:
        self._timer = None
        due = self._plan.take_due(self._clock.monotonic())
        self._idle.wake(sum(self._queues.again(item) for item in due))
        self._set_timer()

    def close(self) -> None:
        """Start no further attempt. Does not wait."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def handler_failed(
    item: WorkItem, what: str, cause: BaseException | None, remedy: str = "mend the handler"
) -> HandlerFailedError:
    """Return the error that ends the workers because of one record."""
    record = item.record
    error = HandlerFailedError(
        f"handler of {item} {what}; the record is not committed: {remedy}",
        topic_partition=item.partition.tp,
        offset=record.offset,
    )
    error.__cause__ = cause
    return error


__all__ = ["Origin", "RecordOutcomes", "handler_failed"]
