"""Frames over a socket, from its address to its end."""

import asyncio
import errno
import gc
import socket
import sys
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.net import transport as transport_module
from aiokafka_lite.net.endpoint import Address, Endpoint
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.transport import FrameTransport, TlsStart, address_of, connect, resolve
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.testing.fake_clock import settle
from tests.net.support.pool_bytes import idle_bytes, pooled_bytes
from tests.net.support.recorded_frames import RecordedFrames
from tests.net.support.scripted_node import ScriptedNode, ScriptedPeer, framed
from tests.net.support.tls_peer import TlsPeer, at_the_end_of_a_handshake
from tests.support.certificates import Authority
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import eventually


@asynccontextmanager
async def connected(
    node: ScriptedNode, pool: FrameBufferPool | None = None
) -> AsyncIterator[tuple[FrameTransport, RecordedFrames, ScriptedPeer]]:
    recorded = RecordedFrames()
    address = Address(socket.AF_INET, (node.endpoint.host, node.endpoint.port))
    transport = await connect(address, recorded, frame_pool=pool or FrameBufferPool())
    try:
        yield transport, recorded, await node.accept()
    finally:
        transport.close()
        await transport.wait_closed()


# Over a socket…


async def test_frames_arrive_and_leave(node: ScriptedNode) -> None:
    async with connected(node) as (transport, recorded, peer):
        transport.write([b"\0\0\0\6", bytearray(b"abc"), memoryview(b"def")])
        assert await peer.read_frame() == b"abcdef"
        peer.send(framed(b"answer") + framed(b"b" * 500_000))
        await eventually(lambda: len(recorded.views) == 2)
        assert recorded.frames == [b"answer", b"b" * 500_000]


async def test_can_write_is_false_until_everything_has_left(node: ScriptedNode) -> None:
    async with connected(node) as (transport, recorded, peer):
        assert transport.can_write
        transport.write([b"\1\0\0\0", bytes(2**24)])
        assert not transport.can_write
        await settle()
        assert not transport.can_write
        await peer.read_frame()
        await eventually(lambda: transport.can_write)
        assert recorded.resumed == 1


async def test_a_large_frame_in_many_parts_arrives_as_it_was(node: ScriptedNode) -> None:
    """Also if the system takes a part of it at once, and if it has more parts than one call."""
    bodies = [bytes([number % 251]) * 5000 for number in range(3000)]
    async with connected(node) as (transport, _, peer):
        for parts in (bodies, bodies[:500], bodies[:3]):
            views = [memoryview(part) for part in parts]
            transport.write([sum(map(len, parts)).to_bytes(4, "big"), *views])
        for parts in (bodies, bodies[:500], bodies[:3]):
            assert await peer.read_frame() == b"".join(parts)


async def test_a_batch_that_refers_to_its_values_arrives_as_it_was(node: ScriptedNode) -> None:
    """Also if the system stops in the middle of a value, and if the loop sends all frames."""
    builder = RecordBatchBuilder(bytearray(20_000_000))
    for number in range(4_000):
        builder.append(number, b"key", bytes([number % 251]) * (number % 5_000))
    for sends_itself in (True, False):
        async with connected(node) as (transport, recorded, peer):
            if not sends_itself:
                transport._sends_by = None
            head = (builder.size_in_bytes + 4).to_bytes(4, "big")
            for _ in range(2):  # the second waits behind the first
                transport.write([head, builder.part(), b"tail"])
            assert not transport.can_write
            for _ in range(2):
                assert await peer.read_frame() == bytes(builder.wire()) + b"tail"
            await eventually(partial(getattr, transport, "can_write"))
            assert recorded.resumed == 1


async def test_a_large_frame_is_not_copied_to_be_sent(node: ScriptedNode) -> None:
    body = bytes(40_000)
    async with connected(node) as (transport, _, peer):
        tracemalloc.start()
        try:
            transport.write([len(body).to_bytes(4, "big"), body])
            assert tracemalloc.get_traced_memory()[1] < len(body) / 2
        finally:
            tracemalloc.stop()
        assert await peer.read_frame() == body


@pytest.mark.parametrize("is_encrypted", [False, True])
async def test_a_loop_that_sends_frames_gets_no_more_than_a_piece(is_encrypted: bool) -> None:
    """TLS keeps what it has encrypted, which comes on top of the memory of the batches (C6)."""
    authority = Authority()
    peers: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peers.put_nowait((reader, writer))

    serving = authority.issue("localhost").serving() if is_encrypted else None
    trusted = authority.trusted() if is_encrypted else None
    name = "localhost" if is_encrypted else None
    server = await asyncio.start_server(accept, "127.0.0.1", ssl=serving)
    recorded = RecordedFrames()
    made = FrameTransport(recorded, "peer", FrameBufferPool())
    async with nothing_left_behind(), server:
        host, port = server.sockets[0].getsockname()
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: made, host, port, ssl=trusted, server_hostname=name)
        peer, answers = await peers.get()
        frame = framed(bytes(range(256)) * 2**16)
        resumed = recorded.resumed  # the handshake may pause, too
        for _ in range(2):  # the second waits behind the first
            made.write([frame[:70_000], memoryview(frame)[70_000:]])
        assert not made.can_write
        await settle()
        assert made._transport is not None
        assert made._transport.get_write_buffer_size() < 1_000_000
        for _ in range(2):
            assert await peer.readexactly(len(frame)) == frame
        await eventually(lambda: made.can_write)
        assert recorded.resumed == resumed + 1
        answers.close()
        made.close()
        await made.wait_closed()


