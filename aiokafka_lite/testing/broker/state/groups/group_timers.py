"""What coordinators have to do later, by name: a timer for each session, each rebalance, each sync
phase, each transaction.

Plain; the injected clock runs the callbacks in the broker's loop.
"""

from collections.abc import Callable

from aiokafka_lite.clock import Clock, TimerHandle


class GroupTimers:
    """Named timers on one clock; setting one again replaces it."""

    def __init__(self, clock: Clock, on_fired: Callable[[], object]) -> None:
        """`on_fired` is called after each callback that a timer ran."""
        self._clock = clock
        self._on_fired = on_fired
        self._handles: dict[str, TimerHandle] = {}

    @property
    def names(self) -> set[str]:
        """The timers that are set."""
        return set(self._handles)

    def schedule(self, name: str, delay_ms: float, callback: Callable[[], object]) -> None:
        """Run `callback` in `delay_ms`, in place of what `name` was set to do."""
        self.cancel(name)

        def fire() -> None:
            del self._handles[name]
            callback()
            self._on_fired()

        when = self._clock.monotonic() + delay_ms / 1000
        self._handles[name] = self._clock.call_at(when, fire)

    def cancel(self, name: str) -> None:
        """Drop a timer; harmless when it is not set."""
        handle = self._handles.pop(name, None)
        if handle is not None:
            handle.cancel()

    def clear(self) -> None:
        """Drop them all."""
        for handle in self._handles.values():
            handle.cancel()
        self._handles.clear()


__all__ = ["GroupTimers"]
