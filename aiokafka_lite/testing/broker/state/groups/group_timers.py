"""The timers of coordinators by name: for each session, rebalance, sync phase and transaction.

The injected clock runs the callbacks in the broker's loop. Does not wait.
"""

from collections.abc import Callable

from aiokafka_lite.clock import Clock, TimerHandle


class GroupTimers:
    """Named timers on one clock; setting one again replaces it."""

    def __init__(self, clock: Clock, on_fired: Callable[[], object]) -> None:
        """`on_fired` is called after each callback of a timer."""
        self._clock = clock
        self._on_fired = on_fired
        self._handles: dict[str, TimerHandle] = {}

    @property
    def names(self) -> set[str]:
        """The names of the active timers."""
        return set(self._handles)

    def schedule(self, name: str, delay_ms: float, callback: Callable[[], object]) -> None:
        """Run `callback` in `delay_ms`; this replaces an earlier timer of that name."""
        self.cancel(name)

        def fire() -> None:
            del self._handles[name]
            callback()
            self._on_fired()

        when = self._clock.monotonic() + delay_ms / 1000
        self._handles[name] = self._clock.call_at(when, fire)

    def cancel(self, name: str) -> None:
        """Drop a timer; harmless if it is not active."""
        handle = self._handles.pop(name, None)
        if handle is not None:
            handle.cancel()

    def clear(self) -> None:
        """Drop them all."""
        for handle in self._handles.values():
            handle.cancel()
        self._handles.clear()


__all__ = ["GroupTimers"]
