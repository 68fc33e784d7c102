"""Takes the outcome of a request. It stands where a request has a future otherwise.

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


class Answer:
    """Has `answered` called once. It has the methods of a future that a connection uses."""

    __slots__ = ("_is_done",)

    def __init__(self) -> None:
        self._is_done = False

    def answered(self, response: Any, error: Exception | None) -> None:
        """Take the outcome, as `OnAnswer`."""
        raise NotImplementedError

    def write_usual(self, version: int) -> Any:  # noqa: ARG002  for those who do
        """Return the parts of a request of the usual form, which are then sent in place of the
        encoded message. None: the request has another form.
        """
        return None

    def read_usual(self, frame: memoryview, version: int) -> Any:  # noqa: ARG002  for those who do
        """Read a response of the usual form, which is then given in place of the message. None: the
        response has another form.
        """
        return None

    def done(self) -> bool:
        """Whether there is an outcome, also if `answered` was not called yet."""
        return self._is_done

    def give(self, response: object) -> None:
        """Call `answered` with a response, now."""
        self._is_done = True
        self.answered(response, None)

    def set_result(self, result: object) -> None:
        """Let the loop call `answered`."""
        self._is_done = True
        # Here and not before: on 3.11 each question for the loop is a system call.
        asyncio.get_running_loop().call_soon(self.answered, result, None)

    def set_exception(self, error: Exception) -> None:
        """Let the loop call `answered` with an error."""
        self._is_done = True
        asyncio.get_running_loop().call_soon(self.answered, None, error)


class AnswerCallback(Answer):
    """Gives the outcome of a request to a function."""

    __slots__ = ("_on_answer",)

    def __init__(self, on_answer: OnAnswer) -> None:
        super().__init__()
        self._on_answer = on_answer

    def answered(self, response: Any, error: Exception | None) -> None:
        self._on_answer(response, error)


__all__ = ["Answer", "AnswerCallback", "OnAnswer"]
