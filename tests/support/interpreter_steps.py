"""Counts the bytecode steps of the client's own Python code, which a busy machine does not change.

Code in C is not counted. So this measure does not notice a loop inside a C call.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

FOLDERS = ("/aiokafka_lite/consumer/", "/aiokafka_lite/cluster/", "/aiokafka_lite/producer/")


class StepCount:
    """The number of steps inside a block of `counted()`."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.steps = 0
        self._folders = folders

    def _enter(self, frame: FrameType, _event: str, _arg: Any) -> Any:
        if not any(folder in frame.f_code.co_filename for folder in self._folders):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._step

    def _step(self, _frame: FrameType, event: str, _arg: Any) -> Any:
        self.steps += event == "opcode"
        return self._step


@contextmanager
def counted(*more_folders: str) -> Iterator[StepCount]:
    """Count the steps of all frames of the client that begin or continue inside the block."""
    count = StepCount((*FOLDERS, *more_folders))
    before = sys.gettrace()
    # 3.12 looks whether a frame wants opcodes when it sets the function, and later no more.
    sys._getframe().f_trace_opcodes = True
    sys.settrace(count._enter)
    try:
        yield count
    finally:
        sys.settrace(before)
