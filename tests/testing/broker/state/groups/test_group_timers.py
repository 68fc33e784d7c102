"""Named timers of a group."""

from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.fake_clock import FakeClock


async def test_timers_run_once_each_at_their_time() -> None:
    clock, seen = FakeClock(), []
    timers = GroupTimers(clock, lambda: seen.append("fired"))
    timers.schedule("a", 1500, lambda: seen.append("a"))
    timers.schedule("b", 1000, lambda: seen.append("b"))
    await clock.advance(0.999)
    assert seen == []
    await clock.advance(0.001)
    assert (seen, timers.names) == (["b", "fired"], {"a"})
    await clock.advance(10)
    assert (seen, timers.names) == (["b", "fired", "a", "fired"], set())


async def test_setting_a_timer_again_replaces_it() -> None:
    clock, seen = FakeClock(), []
    timers = GroupTimers(clock, lambda: None)
    timers.schedule("a", 1000, lambda: seen.append("old"))
    timers.schedule("a", 2000, lambda: seen.append("new"))
    await clock.advance(5)
    assert seen == ["new"]


async def test_a_callback_may_set_its_own_timer_again() -> None:
    clock, seen = FakeClock(), []
    timers = GroupTimers(clock, lambda: None)

    def tick() -> None:
        seen.append(clock.monotonic())
        timers.schedule("a", 1000, tick)

    timers.schedule("a", 1000, tick)
    await clock.advance(3)
    assert seen == [1, 2, 3]


async def test_cancelled_timers_are_gone_from_the_clock() -> None:
    clock = FakeClock()
    timers = GroupTimers(clock, lambda: None)
    for name in "abc":
        timers.schedule(name, 1000, lambda: None)
    timers.cancel("a")
    timers.cancel("unknown")
    assert clock.pending_timers == 2
    timers.clear()
    assert (clock.pending_timers, timers.names) == (0, set())
