"""The loop between steps and their answers."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.net.handshake import AuthenticationStep, AuthenticationSteps
from aiokafka_lite.net.step_runner import run_steps
from aiokafka_lite.testing.fake_clock import settle


async def length(step: AuthenticationStep) -> int:
    if not isinstance(step, bytes):
        raise TypeError("no token")
    return len(step)


async def test_each_step_gets_its_answer_or_its_error() -> None:
    async def never() -> None: ...

    def steps() -> AuthenticationSteps:
        total = yield b"abc"
        with pytest.raises(TypeError, match="no token"):
            yield never()  # which would warn if it was neither awaited nor closed
        total += yield b"de"
        return int(total)

    assert await run_steps(steps(), length) == 5


async def test_the_error_of_the_steps_is_raised() -> None:
    def steps() -> AuthenticationSteps:
        yield b""
        raise LookupError("refused")

    with pytest.raises(LookupError, match="refused"):
        await run_steps(steps(), length)


async def test_a_cancelled_runner_closes_the_steps() -> None:
    closed: list[bool] = []

    def steps() -> AuthenticationSteps:
        try:
            yield b""
        finally:
            closed.append(True)
        return 0

    async def hangs(step: AuthenticationStep) -> Any:
        await asyncio.get_running_loop().create_future()

    running = asyncio.ensure_future(run_steps(steps(), hangs))
    await settle()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert closed == [True]
