"""An event loop whose network is memory and whose time jumps: nothing in it takes real time, and
the same schedule always runs the same way, so that a failure can be shrunk.

`run` owns one simulation. As soon as nobody can go on, the FakeClock moves to its next timer.
"""

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar
from unittest.mock import patch

from aiokafka_lite.net import opening
from aiokafka_lite.net.endpoint import Address
from aiokafka_lite.net.transport import FrameTransport, connection_errors
from aiokafka_lite.testing.broker import server
from aiokafka_lite.testing.fake_clock import FakeClock

T = TypeVar("T")
ProtocolFactory = Callable[[], asyncio.BaseProtocol]
_MAX_TURNS = 100_000
_FIRST_PORT = 9091


class StuckError(AssertionError):
    """Nobody can go on, or somebody goes on for ever."""


class SimulatedLoop(asyncio.BaseEventLoop):
    """Runs what is ready; then time goes on, if anybody waits for that, and else all is stuck."""

    def __init__(self, clock: FakeClock, *, max_time_s: float, max_turns: int) -> None:
        super().__init__()
        self.clock = clock
        self.network = Network(self)
        self.main: asyncio.Task[Any] | None = None
        self.why_stuck = ""
        self._max_time_s = max_time_s
        self._max_turns = max_turns
        self._turns = 0
        self._selector = self  # where the base class waits for the outside

    def time(self) -> float:
        return self.clock._now

    def select(self, timeout: float | None) -> list[object]:
        """Stand in for the selector: let time go on by as much as it takes for somebody to run."""
        self._turns += 1
        if self._turns > self._max_turns:
            self._stuck("somebody goes on for ever")
        elif timeout != 0:
            self._jump(timeout)
        return []

    def _jump(self, timeout: float | None) -> None:
        moments = [] if timeout is None else [self.clock._now + timeout]
        timer_at = self.clock.next_timer_at
        if timer_at is not None:
            moments.append(timer_at)
        if not moments:
            self._stuck("nobody can go on")
        elif min(moments) > self._max_time_s:
            self._stuck(f"no end after {self._max_time_s} s")
        else:
            self.clock._jump_to(min(moments))

    def _stuck(self, why: str) -> None:
        if self.why_stuck or self.main is None:
            raise StuckError(f"{why}, not even cancelled")
        self._turns = 0
        self._max_time_s *= 2
        self.why_stuck = f"{why} at {self.clock._now:.3f} s: " + "; ".join(
            sorted(repr(task.get_coro()) for task in asyncio.all_tasks(self))
        )
        self.main.cancel()

    def _process_events(self, event_list: list[object]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass  # nobody waits in a selector who would have to be woken

    async def create_server(  # type: ignore[override]
        self, protocol_factory: ProtocolFactory, *, sock: "Listener", start_serving: bool
    ) -> "Listener":
        assert not start_serving
        sock.protocol_factory = protocol_factory
        return sock


class Network:
    """Who listens where, and how long bytes are on their way."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.loop = loop
        self.listeners: dict[int, ProtocolFactory] = {}
        self.latency_s = 0.0
        """One way, for what is written from now on; a connection keeps its order."""
        self.isolated: set[str] = set()
        """The ids of clients that reach nobody."""
        self._connected: dict[str, list[End]] = {}

    def isolate(self, client_id: str) -> None:
        """Break the connections of a client, and let it make no others."""
        self.isolated.add(client_id)
        for end in self._connected.pop(client_id, []):
            end.peer_broke()
            end.peer.peer_broke()

    async def connect(
        self, port: int, factory: ProtocolFactory, client_id: str
    ) -> asyncio.BaseProtocol:
        """Return the protocol of a new connection. Raises ConnectionRefusedError."""
        await self.loop.clock.sleep(2 * self.latency_s)
        accept = self.listeners.get(port)
        if accept is None or client_id in self.isolated:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        near, far = End(self, factory()), End(self, accept())
        near.peer, far.peer = far, near
        open_ends = [end for end in self._connected.get(client_id, []) if not end.is_closing()]
        self._connected[client_id] = [*open_ends, near]
        far.protocol.connection_made(far)
        near.protocol.connection_made(near)
        protocol: asyncio.BaseProtocol = near.protocol
        return protocol


class End(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, network: Network, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self.network = network
        self.protocol: Any = protocol
        self.peer: End
        self._free_at_s = 0.0
        """When the newest bytes arrive at the peer: none overtakes them."""
        self._held: list[bytes] | None = None
        self._is_closing = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self._is_closing

    def write(self, data: Any) -> None:
        if not self._is_closing:
            arrived = bytes(data)
            self._at_peer(lambda: self.peer._receive(arrived))

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def pause_reading(self) -> None:
        self._held = []

    def resume_reading(self) -> None:
        held, self._held = self._held or [], None
        for data in held:
            self.network.loop.call_soon(self._receive, data)

    def close(self) -> None:
        self._close(self.peer.peer_closed)

    def abort(self) -> None:
        self._close(self.peer.peer_broke)

    def peer_closed(self) -> None:
        """The other end has closed, after all that it wrote."""
        if not self._is_closing:
            self.protocol.eof_received()
            self._is_closing = True
            self.protocol.connection_lost(None)

    def peer_broke(self) -> None:
        """The other end was torn down."""
        if not self._is_closing:
            self._is_closing = True
            reset = ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
            self.protocol.connection_lost(reset)

    def _close(self, tell: Callable[[], None]) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        self.network.loop.call_soon(self.protocol.connection_lost, None)
        self._at_peer(tell)

    def _at_peer(self, action: Callable[[], None]) -> None:
        clock = self.network.loop.clock
        self._free_at_s = max(self._free_at_s, clock._now + self.network.latency_s)
        clock.call_at(self._free_at_s, action)

    def _receive(self, data: bytes) -> None:
        if self._is_closing:
            return
        if self._held is not None:
            self._held.append(data)
        elif isinstance(self.protocol, asyncio.BufferedProtocol):
            while data and not self._is_closing:
                buffer = memoryview(self.protocol.get_buffer(-1))
                size = min(len(buffer), len(data))
                buffer[:size] = data[:size]
                self.protocol.buffer_updated(size)
                data = data[size:]
        else:
            self.protocol.data_received(data)


class Listener:
    """A listening socket, and the server on it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.protocol_factory: ProtocolFactory | None = None

    async def start_serving(self) -> None:
        assert self.protocol_factory is not None
        _network().listeners[self.port] = self.protocol_factory

    def getsockname(self) -> tuple[str, int]:
        return ("127.0.0.1", self.port)

    def shutdown(self, _: int) -> None:
        self.close()

    def close(self) -> None:
        network = _network()
        network.listeners.pop(self.port, None)


def _network() -> Network:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop)
    return loop.network


