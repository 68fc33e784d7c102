"""When a function is told the outcome of a request."""

import asyncio
from typing import Any

from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.net.answer_callback import AnswerCallback


def told() -> tuple[AnswerCallback, list[Any]]:
    """A callback, and what it was told."""
    outcomes: list[Any] = []
    return AnswerCallback(lambda response, error: outcomes.append((response, error))), outcomes


async def test_a_response_is_told_at_once() -> None:
    callback, outcomes = told()
    assert not callback.done()
    callback.give("response")
    assert (outcomes, callback.done()) == ([("response", None)], True)


async def test_everything_else_is_told_in_the_next_turn_and_counts_at_once() -> None:
    """Else an error could come while the request is being sent, and a second one behind it."""
    failed, errors = told()
    left, nothing = told()
    error = KafkaConnectionError("gone")
    failed.set_exception(error)
    left.set_result(None)
    assert failed.done()
    assert left.done()
    assert (errors, nothing) == ([], [])
    await asyncio.sleep(0)
    assert (errors, nothing) == ([(None, error)], [(None, None)])
