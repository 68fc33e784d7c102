"""Holds the wish to stop the workers, and why. The first reason wins."""

import asyncio


class StopRequest:
    """For one run."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.failure: BaseException | None = None
        """What `run()` raises; None for a stop that was asked for."""

    @property
    def is_set(self) -> bool:
        """Whether the workers are to stop."""
        return self._event.is_set()

    def set(self, failure: BaseException | None = None) -> None:
        """Let the workers stop. Does not wait."""
        if not self._event.is_set():
            self.failure = failure
            self._event.set()

    def fail(self, failure: BaseException) -> None:
        """Name a reason although the workers stop already, unless there is one. Does not wait."""
        if self.failure is None:
            self.failure = failure

    async def wait(self) -> None:
        """Wait until the workers are to stop. Cancelled: nothing changes."""
        await self._event.wait()


__all__ = ["StopRequest"]
