"""Gives the outcome of a request to a function. It stands where a request has a future otherwise.

A response is given in the call in which its bytes were read. A future would call the function one
turn of the event loop later. Errors are given in a later turn, because they may come while the
request is being sent. So is the news that a request without a response has left.
"""

import asyncio
from collections.abc import Callable
from typing import Any

OnAnswer = Callable[[Any, Exception | None], object]
"""`on_answer(response, error)`: one of both is None. The response to a request without one is None.
It must not raise."""
ReadUsual = Callable[[memoryview, int], Any]
"""`read_usual(frame, version)`: reads a response of the usual form, which is given instead of the
response. None: the response has another form."""


class AnswerCallback:
    """Calls `on_answer` once. It has the methods of a future that a connection uses."""

    __slots__ = ("_is_done", "_on_answer", "read_usual")

    def __init__(self, on_answer: OnAnswer, read_usual: ReadUsual | None = None) -> None:
        self._on_answer = on_answer
        self.read_usual = read_usual
        self._is_done = False

    def done(self) -> bool:
        """Whether there is an outcome, also if the function was not called yet."""
        return self._is_done

    def give(self, response: object) -> None:
        """Call the function with a response, now."""
        self._is_done = True
        self._on_answer(response, None)

    def set_result(self, result: object) -> None:
        """Let the loop call the function."""
        self._is_done = True
        # Here and not before: on 3.11 each question for the loop is a system call.
        asyncio.get_running_loop().call_soon(self._on_answer, result, None)

    def set_exception(self, error: Exception) -> None:
        """Let the loop call the function with an error."""
        self._is_done = True
        asyncio.get_running_loop().call_soon(self._on_answer, None, error)


__all__ = ["AnswerCallback", "OnAnswer", "ReadUsual"]
