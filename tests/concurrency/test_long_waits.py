"""A wait is told after ten seconds, then once a minute, as long as it lasts."""

import asyncio
import logging

import pytest

from aiokafka_lite.concurrency.long_waits import MOST_TOLD, LongWaits, Sparing
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing.fake_clock import FakeClock


class World:
    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        self.clock = FakeClock(100.0)
        self.waits = LongWaits(self.clock, "shop")
        self._caplog = caplog

    async def after(self, seconds: float) -> list[str]:
        """Return what is logged within so many seconds."""
        self._caplog.clear()
        for _ in range(round(seconds * 2)):
            await self.clock.advance(0.5)
        return [record.getMessage() for record in self._caplog.records]


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> World:
    return World(caplog)


async def test_what_lasts_is_told_after_ten_seconds_and_then_once_a_minute(world: World) -> None:
    with world.waits.of("the lamp", "check the oil") as wait:
        assert await world.after(9.5) == []
        assert world.waits.lasting() == []
        (told,) = await world.after(1)
        assert told == "shop: has waited 10 s for the lamp: nothing has come back; check the oil"
        wait.failed(KafkaConnectionError("no oil"))
        (text,) = world.waits.lasting()
        assert text.endswith("for the lamp: one attempt has failed: no oil; check the oil")
        assert await world.after(59) == []
        wait.failed("no wick")
        (told,) = await world.after(1)
        assert "has waited 70 s" in told
        assert "the last of 2 attempts has failed: no wick" in told
    assert await world.after(0) == []
    assert not world.clock.pending_timers


async def test_the_end_of_what_was_told_is_told_and_a_short_wait_is_not(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with world.waits.of("a short one", "nothing"):
        await world.after(9)
    assert caplog.messages == []
    wait = world.waits.of("a long one", "nothing")
    await world.after(12)
    caplog.clear()
    wait.end()
    wait.end()
    assert caplog.messages == ["shop: waits no longer for a long one, after 12 s"]
    assert await world.after(200) == []


async def test_a_wait_inside_another_one_is_told_together_with_it(world: World) -> None:
    with world.waits.of("the group", "check the members") as outer:
        outer.failed("not yet")
        await world.after(5)
        with world.waits.of("the coordinator", "check that node"):
            (told,) = await world.after(6)
            assert told == (
                "shop: has waited 10 s for the group: one attempt has failed: not yet; it waits "
                "for the coordinator: nothing has come back; check that node"
            )
            assert await world.after(50) == []


async def test_waits_of_other_tasks_and_those_apart_are_told_by_themselves(world: World) -> None:
    async def wait() -> None:
        with world.waits.of("another task", "nothing"):
            await asyncio.sleep(3600)

    task = asyncio.create_task(wait())
    with world.waits.of("this task", "nothing"):
        apart = world.waits.of("apart", "nothing", is_apart=True)
        assert len(await world.after(11)) == 3
        apart.end()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_many_calls_that_wait_for_the_same_are_told_once(world: World) -> None:
    same = [world.waits.of("the same", "nothing", is_apart=True) for _ in range(100)]
    assert len(await world.after(11)) == 1
    await world.after(30)
    same.append(world.waits.of("the same", "nothing", is_apart=True))
    assert await world.after(25) == []
    assert len(await world.after(10)) == 1
    for each in same:
        each.end()


async def test_many_different_waits_are_counted(world: World) -> None:
    for number in range(MOST_TOLD + 3):
        world.waits.of(f"number {number}", "nothing", is_apart=True)
    *told, rest = await world.after(11)
    assert len(told) == MOST_TOLD
    assert rest == "shop: 3 other calls wait as long"
    world.waits.close()
    assert not world.clock.pending_timers


async def test_a_wait_that_begins_after_another_was_told_is_told_in_time(world: World) -> None:
    with world.waits.of("the first", "nothing"):
        await world.after(15)
        second = world.waits.of("the second", "nothing", is_apart=True)
        assert await world.after(9) == []
        assert len(await world.after(2)) == 1
        second.end()


async def test_what_stands_in_the_way_is_asked_when_it_is_told(world: World) -> None:
    state = "no leader"
    wait = world.waits.of("t-0", "check it", lambda: state, is_apart=True)
    (told,) = await world.after(11)
    assert told == "shop: has waited 10 s for t-0: no leader; check it"
    wait.failed("refused")
    state = "still none"
    (text,) = world.waits.lasting()
    assert "one attempt has failed: refused; now still none" in text
    state = ""  # told by another warning
    assert await world.after(100) == []
    assert world.waits.lasting() == []
    wait.end()


async def test_a_wait_may_find_that_it_is_over(world: World) -> None:
    def now() -> str:
        wait.end()
        return "nothing is asked"

    wait = world.waits.of("nobody", "nothing", now, is_apart=True)
    assert await world.after(100) == []


async def test_waits_that_are_closed_later_share_a_timer(world: World) -> None:
    waits = LongWaits(world.clock, "shop", is_closed_later=True)
    for _ in range(3):
        with waits.of("the lamp", "check the oil"):
            await world.after(1)
        assert world.clock.pending_timers == 1
    assert await world.after(10) == []
    assert world.clock.pending_timers == 0
    with waits.of("the lamp", "check the oil"):
        assert len(await world.after(11)) == 1
        waits.close()
    assert world.clock.pending_timers == 0


async def test_a_wait_that_comes_back_is_not_told_each_time(world: World) -> None:
    told = []
    for _ in range(6):
        with world.waits.of("the lamp", "check the oil"):
            told += await world.after(11)
        await world.after(1)
    assert [each for each in told if "has waited" in each][1:] == [
        "shop: has waited 10 s for the lamp: nothing has come back; check the oil"
    ]


async def test_one_wait_serves_for_one_thing_after_the_other(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told by the age of the oldest, and costs nothing while none is old."""
    begun_s: list[float] = []
    world.waits.of(
        "answers", "check the nodes", is_apart=True, begun_s=lambda: min(begun_s, default=None)
    )
    assert await world.after(25) == []
    for _ in range(20):
        begun_s[:] = [world.clock.monotonic()]
        assert await world.after(5) == []
        assert world.waits.lasting() == []
    begun_s[:] = [world.clock.monotonic()]
    assert await world.after(9.5) == []
    (told,) = await world.after(1)
    assert told == "shop: has waited 10 s for answers: nothing has come back; check the nodes"
    assert len(world.waits.lasting()) == 1
    assert await world.after(59) == []
    (told,) = await world.after(1)
    assert "has waited 70 s" in told
    begun_s.clear()
    assert await world.after(61) == ["shop: waits no longer for answers"]
    assert world.waits.lasting() == []


def test_what_comes_and_goes_is_told_once_a_minute() -> None:
    sparing = Sparing()
    levels = [sparing.level(what, now_s) for what in "ab" for now_s in (0, 59, 60, 119, 120)]
    assert levels == 2 * [30, 10, 30, 10, 30]
