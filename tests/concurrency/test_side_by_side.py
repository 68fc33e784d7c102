"""Calls side by side: all have ended when the one that awaits them returns or raises."""

import asyncio
from functools import partial

import anyio
import pytest

from aiokafka_lite.concurrency.side_by_side import side_by_side


class Meeting:
    """Calls that end once all of them have begun."""

    def __init__(self, size: int) -> None:
        self._all_here = asyncio.Barrier(size)
        self.ended: list[str] = []

    async def attend(self, name: str) -> None:
        await self._all_here.wait()
        self.ended.append(name)

    async def wait_in_vain(self, name: str) -> None:
        try:
            await self._all_here.wait()
            await asyncio.Event().wait()
        finally:
            self.ended.append(name)

    async def fail(self) -> None:
        await self._all_here.wait()
        raise ZeroDivisionError("first")


async def test_calls_run_at_the_same_time_and_all_have_ended() -> None:
    meeting = Meeting(3)
    await side_by_side(partial(meeting.attend, name) for name in "abc")
    assert sorted(meeting.ended) == ["a", "b", "c"]


async def test_a_single_call_runs_in_the_task_of_its_caller() -> None:
    tasks = []

    async def note_task() -> None:
        tasks.append(asyncio.current_task())

    await side_by_side([])
    await side_by_side([note_task])
    assert tasks == [asyncio.current_task()]


async def test_the_first_failure_ends_the_others_and_is_raised_as_it_is() -> None:
    meeting = Meeting(2)
    with pytest.raises(ZeroDivisionError, match="first"):
        await side_by_side([partial(meeting.wait_in_vain, "other"), meeting.fail])
    assert meeting.ended == ["other"]


@pytest.mark.parametrize("calls", [1, 2])
async def test_a_cancelled_call_ends_its_parts_first(calls: int) -> None:
    meeting = Meeting(1)
    parts = [partial(meeting.wait_in_vain, str(number)) for number in range(calls)]
    call = asyncio.create_task(side_by_side(parts))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()
    assert sorted(meeting.ended) == [str(number) for number in range(calls)]


@pytest.mark.parametrize("calls", [1, 2])
async def test_a_cancelled_scope_of_anyio_ends_the_parts_and_is_left(calls: int) -> None:
    meeting = Meeting(1)
    with anyio.move_on_after(0.001) as scope:
        await side_by_side(partial(meeting.wait_in_vain, str(each)) for each in range(calls))
    assert scope.cancelled_caught
    assert sorted(meeting.ended) == [str(number) for number in range(calls)]
