"""An event loop without sockets and real time: its network is memory, and its time jumps.

`run_virtual` owns one run. As soon as every task waits, the `FakeClock` moves to the next timer. So
a run takes no longer than its own work, and the same program always runs the same way.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_network import ProtocolFactory, VirtualListener, VirtualNetwork

T = TypeVar("T")
MAX_TIME_S = 1000.0
MAX_TURNS = 100_000
_TIME_TO_SETTLE_S = 10.0
"""Virtual time after the program in which bytes that are still on their way arrive."""


class StuckError(AssertionError):
    """A virtual run cannot end: every task waits for nothing, or its bounds are reached."""


class LeftBehindError(AssertionError):
    """A program in virtual time has ended, and a task or a timer of it has not."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs what is ready. Then time jumps, if a timer is set; otherwise the run is stuck.

    `loop.time()`, `asyncio.sleep` and `asyncio.timeout` follow the clock, too. A function for an
    executor runs at once, in this thread.
    """

    def __init__(self, clock: FakeClock, *, max_time_s: float, max_turns: int) -> None:
        super().__init__()
        self.clock = clock
        self.kafka_network = VirtualNetwork(clock)
        """The network; see `concurrency/loop_network`."""
        self.main: asyncio.Task[Any] | None = None
        """The task of the program, which is cancelled when it is stuck."""
        self.why_stuck = ""
        self._max_time_s = max_time_s
        self._max_turns = max_turns
        self._turns = 0
        self._selector = self  # where the base class waits for the outside

    def time(self) -> float:
        """Return the clock's time."""
        return self.clock._now

    def select(self, timeout: float | None) -> list[object]:
        """Move time on until something can run. The base class waits for the outside here."""
        self._turns += 1
        if self._turns > self._max_turns:
            self._stuck(f"no end after max_turns of {self._max_turns:,}")
        elif timeout != 0:
            self._jump(timeout)
        return []

    def run_in_executor(  # type: ignore[override]
        self,
        executor: Any,  # noqa: ARG002 - there is none
        func: Callable[..., Any],
        *args: Any,
    ) -> "asyncio.Future[Any]":
        """Run a function at once, in this thread: nothing goes on beside a virtual loop."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - raised where the future is awaited
            future.set_exception(error)
        return future

    async def create_server(  # type: ignore[override]
        self, protocol_factory: ProtocolFactory, *, sock: VirtualListener, start_serving: bool
    ) -> VirtualListener:
        """Return the listener `sock` as a server that does not serve yet."""
        assert not start_serving
        sock.serve_with(protocol_factory)
        return sock

    def _jump(self, timeout: float | None) -> None:
        moments = [] if timeout is None else [self.clock._now + timeout]
        timer_at = self.clock.next_timer_at
        if timer_at is not None:
            moments.append(timer_at)
        if not moments:
            self._stuck("every task waits, and no timer is set")
        elif min(moments) > self._max_time_s:
            self._stuck(f"no end after max_time_s of {self._max_time_s:,.0f}")
        else:
            self.clock._jump_to(min(moments))

    def _stuck(self, why: str) -> None:
        if self.why_stuck or self.main is None:
            raise StuckError(f"{why}, although the program was cancelled")
        self._turns = 0
        self._max_time_s *= 2
        tasks = asyncio.all_tasks(self)
        self.why_stuck = f"{why}, at {self.clock._now:.3f} s; the tasks are: {_described(tasks)}"
        self.main.cancel()

    def _process_events(self, event_list: list[object]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass  # the selector never sleeps, so nothing has to wake it


def run_virtual(
    main: Callable[[FakeClock, VirtualNetwork], Coroutine[Any, Any, T]],
    *,
    max_time_s: float = MAX_TIME_S,
    max_turns: int = MAX_TURNS,
) -> T:
    """Run `main(clock, network)` in a virtual loop, and return its result.

    Raises: StuckError if it does not end within `max_time_s` of virtual time and `max_turns` of the
    loop, or if every task waits for nothing; LeftBehindError if it leaves a task or a timer behind;
    the error of `main`.
    """
    clock = FakeClock()
    clock.is_moved_by_hand = False
    loop = VirtualLoop(clock, max_time_s=max_time_s, max_turns=max_turns)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(_watched(main, loop))


async def _watched(
    main: Callable[[FakeClock, VirtualNetwork], Awaitable[T]], loop: VirtualLoop
) -> T:
    loop.main = asyncio.current_task()
    try:
        result = await main(loop.clock, loop.kafka_network)
        await loop.clock.sleep(_TIME_TO_SETTLE_S)
    except asyncio.CancelledError:
        if loop.why_stuck:
            raise StuckError(loop.why_stuck) from None
        raise
    if loop.why_stuck:
        raise StuckError(loop.why_stuck)
    left = [task for task in asyncio.all_tasks() if task is not loop.main]
    if left:
        raise LeftBehindError(
            f"tasks were left behind; stop their clients, or await them: {_described(left)}"
        )
    if loop.clock.pending_timers:
        raise LeftBehindError(f"a timer was left behind, for {loop.clock.next_timer_at:.3f} s")
    return result


def _described(tasks: Iterable["asyncio.Task[Any]"]) -> str:
    """Return the names of tasks, each with the calls in which it waits."""
    return "; ".join(sorted(f"{task.get_name()} in {_calls(task)}" for task in tasks))


def _calls(task: "asyncio.Task[Any]") -> str:
    calls = []
    call: Any = task.get_coro()
    while (frame := getattr(call, "cr_frame", None)) is not None:
        calls.append(f"{call.__qualname__.rpartition('.')[2]}:{frame.f_lineno}")
        call = call.cr_await
    return " > ".join(calls)


__all__ = ["LeftBehindError", "StuckError", "VirtualLoop", "run_virtual"]
