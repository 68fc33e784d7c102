"""Counts what the client's own Python does in bytecode steps: a measure that no busy machine moves.

What runs in C counts nothing, so that a loop hidden in a C call is not seen.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

FOLDERS = ("/aiokafka_lite/consumer/", "/aiokafka_lite/cluster/", "/aiokafka_lite/producer/")


class StepCount:
    """How many steps were taken while `counted()` was entered."""

    def __init__(self) -> None:
        self.steps = 0

    def _enter(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        if not any(folder in frame.f_code.co_filename for folder in FOLDERS):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._step

    def _step(self, _frame: FrameType, event: str, _arg: Any) -> Any:
        self.steps += event == "opcode"
        return self._step


@contextmanager
def counted() -> Iterator[StepCount]:
    """Count the steps of all frames of the client that are entered, or go on, inside the block."""
    count = StepCount()
    before = sys.gettrace()
    sys.settrace(count._enter)
    try:
        yield count
    finally:
        sys.settrace(before)