async def test_a_small_frame_leaves_at_once(node: ScriptedNode) -> None:
    async with connected(node) as (transport, recorded, _):
        transport.write([framed(b"small")])
        assert transport.can_write
        assert recorded.resumed == 0


async def test_closing_drops_what_has_not_left_and_tells_nothing(node: ScriptedNode) -> None:
    async with connected(node) as (transport, recorded, peer):
        transport.write([b"\1\0\0\0", bytes(2**24)])
        transport.close()
        await transport.wait_closed()
        assert len(await peer.read_to_end()) < 2**24
        assert recorded.lost == []
        assert recorded.resumed == 0
        transport.write([b"ignored"])


async def test_the_end_of_the_stream_is_reported_once(node: ScriptedNode) -> None:
    async with connected(node) as (transport, recorded, peer):
        peer.close()
        await transport.wait_closed()
        assert [str(error) for error in recorded.lost] == [
            f"KafkaConnectionError: {node.endpoint} closed the connection"
        ]


@pytest.mark.parametrize("beginning", [b"\0\0", b"\0\0\0\5abc", b"\0\1\0\0abc"])
async def test_an_end_in_the_middle_of_a_frame_says_so(
    node: ScriptedNode, beginning: bytes
) -> None:
    async with connected(node) as (transport, recorded, peer):
        peer.send(beginning)
        peer.close()
        await transport.wait_closed()
        assert "in the middle of a frame" in str(recorded.lost[0])
        assert recorded.views == []


async def test_a_write_to_a_transport_that_has_just_closed_is_a_connection_error(
    node: ScriptedNode,
) -> None:
    """A write to a transport that uvloop has just closed is a connection error (H1)."""
    async with connected(node) as (transport, recorded, _):

        class Closed:
            def is_closing(self) -> bool:
                return False

            def get_write_buffer_size(self) -> int:
                return 0

            def write(self, piece: object) -> None:
                raise RuntimeError("unable to perform operation on <TCPTransport closed=True>")

            def abort(self) -> None:
                real.abort()

        real: Any = transport._transport
        transport._transport = Closed()  # type: ignore[assignment]
        transport._sends_by = None  # the loop sends all frames, as with TLS
        transport.write([b"x"])
        (error,) = recorded.lost
        assert isinstance(error, KafkaConnectionError)
        assert isinstance(error.__cause__, RuntimeError)


async def test_buffers_are_let_go_with_the_connection(node: ScriptedNode) -> None:
    pool = FrameBufferPool()
    async with connected(node, pool) as (transport, _, peer):
        peer.send(b"\0\1\0\0" + bytes(50))
        await eventually(lambda: pooled_bytes(pool))
        peer.reset()
        await transport.wait_closed()
        gc.collect()
        assert idle_bytes(pool) == pooled_bytes(pool)


# Getting there…


async def test_an_ip_address_is_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await resolve(Endpoint("127.0.0.1", 1)) == [Address(socket.AF_INET, ("127.0.0.1", 1))]
    assert await resolve(Endpoint("::1", 1)) == [Address(socket.AF_INET6, ("::1", 1, 0, 0))]


async def test_a_name_gives_every_address_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def getaddrinfo(host: str, port: int, **options: object) -> list[Any]:
        assert (host, port) == ("kafka.example", 9092)
        four = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", port))
        six = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("fd00::1", port, 0, 0))
        return [six, four, four, (socket.AF_UNIX, 1, 0, "", "/x")]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo, raising=False)
    assert [str(address) for address in await resolve(Endpoint("kafka.example", 9092))] == [
        "[fd00::1]:9092",
        "10.0.0.1:9092",
    ]


async def test_a_name_that_cannot_be_encoded_is_a_connection_error() -> None:
    with pytest.raises(KafkaConnectionError, match=r"a\.\.b:9092 is no valid host name"):
        await resolve(Endpoint("a..b", 9092))


