"""The loop without sockets and real time: what runs in it, and how it ends if it is stuck."""

import asyncio
from contextlib import suppress

import pytest

from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_loop import LeftBehindError, StuckError, run_virtual
from aiokafka_lite.testing.virtual_network import VirtualNetwork


def test_timers_of_both_kinds_run_in_the_order_of_their_times() -> None:
    async def main(clock: FakeClock, _: VirtualNetwork) -> list[tuple[str, float]]:
        ran: list[tuple[str, float]] = []
        loop = asyncio.get_running_loop()

        def note(name: str) -> None:
            assert loop.time() == clock.monotonic()
            ran.append((name, clock.monotonic()))

        loop.call_later(2.0, note, "loop")
        clock.call_at(1.0, lambda: note("clock"))
        clock.call_at(3.0, lambda: note("late"))
        await asyncio.sleep(2.5)
        note("program")
        await clock.sleep(1.0)
        return ran

    assert run_virtual(main) == [("clock", 1.0), ("loop", 2.0), ("program", 2.5), ("late", 3.0)]


def test_functions_for_threads_run_at_once() -> None:
    async def main(clock: FakeClock, _: VirtualNetwork) -> object:
        with pytest.raises(LookupError, match="from the thread"):
            await asyncio.to_thread(_fail)
        return await asyncio.to_thread(clock.monotonic)

    assert run_virtual(main) == 0.0


def _fail() -> None:
    raise LookupError("from the thread")


def test_a_program_that_waits_for_nothing_is_stuck_and_cleans_up() -> None:
    ends = []

    async def main(_: FakeClock, __: VirtualNetwork) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ends.append("cleaned up")

    with pytest.raises(StuckError, match=r"every task waits, and no timer is set, at 0\.000 s"):
        run_virtual(main)
    assert ends == ["cleaned up"]


def test_a_program_that_never_waits_for_time_is_stuck() -> None:
    async def main(_: FakeClock, __: VirtualNetwork) -> None:
        while True:
            await asyncio.sleep(0)

    with pytest.raises(StuckError, match=r"no end after max_turns of 50, .* main:\d+ > sleep"):
        run_virtual(main, max_turns=50)


def test_a_program_that_takes_its_cancellation_back_is_stuck_all_the_same() -> None:
    async def main(_: FakeClock, __: VirtualNetwork) -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    with pytest.raises(StuckError, match="although the program was cancelled"):
        run_virtual(main)


def test_a_program_that_ends_late_is_stuck_though_it_ends() -> None:
    async def main(clock: FakeClock, _: VirtualNetwork) -> str:
        with suppress(asyncio.CancelledError):
            await clock.sleep(100.0)
        return "an end"

    with pytest.raises(StuckError, match="no end after max_time_s of 50"):
        run_virtual(main, max_time_s=50.0)


def test_a_timer_that_was_left_behind_is_told() -> None:
    async def main(clock: FakeClock, _: VirtualNetwork) -> None:
        clock.call_at(1000.0, lambda: None)

    with pytest.raises(LeftBehindError, match="a timer was left behind, for 1000"):
        run_virtual(main)


def test_a_cancelled_error_of_the_program_stays_one() -> None:
    async def main(_: FakeClock, __: VirtualNetwork) -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_virtual(main)
