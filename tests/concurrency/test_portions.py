"""Portions follow the time that a user's function takes."""

import asyncio

from aiokafka_lite.concurrency.portions import BUDGET_S, Portions
from aiokafka_lite.testing.fake_clock import FakeClock


def after(portions: Portions, clock: FakeClock, seconds: float, turns: int = 10) -> int:
    """Return the size of a portion after some whose records took so long each."""
    for _ in range(turns):
        portions.begin()
        clock._now += portions.count * seconds
        portions.learn(portions.count)
    return portions.count


def test_the_first_portion_is_one_record_and_fast_ones_grow() -> None:
    clock = FakeClock()
    portions = Portions(clock, 100)
    assert portions.count == 1
    assert after(portions, clock, 0.0) == 100


def test_calls_that_become_slow_come_one_by_one_from_the_next_portion_on() -> None:
    clock = FakeClock()
    portions = Portions(clock, 100)
    after(portions, clock, 0.0)
    assert after(portions, clock, 0.005, turns=1) == 1
    assert after(portions, clock, 0.005) == 1


def test_a_portion_takes_less_than_the_time() -> None:
    clock = FakeClock()
    portions = Portions(clock, 100)
    count = after(portions, clock, BUDGET_S / 20)
    assert 2 <= count <= 20
    portions.begin()
    clock._now += count * BUDGET_S / 20
    assert not portions.learn(count)


def test_a_portion_that_was_not_filled_says_nothing_about_larger_ones() -> None:
    clock = FakeClock()
    portions = Portions(clock, 100)
    after(portions, clock, 0.0, turns=2)
    assert portions.count == 16
    portions.learn(3)
    assert portions.count == 16


def test_many_short_portions_use_up_the_time_of_a_turn() -> None:
    clock = FakeClock()
    portions = Portions(clock, 1)
    portions.begin()
    over = []
    for _ in range(3):
        clock._now += BUDGET_S * 0.4
        over.append(portions.learn(1))
    assert over == [False, False, True]
    assert portions.are_over


async def test_a_turn_lets_the_other_tasks_run() -> None:
    clock = FakeClock()
    portions = Portions(clock, 1)
    clock._now += BUDGET_S
    ran = asyncio.create_task(asyncio.sleep(0))
    await portions.turn()
    await asyncio.sleep(0)
    assert ran.done()
    assert not portions.are_over
