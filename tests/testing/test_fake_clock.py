"""FakeClock: time by hand, or by itself, on a real loop with real sockets."""

import asyncio
import contextvars
from functools import partial

import pytest

from aiokafka_lite.clock import Clock
from aiokafka_lite.testing.fake_clock import FakeClock, settle


def test_it_is_a_clock() -> None:
    clock: Clock = FakeClock(start=3.0)
    assert clock.monotonic() == 3.0
    assert clock.time() == 1_767_225_603.0


async def test_time_stands_still_by_itself() -> None:
    clock = FakeClock()
    await asyncio.sleep(0.005)
    assert clock.monotonic() == 0.0


async def test_timers_run_in_order_each_at_its_own_moment() -> None:
    clock = FakeClock()
    log: list[tuple[str, float]] = []

    def note(name: str) -> None:
        log.append((name, clock.monotonic()))

    for name, when in (("late", 3.0), ("early", 1.0), ("early too", 1.0), ("never", 9.0)):
        clock.call_at(when, partial(note, name))
    await clock.advance(5.0)
    assert log == [("early", 1.0), ("early too", 1.0), ("late", 3.0)]
    assert clock.monotonic() == 5.0
    assert clock.next_timer_at == 9.0


async def test_loop_settles_between_two_timers() -> None:
    clock = FakeClock()
    log: list[str] = []

    async def worker() -> None:
        while True:
            await clock.sleep(1.0)
            await asyncio.sleep(0)
            log.append(f"worked at {clock.monotonic()}")

    task = asyncio.create_task(worker())
    await clock.advance(3.5)
    assert log == ["worked at 1.0", "worked at 2.0", "worked at 3.0"]
    task.cancel()
    await asyncio.wait([task])
    assert clock.pending_timers == 0


async def test_timer_in_the_past_runs_soon_but_never_at_once() -> None:
    clock = FakeClock(start=10.0)
    log: list[str] = []
    clock.call_at(9.0, lambda: log.append("ran"))
    assert log == []
    await settle()
    assert log == ["ran"]


async def test_cancelled_timer_does_not_run() -> None:
    clock = FakeClock()
    log: list[str] = []
    timer = clock.call_at(1.0, lambda: log.append("ran"))
    soon = clock.call_at(0.0, lambda: log.append("ran soon"))
    timer.cancel()
    timer.cancel()
    soon.cancel()
    assert clock.next_timer_at is None
    await clock.advance(2.0)
    assert log == []


async def test_timer_cancelled_by_another_of_the_same_moment_does_not_run() -> None:
    clock = FakeClock()
    log: list[str] = []
    second = None

    def first() -> None:
        assert second is not None
        second.cancel()

    clock.call_at(1.0, first)
    second = clock.call_at(1.0, lambda: log.append("ran"))
    await clock.advance(1.0)
    assert log == []


async def test_callbacks_keep_their_context() -> None:
    variable = contextvars.ContextVar("variable", default="outside")
    clock = FakeClock()
    seen: list[str] = []
    token = variable.set("inside")
    clock.call_at(1.0, lambda: seen.append(variable.get()))
    variable.reset(token)
    await clock.advance(1.0)
    assert seen == ["inside"]


async def test_error_in_a_callback_goes_to_the_loop_not_to_the_test() -> None:
    reports: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _loop, report: reports.append(repr(report["exception"]))
    )
    clock = FakeClock()

    def bad() -> None:
        raise ValueError("bad")

    clock.call_at(1.0, bad)
    await clock.advance(1.0)
    assert reports == ["ValueError('bad')"]


async def test_time_never_goes_back() -> None:
    with pytest.raises(ValueError, match="cannot advance by -1 s"):
        await FakeClock().advance(-1)


async def test_sleep_without_delay_lets_others_run() -> None:
    clock = FakeClock()
    ran = False

    def other() -> None:
        nonlocal ran
        ran = True

    asyncio.get_running_loop().call_soon(other)
    await clock.sleep(0)
    assert ran


async def test_cancelled_sleep_leaves_no_timer() -> None:
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(5))
    await settle()
    assert clock.pending_timers == 1
    task.cancel()
    await asyncio.wait([task])
    assert clock.pending_timers == 0


async def test_jump_to_next_timer_moves_to_it_and_not_further() -> None:
    clock = FakeClock()
    task = asyncio.create_task(clock.sleep(7.5))
    await clock.jump_to_next_timer()
    assert task.done()
    assert clock.monotonic() == 7.5
    await clock.jump_to_next_timer()
    assert clock.monotonic() == 7.5


# Jumping by itself…


async def test_hours_pass_while_everybody_waits() -> None:
    clock = FakeClock(autojump_threshold_s=0.002)
    log: list[float] = []
    for _ in range(5):
        await clock.sleep(3600)
        log.append(clock.monotonic())
    assert log == [3600.0 * n for n in range(1, 6)]


async def test_no_jump_while_somebody_uses_the_clock() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    sleeper = asyncio.create_task(clock.sleep(100))
    for _ in range(60):
        await asyncio.sleep(0.002)
        clock.monotonic()
    assert not sleeper.done()
    await sleeper
    assert clock.monotonic() == 100.0


async def test_advance_and_jumping_do_not_disturb_each_other() -> None:
    clock = FakeClock(autojump_threshold_s=0.002)
    sleeper = asyncio.create_task(clock.sleep(100))
    await clock.advance(40)
    assert clock.monotonic() == 40.0
    await sleeper
    assert clock.monotonic() == 100.0


async def test_nothing_stays_in_the_loop_once_no_timer_is_left() -> None:
    clock = FakeClock(autojump_threshold_s=0.002)
    await clock.sleep(10)
    await asyncio.sleep(0.002)
    assert clock._watchdog is None


async def test_real_sockets_work_beside_it() -> None:
    clock = FakeClock(autojump_threshold_s=0.02)

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            await clock.sleep(60)  # a slow server
            writer.write(data)
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    reader, writer = await asyncio.open_connection(host, port)
    for number in range(3):
        writer.write(b"x%d" % number)
        assert await reader.read(100) == b"x%d" % number
    assert clock.monotonic() == 180.0
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()


async def test_settle_lets_bytes_through_loopback_sockets() -> None:
    received: list[bytes] = []

    async def sink(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            received.append(data)
        writer.close()

    server = await asyncio.start_server(sink, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    _reader, writer = await asyncio.open_connection(host, port)
    await settle()
    writer.write(b"hello")
    await settle()
    assert received == [b"hello"]
    writer.close()
    await writer.wait_closed()
    await settle()
    server.close()
    await server.wait_closed()
