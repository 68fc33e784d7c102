"""Owns an error of a background request until a poll raises it, once, if it still matters.

Does not wait. Source: 2c-7, OffsetFetcherUtils.cachedResetPositionsException.
"""

from collections.abc import Callable, Iterable

from aiokafka_lite.errors import KafkaError


class RetainedError:
    """Keeps the newest error. A new error replaces an older one that no poll has taken."""

    def __init__(self) -> None:
        self._error: KafkaError | None = None
        self._concerns: tuple[Callable[[], object], ...] = ()

    def keep(self, error: KafkaError, concerns: Iterable[Callable[[], object]]) -> None:
        """Keep `error` until it is taken.

        Each of `concerns` says for one partition whether what failed is still wanted.
        """
        self._error, self._concerns = error, tuple(concerns)

    @property
    def is_kept(self) -> bool:
        """Whether there is an error, and something that it concerns."""
        return self._error is not None and any(is_wanted() for is_wanted in self._concerns)

    def take(self) -> KafkaError | None:
        """Return the error, once; None if there is none, or if no concern is still wanted."""
        if self._error is None:
            return None
        error, concerns = self._error, self._concerns
        self._error, self._concerns = None, ()
        return error if any(is_wanted() for is_wanted in concerns) else None


__all__ = ["RetainedError"]
