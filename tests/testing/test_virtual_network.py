"""The network in memory: connections, latency, and how they end."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from aiokafka_lite.errors import FeatureNotSupportedError
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.transport import TlsStart, connect, resolve
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_loop import run_virtual
from aiokafka_lite.testing.virtual_network import VirtualNetwork


class Noting(asyncio.Protocol):
    """Notes what happens to it, with the time."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.events: list[tuple[float, object]] = []
        self.transport: asyncio.Transport

    def note(self, event: object) -> None:
        self.events.append((round(self.clock.monotonic(), 6), event))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.note(data)

    def eof_received(self) -> None:
        self.note("eof")

    def connection_lost(self, exc: Exception | None) -> None:
        self.note(type(exc).__name__)


class NotingBuffered(Noting, asyncio.BufferedProtocol):
    """Reads into a buffer of four bytes."""

    buffer = bytearray(4)

    def get_buffer(self, sizehint: int) -> bytearray:
        return self.buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.note(bytes(self.buffer[:nbytes]))


async def served(clock: FakeClock, network: VirtualNetwork) -> tuple[int, list[Noting]]:
    """Return the port of a listener, and the list of its connections."""
    accepted: list[Noting] = []

    def accept() -> Noting:
        accepted.append(NotingBuffered(clock))
        return accepted[-1]

    listener: Any = network.listen(0)
    server: Any = await asyncio.get_running_loop().create_server(
        accept, sock=listener, start_serving=False
    )
    await server.start_serving()
    return listener.getsockname()[1], accepted


async def connected(
    clock: FakeClock, network: VirtualNetwork, client_id: str = "me"
) -> tuple[Noting, Noting]:
    port, accepted = await served(clock, network)
    mine = Noting(clock)
    await network.connect(port, lambda: mine, client_id)
    return mine, accepted[0]


def test_bytes_arrive_in_order_and_after_the_latency() -> None:
    async def main(clock: FakeClock, network: VirtualNetwork) -> None:
        mine, theirs = await connected(clock, network)
        network.latency_s = 0.5
        mine.transport.write(b"slow")
        network.latency_s = 0.1
        mine.transport.writelines([b"la", b"te", b"r"])
        await clock.sleep(1.0)
        theirs.transport.write(b"answer")
        await clock.sleep(1.0)
        assert theirs.events == [(0.5, b"slow"), (0.5, b"late"), (0.5, b"r")]
        assert mine.events == [(1.1, b"answer")]
        mine.transport.close()

    run_virtual(main)


def test_bytes_take_the_time_of_their_link() -> None:
    async def main(clock: FakeClock, network: VirtualNetwork) -> None:
        mine, theirs = await connected(clock, network)
        network.latency_s, network.bytes_per_s = 1.0, 2.0
        mine.transport.write(b"1234")
        mine.transport.write(b"5")
        await clock.sleep(5.0)
        assert theirs.events == [(3.0, b"1234"), (3.5, b"5")]
        mine.transport.close()

    run_virtual(main)


def test_what_arrives_while_reading_is_paused_is_kept() -> None:
    async def main(clock: FakeClock, network: VirtualNetwork) -> None:
        mine, theirs = await connected(clock, network)
        mine.transport.pause_reading()
        theirs.transport.write(b"1")
        theirs.transport.write(b"2")
        await clock.sleep(1.0)
        assert mine.events == []
        mine.transport.resume_reading()
        await clock.sleep(1.0)
        assert [event for _, event in mine.events] == [b"1", b"2"]
        mine.transport.close()

    run_virtual(main)


def test_a_close_follows_all_bytes_and_a_break_is_a_reset() -> None:
    async def main(clock: FakeClock, network: VirtualNetwork) -> None:
        mine, theirs = await connected(clock, network)
        mine.transport.write(b"last")
        mine.transport.close()
        mine.transport.write(b"lost")
        await clock.sleep(1.0)
        assert [event for _, event in theirs.events] == [b"last", "eof", "NoneType"]
        assert [event for _, event in mine.events] == ["NoneType"]
        mine, theirs = await connected(clock, network)
        theirs.transport.abort()
        await clock.sleep(1.0)
        assert [event for _, event in mine.events] == ["ConnectionResetError"]
        assert mine.transport.is_closing()

    run_virtual(main)


def test_an_isolated_client_is_cut_off_until_it_is_reconnected() -> None:
    async def main(clock: FakeClock, network: VirtualNetwork) -> None:
        mine, theirs = await connected(clock, network, "cut off")
        other, _ = await connected(clock, network, "other")
        network.isolate("cut off")
        await clock.sleep(1.0)
        assert [mine.events[0][1], theirs.events[0][1]] == ["ConnectionResetError"] * 2
        assert other.events == []
        with pytest.raises(ConnectionRefusedError):
            await connected(clock, network, "cut off")
        network.reconnect("cut off")
        again, _ = await connected(clock, network, "cut off")
        again.transport.close()
        other.transport.close()

    run_virtual(main)


def test_a_port_is_taken_once_and_refuses_after_its_listener_has_closed() -> None:
    async def main(clock: FakeClock, network: VirtualNetwork) -> None:
        port, _ = await served(clock, network)
        with pytest.raises(OSError, match="in use"):
            network.listen(port)
        assert network.listen(0).getsockname() == ("127.0.0.1", port + 1)
        network.close(port)
        with pytest.raises(ConnectionRefusedError):
            await network.connect(port, lambda: Noting(clock), "me")

    run_virtual(main)


def test_a_connection_with_tls_is_refused_with_what_to_use() -> None:
    async def main(_: FakeClock, __: VirtualNetwork) -> None:
        (address,) = await resolve(Endpoint("127.0.0.1", 9092))
        handler: Any = object()
        tls: Any = TlsStart(None, "host", lambda: None)  # type: ignore[arg-type]
        trying: Coroutine[Any, Any, object] = connect(
            address, handler, frame_pool=FrameBufferPool(), tls=tls
        )
        with pytest.raises(FeatureNotSupportedError, match="PLAINTEXT or SASL_PLAINTEXT"):
            await trying

    run_virtual(main)
