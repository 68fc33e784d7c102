"""Holds a rebalance back while the application processes a batch (`processing()`).

The wait is bounded, because the group removes a member that does not join within the rebalance
timeout. Only `released` waits.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.wakeup import Wakeup

logger = logging.getLogger(__name__)

_TO_JOIN_S = 10.0
"""The part of the rebalance timeout that is left for commit, listener and join, at most half."""


class ProcessingHold:
    """Counts the blocks of the application that process a batch."""

    def __init__(self, name: str, rebalance_timeout_s: float, clock: Clock) -> None:
        """`name`: the client's name in the log."""
        self._name = name
        self._bound_s = max(rebalance_timeout_s - _TO_JOIN_S, rebalance_timeout_s / 2)
        self._clock = clock
        self._blocks = 0
        self._has_failed = False
        self._released = Wakeup()

    @contextmanager
    def block(self, on_processed: Callable[[], object]) -> Iterator[None]:
        """Hold rebalances back. `on_processed()` is called when the last block has ended, unless
        one of those that overlapped has raised.
        """
        self._blocks += 1
        try:
            yield
        except BaseException:
            self._has_failed = True
            raise
        finally:
            self._blocks -= 1
            if not self._blocks:
                has_failed, self._has_failed = self._has_failed, False
                if not has_failed:
                    on_processed()
                self._released.set()

    def give_up(self) -> None:
        """End the wait for the blocks: others have the partitions already."""
        self._released.set()

    async def released(self) -> None:
        """Return once no block is left that had begun before the call, the time is over, or
        `give_up` was called.

        Cancelled: nothing has changed.
        """
        if not self._blocks:
            return
        self._released = Wakeup()
        logger.info("%s: a rebalance waits for processing() to end", self._name)
        if not await self._released.wait_for(self._clock, self._bound_s):
            logger.warning(
                "%s: processing() has held a rebalance back for %g s, and it goes on now; process "
                "less at once, or raise rebalance_timeout_ms or max_poll_interval_ms",
                *(self._name, self._bound_s),
            )


__all__ = ["ProcessingHold"]