async def test_connecting_asks_no_resolver(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Connecting to an address asks no name server, which may be slow (H4)."""

    async def getaddrinfo(*arguments: object, **options: object) -> list[Any]:
        raise AssertionError(f"looked up {arguments}")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo, raising=False)
    async with connected(node) as (transport, _, peer):
        transport.write([framed(b"hello")])
        assert await peer.read_frame() == b"hello"


async def test_a_refused_connection_is_an_error_with_the_systems_as_its_cause() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = Address(socket.AF_INET, taken.getsockname())
        with pytest.raises(KafkaConnectionError, match="refused the connection") as caught:
            await connect(address, RecordedFrames(), frame_pool=FrameBufferPool())
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)


async def test_a_connect_cancelled_while_the_peer_is_silent_leaves_no_socket() -> None:
    with socket.socket() as full, ExitStack() as earlier:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):  # Linux drops what comes when the queue of `listen` is full
            queued = earlier.enter_context(socket.socket())
            queued.setblocking(False)
            queued.connect_ex(full.getsockname())
        address = Address(socket.AF_INET, full.getsockname())
        async with nothing_left_behind():
            connecting = asyncio.ensure_future(
                connect(address, RecordedFrames(), frame_pool=FrameBufferPool())
            )
            await settle()
            assert not connecting.done()
            connecting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await connecting


@pytest.mark.parametrize("turns", [0, 1])
async def test_a_connect_cancelled_as_tls_is_ready_leaves_no_socket(
    monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    """The peer neither says goodbye nor closes. The next connection has a working socket, also
    with the same number."""
    authority = Authority()
    server = authority.issue("localhost").serving()
    async with nothing_left_behind(), ScriptedNode() as node:
        address = Address(socket.AF_INET, (node.endpoint.host, node.endpoint.port))
        connecting = asyncio.ensure_future(
            connect(
                address,
                RecordedFrames(),
                frame_pool=FrameBufferPool(),
                tls=TlsStart(authority.trusted(), "localhost", lambda: None),
            )
        )
        loop = asyncio.get_running_loop()
        cancel: Callable[[], object] = connecting.cancel
        for _ in range(turns):
            cancel = partial(loop.call_soon, cancel)
        at_the_end_of_a_handshake(monkeypatch, cancel)
        peer = await node.accept()
        await TlsPeer(peer, server).handshake()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        await peer.read_to_end()
        async with connected(node) as (transport, recorded, next_peer):
            transport.write([framed(b"hello")])
            assert await next_peer.read_frame() == b"hello"
            next_peer.send(framed(b"answer"))
            await eventually(lambda: recorded.frames == [b"answer"])


async def test_a_socket_that_a_future_brings_as_the_connect_is_cancelled_is_closed() -> None:
    asked: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
    with socket.socket() as brought:
        connecting = asyncio.ensure_future(
            connect(
                address_of(Endpoint("kafka.internal", 9092)),
                RecordedFrames(),
                frame_pool=FrameBufferPool(),
                connector=lambda host, port: asked,
            )
        )
        await settle()
        asked.set_result(brought)
        connecting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await connecting
        assert brought.fileno() == -1


async def test_no_more_file_descriptors_is_a_connection_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_more(*arguments: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(transport_module, "_configure", no_more)
    address = Address(socket.AF_INET, ("127.0.0.1", 9092))
    with pytest.raises(KafkaConnectionError, match="Too many open files"):
        await connect(address, RecordedFrames(), frame_pool=FrameBufferPool())


# Awaiting the bytes of a large frame…


def awaited(transport: FrameTransport) -> int:
    """Return how many bytes have to come before the system wakes up the loop."""
    sock = transport._socket
    assert sock is not None
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT)


@pytest.mark.skipif(sys.platform != "linux", reason="SO_RCVLOWAT wakes up the loop on Linux alone")
async def test_the_bytes_of_a_large_frame_are_awaited_and_small_frames_are_not(
    node: ScriptedNode,
) -> None:
    async with connected(node) as (transport, recorded, peer):
        body = bytes(range(256)) * 4096
        assert awaited(transport) == 1
        whole = framed(body)
        for end in range(16_000, 480_000, 16_000):
            peer.send(whole[end - 16_000 : end])
            await settle()
        await eventually(lambda: awaited(transport) == 128 * 1024)
        peer.send(whole[464_000:-1])
        await eventually(lambda: awaited(transport) == 1)
        assert not recorded.frames
        peer.send(whole[-1:] + framed(b"small"))
        await eventually(lambda: len(recorded.frames) == 2)
        assert recorded.frames == [body, b"small"]


@pytest.mark.parametrize("left", [1, 10_000, 19_999, 20_001, 39_999, 40_001, 140_000, 300_000])
async def test_a_large_frame_that_stops_anywhere_is_gone_on_with_and_broken_off(
    node: ScriptedNode, left: int
) -> None:
    async with connected(node) as (_, recorded, peer):
        body = bytes(range(256)) * 2048
        whole = framed(body)
        for _ in range(2):
            peer.send(whole[:-left])
            await settle()
            for start in range(len(whole) - left, len(whole), 16_000):
                peer.send(whole[start : start + 16_000])
                await settle()
        await eventually(lambda: recorded.frames == [body, body])
        peer.send(whole[:-left])
        peer.close()
        await eventually(lambda: len(recorded.lost) == 1)
        assert "in the middle of a frame" in str(recorded.lost[0])
