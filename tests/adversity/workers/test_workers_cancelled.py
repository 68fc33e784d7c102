"""A member whose task is cancelled at any of its awaits, once or twice, loses nothing."""

import asyncio
from collections.abc import Coroutine, Generator
from functools import partial
from types import coroutine
from typing import Any

import pytest

from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.workers.workers_model import WorkersModel
from tests.adversity.workers.workers_schedules import (
    MAX_TURNS,
    Join,
    Step,
    Stop,
    Wait,
    play_workers,
)

LIFE: list[Step] = [Join(0), Wait(300), Join(1), Wait(1000), Stop(0), Wait(500)]
FEWEST_AWAITS = 15

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("quiet")]


class Cancelling:
    """Cancels a task while it waits at some of its awaits, which are numbered from 0."""

    def __init__(self, moments: set[int]) -> None:
        self.awaits = 0
        self._moments = moments

    async def live(self, life: Coroutine[Any, Any, None]) -> None:
        await self._step_by_step(life)

    @coroutine  # from Python 3.12 on, a task takes none
    def _step_by_step(self, life: Coroutine[Any, Any, None]) -> Generator[Any, None, None]:
        task = asyncio.current_task()
        assert task is not None
        thrown: BaseException | None = None
        while True:
            try:
                waits = life.send(None) if thrown is None else life.throw(thrown)
            except StopIteration:
                return
            if self.awaits in self._moments:
                asyncio.get_running_loop().call_soon(task.cancel)
            self.awaits += 1
            thrown = None
            try:
                yield waits
            except BaseException as error:  # noqa: BLE001 - it belongs to the task
                thrown = error


def play(cancelling: Cancelling, *, is_cooperative: bool) -> WorkersModel:
    return run_virtual(
        partial(
            play_workers,
            schedule=LIFE,
            is_cooperative=is_cooperative,
            order="key",
            has_dead_letters=False,
            first_lives=cancelling.live,
        ),
        max_turns=MAX_TURNS,
        max_time_s=10_000,
    )


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("is_cooperative", [False, True], ids=["eager", "cooperative"])
def test_nothing_is_lost_at_whichever_await_a_member_is_cancelled(
    is_cooperative: bool, times: int
) -> None:
    moment = 0
    while True:
        cancelling = Cancelling(set(range(moment, moment + times)))
        model = play(cancelling, is_cooperative=is_cooperative)
        assert not model.complaints, "\n".join([f"await {moment}", *model.complaints, str(model)])
        if cancelling.awaits <= moment:
            break
        moment += 1
    assert moment >= FEWEST_AWAITS
