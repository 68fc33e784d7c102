"""Knows the event loop that a client belongs to, and refuses calls from elsewhere.

A client is not made for several threads, and one loop does not wake a task that waits in another. A
call from elsewhere would never return, or would change values that the client's tasks are using.

A forked process has a copy of each client, and shares its sockets with its parent. There no client
belongs to any loop, so every call is refused. Pickling a client is refused, too.
"""

import asyncio
import os
import weakref
from collections.abc import Callable
from threading import get_ident
from typing import Final, NoReturn

from aiokafka_lite.errors import IllegalStateError


class ClientLoop:
    """The event loop that a client was started in. Before `enter` it is undecided."""

    __slots__ = ("__weakref__", "_fork_listeners", "_name", "loop", "thread_id")

    def __init__(self, name: str) -> None:
        """`name`: how messages name the client."""
        self._name = name
        self._fork_listeners: list[Callable[[], object]] = []
        self.loop: asyncio.AbstractEventLoop | None = None
        """The client's loop; None before the start."""
        self.thread_id = 0
        """`threading.get_ident()` of the thread that runs it; 0 before the start."""

    def enter(self) -> asyncio.AbstractEventLoop:
        """Bind the client to the running loop, and return that loop."""
        self.loop = asyncio.get_running_loop()
        self.thread_id = get_ident()
        _ENTERED.add(self)
        return self.loop

    def add_fork_listener(self, listener: Callable[[], object]) -> None:
        """Call `listener()` in each forked process. It ends what works without `check`."""
        self._fork_listeners.append(listener)

    def forked(self) -> None:
        """Belong to no loop any more: this process is forked from that of the client."""
        self.loop = _LoopOfParent()  # type: ignore[abstract]  # only for type checkers
        self.thread_id = 0
        for listener in self._fork_listeners:
            listener()

    @property
    def is_of_parent(self) -> bool:
        """Whether the client was started in a process that this one is forked from."""
        return isinstance(self.loop, _LoopOfParent)

    @property
    def has_ended(self) -> bool:
        """Whether the loop is closed, so that no code of the client can run any more."""
        return self.loop is not None and self.loop.is_closed()

    def check(self) -> None:
        """Raise IllegalStateError for a call from another loop or thread, or after the loop's end.

        Between two runs of the loop, its own thread may call functions that do not wait. Use this
        per call, not per record. Up to Python 3.11, asking for the running loop is a system call.
        """
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            running = None
        if running is not self.loop:
            self._check_elsewhere(running)

    def check_thread(self) -> None:
        """Raise as `check` for a call from another thread; for code that runs once per record."""
        if get_ident() != self.thread_id:
            self.check()

    def _check_elsewhere(self, running: asyncio.AbstractEventLoop | None) -> None:
        if self.loop is None:
            return
        if self.is_of_parent:
            raise IllegalStateError(
                f"{self._name} belongs to the process that this one was forked from, and both have "
                f"its sockets; create a client in this process. With multiprocessing, the start "
                f"method 'spawn' copies no clients"
            )
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


class _LoopOfParent(asyncio.AbstractEventLoop):
    """Stands for the loop of the parent, which never runs in a forked process."""

    def is_closed(self) -> bool:
        return True


_ENTERED: Final[weakref.WeakSet[ClientLoop]] = weakref.WeakSet()


def _leave_loops_of_parent() -> None:
    for loop in tuple(_ENTERED):
        loop.forked()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_leave_loops_of_parent)


def refuse_pickling(client: object) -> NoReturn:
    """Raise TypeError: a client cannot be pickled or copied."""
    name = type(client).__name__
    raise TypeError(
        f"{name} cannot be pickled or copied: it has sockets and belongs to an event loop; pass "
        f"its options on, and create a client where they arrive"
    )


__all__ = ["ClientLoop", "refuse_pickling"]
