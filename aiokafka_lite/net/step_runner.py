"""Runs the steps of a handshake or of an authentication: asks for each answer, and gives it back.

A thin coroutine for the task of its caller: `Opening` on a new connection, `reauthentication` on an
open one.
"""

import inspect
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

from aiokafka_lite.net.handshake import AuthenticationStep

T = TypeVar("T")


async def run_steps(
    steps: Generator[AuthenticationStep, Any, T],
    answer_to: Callable[[AuthenticationStep], Awaitable[Any]],
) -> T:
    """Return the result of `steps`, with the answers that `answer_to` gives. Has no bound.

    Raises: what the steps raise; they get each error of `answer_to` where they yielded the step.
    Cancelled: the steps are closed.
    """
    answers: list[Any] = []  # empty when the steps raise: an answer may be a secret
    try:
        step = next(steps)
        while True:
            try:
                answers.append(await answer_to(step))
            except Exception as error:  # noqa: BLE001  the steps raise it, or what it means
                if inspect.iscoroutine(step):
                    step.close()  # it may not have been awaited
                step = steps.throw(error)
            else:
                step = steps.send(answers.pop())
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        steps.close()


__all__ = ["run_steps"]
