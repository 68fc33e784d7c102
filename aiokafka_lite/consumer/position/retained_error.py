"""Owns errors of background questions until the user is told: once, and only if they still matter.

It does not wait. Source: 2c-7, OffsetFetcherUtils.cachedResetPositionsException.
"""

from collections.abc import Callable, Iterable

from aiokafka_lite.errors import KafkaError


class RetainedError:
    """The newest error; an older one that nobody has taken is forgotten for it."""

    def __init__(self) -> None:
        self._error: KafkaError | None = None
        self._concerns: tuple[Callable[[], object], ...] = ()

    def keep(self, error: KafkaError, concerns: Iterable[Callable[[], object]]) -> None:
        """Keep `error` as long as one of `concerns` says that what failed is still wanted."""
        self._error, self._concerns = error, tuple(concerns)

    def take(self) -> KafkaError | None:
        """Return the error, once; None when there is none or nobody wants what failed."""
        error, concerns = self._error, self._concerns
        self._error, self._concerns = None, ()
        return error if any(is_wanted() for is_wanted in concerns) else None


__all__ = ["RetainedError"]