def _listen(_: str, port: int, node_id: int) -> tuple[Listener, None]:
    return Listener(port or _FIRST_PORT + node_id), None  # nobody else wants these ports


async def _connect(address: Address, handler: Any, *, frame_pool: Any, **_: Any) -> FrameTransport:
    with connection_errors(str(address)):
        transport = await _network().connect(
            address.sockaddr[1],
            lambda: FrameTransport(handler, str(address), frame_pool),
            handler._client_id,
        )
    assert isinstance(transport, FrameTransport)
    return transport


def run(
    main: Callable[[FakeClock, Network], Coroutine[Any, Any, T]],
    *,
    max_time_s: float = 1000.0,
    max_turns: int = _MAX_TURNS,
) -> T:
    """Run `main(clock, network)` in a simulation; return what it returns.

    Raises StuckError when it cannot come to its end, or not before `max_time_s` and in `max_turns`
    of the loop, and AssertionError when it leaves a task or a timer behind.
    """
    clock = FakeClock()
    loop = SimulatedLoop(clock, max_time_s=max_time_s, max_turns=max_turns)
    with (
        patch.object(opening, "connect", _connect),
        patch.object(server, "_listen", _listen),
        asyncio.Runner(loop_factory=lambda: loop) as runner,
    ):
        return runner.run(_watched(main, loop))


async def _watched(main: Callable[[FakeClock, Network], Awaitable[T]], loop: SimulatedLoop) -> T:
    loop.main = asyncio.current_task()
    try:
        result = await main(loop.clock, loop.network)
        await loop.clock.sleep(10.0)  # what is still on its way, arrives
    except asyncio.CancelledError:
        if loop.why_stuck:
            raise StuckError(loop.why_stuck) from None
        raise
    if loop.why_stuck:
        raise StuckError(loop.why_stuck)
    left = [task for task in asyncio.all_tasks() if task is not loop.main]
    assert not left, f"left behind: {left}"
    assert not loop.clock.pending_timers
    return result


__all__ = ["Network", "StuckError", "run"]
