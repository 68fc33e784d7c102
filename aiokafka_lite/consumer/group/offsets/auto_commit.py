"""Commits automatically, at the first poll after each interval.

A commit has the offsets behind the records that earlier polls returned (B7), of partitions where
they changed since the last commit. Once an hour, and after any other commit, it has all partitions.
Does not wait.
"""

import logging
from collections.abc import Callable
from typing import Final

from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.consumer.group.offsets.offset_committer import OffsetCommitter, Offsets
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)

_ALL_AGAIN_S: Final = 3600.0
"""The time after which unchanged offsets are committed again. It is far below the brokers'
`offsets.retention.minutes`: after that, a group without members may lose its offsets (KIP-211)."""


class AutoCommit:
    """Commits in the background while polls come.

    `processed(since)` returns what may be committed of partitions that moved in the poll of that
    number or later, `newest_poll()` the number of the newest poll. `on_due` is called when the
    interval is over, so that polls on the fast path, and waiting ones, call `polled`. A poll that
    goes on waiting has nothing more to commit, and is not woken for it again.
    """

    def __init__(
        self,
        interval_s: float,
        clock: Clock,
        backoff: ExponentialBackoff,
        committer: OffsetCommitter,
        client_id: str,
        processed: Callable[[int], Offsets],
        newest_poll: Callable[[], int],
        on_due: Callable[[], object],
    ) -> None:
        self._interval_s = interval_s
        self._clock = clock
        self._backoff = backoff
        self._committer = committer
        self._client_id = client_id
        self._processed = processed
        self._newest_poll = newest_poll
        self._on_due = on_due
        self._is_running = False
        self._looked_in_poll = -1
        """The number of the poll that last looked for offsets to commit. -1: look again."""
        self._due_at_s = 0.0
        self._timer: TimerHandle | None = None
        self._is_committing = False
        self._tried: dict[TopicPartition, CommittedOffset] = {}
        """The offsets that need not be committed again as they are."""
        self._failures = 0
        self._since = 0
        """Partitions that moved last in an earlier poll are committed."""
        self._all_again_at_s = 0.0
        self._commits_before = 0
        """How many commits were sent, by anyone, up to the newest automatic one."""

    def restart(self) -> None:
        """Begin a new interval, at whose end all offsets are committed: after a new assignment."""
        self.forget()
        self._is_running = True
        self._wait(self._interval_s)

    def stop(self) -> None:
        """Stop committing."""
        self._is_running = False
        self._drop_timer()

    def stored(self) -> None:
        """Look for offsets again at the end of this interval: the application marked some as done.

        Polls need not have moved any position since.
        """
        if self._looked_in_poll != -1 and self._is_running:
            self._looked_in_poll = -1
            self._call_at(max(self._due_at_s, self._clock.monotonic()))

    def polled(self) -> None:
        """Commit if the interval is over. Polls call it: earlier polls' records are processed."""
        now_s = self._clock.monotonic()
        if self._is_committing or now_s < self._due_at_s or not self._is_running:
            return
        newest_poll = self._newest_poll()
        if newest_poll == self._looked_in_poll and now_s < self._all_again_at_s:
            if self._timer is None:
                self._call_at(self._all_again_at_s)
            return
        if now_s >= self._all_again_at_s or self._committer.commits_sent != self._commits_before:
            self.forget()
            self._all_again_at_s = now_s + _ALL_AGAIN_S
        self._looked_in_poll = newest_poll
        processed = self._processed(self._since)
        offsets = {tp: at for tp, at in processed.items() if self._tried.get(tp) != at}
        self._wait(self._interval_s)
        if not offsets:
            return
        try:
            self._committer.check_may_commit()
        except KafkaError:
            return  # between two assignments nothing can be committed; before revoking it was
        self._is_committing, self._since = True, newest_poll
        self._tried.update(offsets)
        self._commits_before = self._committer.commits_sent + 1
        self._committer.commit_async(offsets, self._committed, is_automatic=True)

    def _committed(self, offsets: Offsets, error: Exception | None, left: Offsets) -> None:
        self._is_committing = False
        if error is None:
            self._failures = 0
            logger.debug("auto-committed %s", offsets)
            return
        self._commits_before = self._committer.commits_sent  # it may have failed unsent
        if isinstance(error, KafkaError) and error.retriable:
            logger.info("%s: auto-commit failed, trying again soon: %s", self._client_id, error)
            self._forget(left)
            if self._is_running:
                delay_s = self._backoff.delay(self._failures)
                self._wait(min(delay_s, self._interval_s) if self._interval_s else delay_s)
            self._failures += 1
        else:
            logger.warning("%s: auto-commit of %s failed: %s", self._client_id, sorted(left), error)
            if self._interval_s:  # else each poll would try it
                self._forget(left)

    def forget(self) -> None:
        """Commit all offsets the next time."""
        self._since, self._looked_in_poll = 0, -1
        self._tried.clear()

    def _forget(self, left: Offsets) -> None:
        """Commit these the next time, as they are."""
        self._since, self._looked_in_poll = 0, -1
        for tp in left:
            self._tried.pop(tp, None)

    def _wait(self, delay_s: float) -> None:
        self._due_at_s = self._clock.monotonic() + delay_s
        self._call_at(self._due_at_s)

    def _call_at(self, moment_s: float) -> None:
        self._drop_timer()
        self._timer = self._clock.call_at(moment_s, self._call)

    def _call(self) -> None:
        self._timer = None
        self._on_due()

    def _drop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


__all__ = ["AutoCommit"]
