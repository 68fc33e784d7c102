"""Owns when offsets are committed without being asked: at the first poll after each interval.

What is committed is what earlier polls returned (B7). Nothing here waits.
"""

import logging
from collections.abc import Callable

from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.consumer.group.offset_committer import OffsetCommitter, Offsets
from aiokafka_lite.errors import KafkaError

logger = logging.getLogger(__name__)


class AutoCommit:
    """Commits in the background while polls come.

    `processed()` returns what may be committed. `on_due` is called when the interval is over, so
    that polls on a fast path, and one that waits, look here.
    """

    def __init__(
        self,
        interval_s: float,
        clock: Clock,
        backoff: ExponentialBackoff,
        committer: OffsetCommitter,
        processed: Callable[[], Offsets],
        on_due: Callable[[], object],
    ) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._backoff = backoff
        self._committer = committer
        self._processed = processed
        self._on_due = on_due
        self._due_at_s = 0.0
        self._timer: TimerHandle | None = None
        self._is_committing = False
        self._newest: Offsets | None = None  # tried last, unless it is to be tried again
        self._failures = 0

    def restart(self) -> None:
        """Begin the interval anew: a start, a new assignment, a commit."""
        self._wait(self._interval_s)

    def stop(self) -> None:
        """Commit no more by itself."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def polled(self) -> None:
        """A poll is running, its predecessors' records count as processed: commit if it is time."""
        if self._is_committing or self._clock.monotonic() < self._due_at_s or self._timer is None:
            return
        offsets = self._processed()
        self.restart()
        if not offsets or (offsets == self._newest and not self._interval_s):
            return  # with each poll, but a poll that waits must not commit the same all the time
        try:
            self._committer.check_may_commit()
        except KafkaError:
            return  # between two assignments nothing can be committed; before revoking it was
        self._is_committing, self._newest = True, offsets
        self._committer.commit_async(offsets, self._committed)

    def _committed(self, offsets: Offsets, error: Exception | None) -> None:
        self._is_committing = False
        if error is None:
            self._failures = 0
            logger.debug("auto-committed %s", offsets)
            return
        if isinstance(error, KafkaError) and error.retriable:
            logger.info("auto-commit failed, trying again soon: %s", error)
            self._newest = None
            if self._timer is not None:
                delay_s = self._backoff.delay(self._failures)
                self._wait(min(delay_s, self._interval_s) if self._interval_s else delay_s)
            self._failures += 1
        else:
            logger.warning("auto-commit of %s failed: %s", sorted(offsets), error)

    def _wait(self, delay_s: float) -> None:
        self.stop()
        self._due_at_s = self._clock.monotonic() + delay_s
        self._timer = self._clock.call_at(self._due_at_s, self._on_due)


__all__ = ["AutoCommit"]
