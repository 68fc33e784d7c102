"""Runs a call in the middle of another one, as finalizers, log handlers and signal handlers do.

Up to Python 3.11 the collector runs at any allocation of an object that it tracks, in C, too. From
3.12 on it runs between two bytecodes, as signal handlers do in every version.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from opcode import opmap
from types import FrameType
from typing import Any

_NEVER = 1_000_000


class Interruption:
    """One call of `call`, to come."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self.came = False
        """Whether it came before the end of what it interrupts."""
        self.error: Exception | None = None

    def come(self) -> None:
        """Make the call, once."""
        if not self.came:
            self.came = True
            try:
                self._call()
            except Exception as error:  # noqa: BLE001  a finalizer could only log it
                self.error = error


class _Garbage:
    def __init__(self, interruption: Interruption) -> None:
        self.interruption = interruption
        self.itself = self

    def __del__(self) -> None:
        self.interruption.come()


@contextmanager
def collector_runs(call: Callable[[], object], *, after: int) -> Iterator[Interruption]:
    """Let a finalizer make the call, when the body has made so many objects that are tracked."""
    interruption = Interruption(call)
    before = gc.get_threshold()
    gc.set_threshold(_NEVER)
    gc.collect(0)
    _Garbage(interruption)
    gc.set_threshold(gc.get_count()[0] + after, _NEVER, _NEVER)
    try:
        yield interruption
    finally:
        gc.set_threshold(*before)
    came = interruption.came
    interruption.came = True
    gc.collect(0)
    interruption.came = came


@contextmanager
def signal_comes(call: Callable[[], object], *, after: int) -> Iterator[Interruption]:
    """Make the call when the body has called, or returned from, so many functions. There Python
    looks for signals.
    """
    interruption = Interruption(call)
    left = after

    def look(_frame: FrameType, event: str, _of: Any) -> None:
        nonlocal left
        if event in {"call", "c_return"}:
            left -= 1
            if left == 0:
                sys.setprofile(None)
                interruption.come()

    sys.setprofile(look)
    try:
        yield interruption
    finally:
        sys.setprofile(None)


_LOOKS = frozenset(
    opmap[name]
    for name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "RESUME", "JUMP_BACKWARD")
    if name in opmap
)
"""The bytecodes behind which Python looks for signals, and for garbage from 3.12 on."""


@contextmanager
def between_bytecodes(call: Callable[[], object], *, after: int) -> Iterator[Interruption]:
    """As `signal_comes`, also behind calls of classes and between two turns of a loop. Slower."""
    interruption = Interruption(call)
    left = after
    before: dict[FrameType, int] = {}

    def look(frame: FrameType, event: str, _of: Any) -> Any:
        nonlocal left
        frame.f_trace_opcodes = True
        if event == "opcode":
            if before.get(frame) in _LOOKS:
                left -= 1
                if left == 0:
                    sys.settrace(None)
                    interruption.come()
            before[frame] = frame.f_code.co_code[frame.f_lasti]
        return look

    tracing = sys.gettrace()
    sys.settrace(look)
    try:
        yield interruption
    finally:
        sys.settrace(tracing)


Way = Callable[..., Any]
WAYS: dict[str, Way] = {"collector": collector_runs, "signal": signal_comes}
ALL_WAYS: dict[str, Way] = {**WAYS, "bytecodes": between_bytecodes}
"""With the slow one, for tests of single parts."""


__all__ = [
    "ALL_WAYS",
    "WAYS",
    "Interruption",
    "Way",
    "between_bytecodes",
    "collector_runs",
    "signal_comes",
]
