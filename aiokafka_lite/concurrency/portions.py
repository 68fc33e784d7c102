"""Owns how many records a user's function gets before the rest of the program runs."""

from typing import Final

from aiokafka_lite.clock import Clock

BUDGET_S: Final = 0.001
"""For so long a user's function may be called in one turn of the event loop; or once."""
_FACTOR: Final = 4
"""By so much a portion grows that took no more than a part of the time."""


class Portions:
    """Sizes portions of records by the time that the ones before took.

    The first portion is one record. One of them may take longer than the time, if calls that were
    fast become slow; `most` bounds that.
    """

    __slots__ = ("_awake", "_clock", "_most", "_portion_s", "_turn_ends_s", "count")

    def __init__(self, clock: Clock, most: int) -> None:
        self._clock = clock
        self._awake = clock.awake
        self._most = most
        self.count = 1
        """How many records the next portion may have."""
        self.begin()

    def begin(self) -> None:
        """Note that the rest of the program has run, and that a portion begins."""
        self._portion_s = self._awake()
        self._turn_ends_s = self._portion_s + BUDGET_S

    @property
    def are_over(self) -> bool:
        """Whether the turn has ended: the rest of the program has to run before the next record."""
        return self._awake() >= self._turn_ends_s

    def learn(self, count: int) -> bool:
        """Learn from a portion of `count` records that has just ended. Return whether the turn has
        ended, too.
        """
        now_s = self._awake()
        taken_s, self._portion_s = now_s - self._portion_s, now_s
        if taken_s * _FACTOR * 2 <= BUDGET_S:
            if count >= self.count:
                self.count = min(self.count * _FACTOR, self._most)
        elif taken_s * 2 > BUDGET_S:
            self.count = max(1, int(count * BUDGET_S / (2 * taken_s)))
        return now_s >= self._turn_ends_s

    async def turn(self) -> None:
        """Let the rest of the program run."""
        await self._clock.sleep(0)
        self.begin()


__all__ = ["BUDGET_S", "Portions"]
