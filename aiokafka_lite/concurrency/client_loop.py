"""Owns which event loop a client belongs to, and what it says when it is called from elsewhere.

Nothing of a client is made for several threads, and what waits in one loop is not woken by another:
a call from elsewhere would never return, or change what the client's own tasks are working with.
"""

import asyncio
from threading import get_ident

from aiokafka_lite.errors import IllegalStateError


class ClientLoop:
    """The event loop that a client was started in. Nobody's until `enter`."""

    __slots__ = ("_name", "loop", "thread_id")

    def __init__(self, name: str) -> None:
        """`name` is what messages call the client."""
        self._name = name
        self.loop: asyncio.AbstractEventLoop | None = None
        """The client's loop; None before the start."""
        self.thread_id = 0
        """`threading.get_ident()` of the thread that runs it; 0 before the start."""

    def enter(self) -> asyncio.AbstractEventLoop:
        """Belong to the running loop from now on, and return it."""
        self.loop = asyncio.get_running_loop()
        self.thread_id = get_ident()
        return self.loop

    @property
    def has_ended(self) -> bool:
        """Whether the loop is closed, so that nothing of the client can run any more."""
        return self.loop is not None and self.loop.is_closed()

    def check(self) -> None:
        """Raise IllegalStateError for a call from another loop or thread, or after the loop's end.

        Between two runs of the loop its own thread may call what does not wait. For calls, not for
        records: up to Python 3.11 asking for the running loop is a system call.
        """
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is not self.loop:
            self._check_elsewhere(running)

    def check_thread(self) -> None:
        """Raise as `check` for a call from another thread; for what runs once per record."""
        if get_ident() != self.thread_id:
            self.check()

    def _check_elsewhere(self, running: asyncio.AbstractEventLoop | None) -> None:
        if self.loop is None:
            return
        belongs = f"{self._name} belongs to the event loop that its start() ran in"
        if self.loop.is_closed():
            raise IllegalStateError(
                f"{belongs}, and that loop has ended; create another client in the new loop. "
                f"Other threads use it by asyncio.run_coroutine_threadsafe(coroutine, loop)"
            )
        if running is None and get_ident() == self.thread_id:
            return
        where = "a thread without one" if running is None else "another event loop"
        raise IllegalStateError(
            f"{belongs}, and was called from {where}. "
            f"Use asyncio.run_coroutine_threadsafe(coroutine, loop) there, or another client"
        )


__all__ = ["ClientLoop"]
