"""The signals that end a command in order: its work is cancelled, so clients leave their groups and
send what is queued. A second signal cancels that, too.

SIGINT belongs to `asyncio.run`, which does the same and raises KeyboardInterrupt.
"""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar

T = TypeVar("T")

_NAMES: Final = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP


class StoppedBySignalError(Exception):
    """A command was ended by a signal; its exit code is 128 and the signal's number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.exit_code = 128 + number


async def stopped_by_signals(work: Coroutine[Any, Any, T]) -> T:
    """Return what `work` returns. A signal cancels it.

    Raises: StoppedBySignalError once `work` has ended after a signal; what `work` raises.
    """
    task = asyncio.current_task()
    assert task is not None
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        task.cancel()

    try:
        with _handled(asyncio.get_running_loop(), stop):
            return await work
    except asyncio.CancelledError:
        if received:
            raise StoppedBySignalError(received[0]) from None
        raise


@contextmanager
def _handled(loop: asyncio.AbstractEventLoop, stop: Callable[[int], None]) -> Iterator[None]:
    """Have `stop` called with the number of each signal. One that the process ignores, as under
    `nohup`, stays ignored.
    """
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []  # only the main thread may handle signals
    added = []
    with suppress(NotImplementedError):  # Windows: such a signal ends the process at once
        for number in numbers:
            if signal.getsignal(number) is not signal.SIG_DFL:
                continue
            loop.add_signal_handler(number, stop, number)
            added.append(number)
    try:
        yield
    finally:
        for number in added:
            loop.remove_signal_handler(number)


__all__ = ["StoppedBySignalError", "stopped_by_signals"]
