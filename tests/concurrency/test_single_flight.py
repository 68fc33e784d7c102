"""SingleFlight: one refresh for many callers, none of whom can take it from the others."""

import asyncio
import gc
from collections.abc import AsyncIterator

import pytest

from aiokafka_lite.concurrency.single_flight import SingleFlight
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import Cancelled, IllegalStateError
from aiokafka_lite.testing.fake_clock import settle


class Work:
    def __init__(self) -> None:
        self.runs = 0
        self.gate = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> int:
        self.runs += 1
        run = self.runs
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return run


@pytest.fixture
async def owner() -> AsyncIterator[TaskOwner]:
    owner = TaskOwner("c")
    await owner.start()
    yield owner
    await owner.close()
    owner.check()


async def test_callers_share_one_flight(owner: TaskOwner) -> None:
    flight: SingleFlight[int] = SingleFlight(owner, "refresh")
    work = Work()
    callers = [asyncio.create_task(flight.run(work)) for _ in range(3)]
    await settle()
    assert flight.in_flight
    work.gate.set()
    assert await asyncio.gather(*callers) == [1, 1, 1]
    assert not flight.in_flight
    assert await flight.run(work) == 2


async def test_cancelled_caller_does_not_cancel_the_flight(owner: TaskOwner) -> None:
    flight: SingleFlight[int] = SingleFlight(owner, "refresh")
    work = Work()
    first = asyncio.create_task(flight.run(work))
    second = asyncio.create_task(flight.run(work))
    await settle()
    first.cancel()
    await settle()
    work.gate.set()
    assert await second == 1
    assert first.cancelled()


async def test_flight_goes_on_when_every_caller_gave_up(owner: TaskOwner) -> None:
    flight: SingleFlight[int] = SingleFlight(owner, "refresh")
    work = Work()
    caller = asyncio.create_task(flight.run(work))
    await settle()
    caller.cancel()
    await settle()
    assert flight.in_flight
    joined = asyncio.create_task(flight.run(work))
    await settle()
    work.gate.set()
    assert await joined == 1


async def test_failure_reaches_every_caller_and_not_the_owner(owner: TaskOwner) -> None:
    flight: SingleFlight[int] = SingleFlight(owner, "refresh")
    work = Work()
    work.error = ValueError("no")
    callers = [asyncio.create_task(flight.run(work)) for _ in range(2)]
    await settle()
    work.gate.set()
    for caller in callers:
        with pytest.raises(ValueError, match="no"):
            await caller
    assert owner.failure is None
    assert not flight.in_flight


async def test_asking_from_within_the_answer_starts_a_new_flight(owner: TaskOwner) -> None:
    flight: SingleFlight[int] = SingleFlight(owner, "refresh")
    work = Work()
    work.gate.set()

    async def twice() -> tuple[int, int]:
        return await flight.run(work), await flight.run(work)

    assert await twice() == (1, 2)


async def test_closing_the_owner_ends_the_wait() -> None:
    owner = TaskOwner("c")
    await owner.start()
    flight: SingleFlight[int] = SingleFlight(owner, "refresh")
    caller = asyncio.create_task(flight.run(Work()))
    await settle()
    await owner.close()
    with pytest.raises(Cancelled, match="refresh was given up because its client closed"):
        await caller
    with pytest.raises(IllegalStateError):
        await flight.run(Work())


async def test_closing_before_the_flight_has_begun_ends_the_wait_too() -> None:
    owner = TaskOwner("c")
    await owner.start()
    flight: SingleFlight[int] = SingleFlight(owner, "refresh")
    caller = asyncio.create_task(flight.run(Work()))
    await asyncio.sleep(0)
    for child in owner.children:
        child.cancel()
    with pytest.raises(Cancelled):
        await caller
    assert not flight.in_flight
    await owner.close()


async def test_error_that_meets_a_cancelled_caller_is_not_reported_as_unseen(
    owner: TaskOwner,
) -> None:
    reports: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, report: reports.append(report))
    flight: SingleFlight[int] = SingleFlight(owner, "refresh")
    work = Work()
    work.error = ValueError("no")
    caller = asyncio.create_task(flight.run(work))
    await settle()
    work.gate.set()
    while flight.in_flight:
        await asyncio.sleep(0)
    caller.cancel()
    await asyncio.wait([caller])
    del caller
    gc.collect()
    assert reports == []
