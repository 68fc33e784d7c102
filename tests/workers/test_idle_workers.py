"""Who is woken, and when a wait for the end of handlers ends."""

import asyncio

from aiokafka_lite.testing.fake_clock import settle
from aiokafka_lite.workers.idle_workers import IdleWorkers


async def test_as_many_are_woken_as_there_is_work_for() -> None:
    idle, woken = IdleWorkers(), list[int]()

    async def work(number: int) -> None:
        await idle.wait_for_work()
        woken.append(number)

    tasks = [asyncio.create_task(work(number)) for number in range(4)]
    await settle()
    tasks[3].cancel()
    await settle()
    idle.wake(2)
    await settle()
    assert sorted(woken) == [1, 2]
    idle.wake(5)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted(woken) == [0, 1, 2]


async def test_a_wait_ends_with_its_condition() -> None:
    idle, left = IdleWorkers(), [2]
    waiting = asyncio.create_task(idle.until(lambda: not left[0]))
    given_up = asyncio.create_task(idle.until(lambda: not left[0]))
    for _ in range(2):
        await settle()
        given_up.cancel()
        assert not waiting.done()
        left[0] -= 1
        idle.ended()
    await waiting
    assert given_up.cancelled()
