"""SystemClock: the machine's time through the running loop."""

import asyncio
import time
from functools import partial
from pathlib import Path

import pytest

from aiokafka_lite import clock as clock_module
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock, SystemClock


def test_system_clock_is_a_clock() -> None:
    clock: Clock = SYSTEM_CLOCK
    assert isinstance(clock, SystemClock)
    before = time.time()
    assert before <= clock.time() <= before + 60
    assert clock.monotonic() <= clock.monotonic()


class Machine:
    """The functions of a machine that has slept for an hour."""

    CLOCK_BOOTTIME = 7

    @staticmethod
    def monotonic() -> float:
        return 10.0

    @staticmethod
    def clock_gettime(number: int) -> float:
        assert number == 7
        return 3610.0


def test_time_passes_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under a laptop's lid; where the system cannot tell it, the clock is the usual one."""
    monkeypatch.setattr(clock_module, "time", Machine)
    monkeypatch.setattr(clock_module, "native", lambda _: None)
    assert clock_module._with_sleep()() == 3610.0
    monkeypatch.setattr(Machine, "clock_gettime", lambda _: Path("/nowhere").stat())
    assert clock_module._with_sleep()() == 10.0
    monkeypatch.delattr(Machine, "CLOCK_BOOTTIME")
    assert clock_module._with_sleep()() == 10.0


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="Linux alone has it")
def test_on_linux_the_clock_is_that_of_the_time_since_the_boot() -> None:
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before <= SYSTEM_CLOCK.monotonic() <= time.clock_gettime(time.CLOCK_BOOTTIME)
    before = time.monotonic()
    assert before <= SYSTEM_CLOCK.awake() <= time.monotonic()


async def test_call_at_runs_at_its_moment_and_never_at_once() -> None:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[float] = loop.create_future()
    when = SYSTEM_CLOCK.monotonic() + 0.01
    SYSTEM_CLOCK.call_at(when, lambda: done.set_result(SYSTEM_CLOCK.monotonic()))
    assert await asyncio.wait_for(done, 30) >= when

    ran: list[str] = []
    SYSTEM_CLOCK.call_at(SYSTEM_CLOCK.monotonic() - 5, lambda: ran.append("past"))
    assert ran == []
    async with asyncio.timeout(30):
        while not ran:
            await SYSTEM_CLOCK.sleep(0)


async def test_call_at_is_never_early() -> None:
    """uvloop rounds to milliseconds; a wait that looks at the clock again would never end."""
    loop = asyncio.get_running_loop()
    for tenths in range(40):
        done: asyncio.Future[None] = loop.create_future()
        when = SYSTEM_CLOCK.monotonic() + tenths / 10_000
        SYSTEM_CLOCK.call_at(when, partial(done.set_result, None))
        await asyncio.wait_for(done, 30)
        assert SYSTEM_CLOCK.monotonic() >= when


async def test_cancelled_timer_does_not_run() -> None:
    ran: list[str] = []
    timer = SYSTEM_CLOCK.call_at(SYSTEM_CLOCK.monotonic(), lambda: ran.append("x"))
    timer.cancel()
    timer.cancel()
    await SYSTEM_CLOCK.sleep(0.002)
    assert ran == []
