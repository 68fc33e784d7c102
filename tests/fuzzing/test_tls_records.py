"""The border of TLS records: split at every byte, broken off, abused; the client never hangs.

The node is a TLS server in memory behind a plain socket, so a test decides about every byte.
"""

import asyncio
import resource
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import KafkaConnectionError, KafkaError, ProtocolDecodeError
from aiokafka_lite.net.connection_config import ConnectionConfig
from aiokafka_lite.net.node_connection import NodeConnection
from aiokafka_lite.net.security import Security
from aiokafka_lite.net.tls.tls_contexts import FixedContext
from aiokafka_lite.net.tls.tls_settings import TlsSettings, make_context
from aiokafka_lite.protocol.messages.metadata import MetadataResponse, MetadataResponseBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.net.support.connections import answered, ask, metadata_named
from tests.net.support.scripted_node import ScriptedNode, answer_bytes
from tests.net.support.tls_peer import TlsPeer
from tests.support.certificates import Authority
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import PATIENCE_S, eventually

AUTHORITY = Authority()
SERVING = AUTHORITY.issue("localhost")
PREFIX_OF_2_GIB = struct.pack(">i", 2**31 - 1)


def connection_to(
    node: ScriptedNode, clock: Clock = SYSTEM_CLOCK, **options: float
) -> NodeConnection:
    context = make_context(TlsSettings(cadata=AUTHORITY.pem))
    security = Security(next_tls_context=FixedContext(context).next_context)
    config = ConnectionConfig(security=security, **options)  # type: ignore[arg-type]
    return NodeConnection(node.endpoint, node_id=1, client_id="test", clock=clock, config=config)


class Ends(NamedTuple):
    """Both ends of one connection."""

    client: NodeConnection
    peer: TlsPeer


@asynccontextmanager
async def connected(
    version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3,
    send: Callable[[TlsPeer], Callable[[bytes], object]] | None = None,
) -> AsyncIterator[Ends]:
    """A connection that is ready, over TLS."""
    serving = SERVING.serving()
    serving.maximum_version = version
    async with nothing_left_behind(), ScriptedNode("localhost") as node:
        client = connection_to(node)
        opening = asyncio.ensure_future(client.open())
        peer = TlsPeer(await node.accept(), serving)
        await peer.handshake(send and send(peer))
        await peer.shake_hands()
        await opening
        try:
            yield Ends(client, peer)
        finally:
            client.close()
            await client.wait_closed()


async def failure_of(call: "asyncio.Task[object]") -> KafkaError:
    with pytest.raises(KafkaError) as caught:
        async with asyncio.timeout(PATIENCE_S):
            await call
    return caught.value


async def until_read() -> None:
    """Let the client read what has been sent to it."""
    for _ in range(3):
        await asyncio.sleep(0)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_an_answer_may_be_split_at_every_byte(version: ssl.TLSVersion) -> None:
    async with connected(version) as (client, peer):
        split, size = 1, 2
        while split < size:
            call = ask(client)
            _, api_version, correlation_id = await peer.read_request()
            data = peer.encrypted(answer_bytes(metadata_named("m"), api_version, correlation_id))
            size = len(data)
            peer.peer.send(data[:split])
            await until_read()
            assert not call.done()
            peer.peer.send(data[split:])
            assert await answered(call) == "m"
            split += 1
        assert size > 40


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_handshake_may_come_byte_by_byte(version: ssl.TLSVersion) -> None:
    def dripping(peer: TlsPeer) -> Callable[[bytes], object]:
        def send(data: bytes) -> None:
            for byte in data:
                peer.peer.send(bytes([byte]))

        return send

    async with connected(version, dripping) as (client, peer):
        call = ask(client)
        _, api_version, correlation_id = await peer.read_request()
        data = peer.encrypted(answer_bytes(metadata_named("m"), api_version, correlation_id))
        await peer.peer.send_slowly(data)
        assert await answered(call) == "m"


async def test_frames_and_records_need_not_begin_together() -> None:
    """Each byte of a frame in a record of its own, then many frames in one record."""
    async with connected() as (client, peer):
        calls = [ask(client) for _ in range(5)]
        answers = b""
        for _ in calls:
            _, api_version, correlation_id = await peer.read_request()
            answers += answer_bytes(metadata_named("m"), api_version, correlation_id)
        half = len(answers) // 2
        for byte in answers[:half]:
            peer.peer.send(peer.encrypted(bytes([byte])))
        peer.peer.send(peer.encrypted(answers[half:]))
        assert [await answered(call) for call in calls] == ["m"] * 5


@pytest.mark.parametrize("size", [33_000, 60_000, 90_000, 200_000, 1_000_000])
async def test_a_large_answer_may_stop_at_any_record(size: int) -> None:
    """The client awaits many bytes of it at once, and never more than will come."""
    async with connected() as (client, peer):
        nodes = [
            MetadataResponseBroker(node_id=number, host="h" * 1000, port=1)
            for number in range(size // 1000)
        ]
        large = MetadataResponse(cluster_id="m", brokers=nodes, topics=[])
        for records_at_once in (1, 3, 9):
            call = ask(client)
            _, api_version, correlation_id = await peer.read_request()
            answer = answer_bytes(large, api_version, correlation_id)
            assert len(answer) > size
            step = records_at_once * 16_384
            for start in range(0, len(answer), step):
                data = peer.encrypted(answer[start : start + step])
                peer.peer.send(data[:-9])
                await until_read()
                peer.peer.send(data[-9:])
                await until_read()
            assert await answered(call) == "m"


async def test_a_changed_byte_ends_the_connection() -> None:
    async with connected() as (client, peer):
        call = ask(client)
        _, api_version, correlation_id = await peer.read_request()
        data = bytearray(
            peer.encrypted(answer_bytes(metadata_named("m"), api_version, correlation_id))
        )
        data[-1] ^= 1
        peer.peer.send(bytes(data))
        error = await failure_of(call)
        assert isinstance(error, KafkaConnectionError)
        assert "broke the connection" in str(error)
        assert not client.is_open


@pytest.mark.parametrize("in_a_frame", [False, True])
@pytest.mark.parametrize("says_goodbye", [False, True])
async def test_a_peer_that_closes_its_half_ends_the_connection(
    *, in_a_frame: bool, says_goodbye: bool
) -> None:
    """With the alert close_notify, and without it, as when a network cuts the connection off."""
    async with connected() as (client, peer):
        call = ask(client)
        _, api_version, correlation_id = await peer.read_request()
        if in_a_frame:
            answer = answer_bytes(metadata_named("m"), api_version, correlation_id)
            peer.peer.send(peer.encrypted(answer[:-1]))
        if says_goodbye:
            peer.peer.send(peer.goodbye())
        peer.peer.writer.write_eof()
        error = await failure_of(call)
        assert isinstance(error, KafkaConnectionError)
        assert error.retriable
        assert not client.is_open


async def test_a_peer_that_says_goodbye_and_stays_ends_the_connection() -> None:
    async with connected() as (client, peer):
        call = ask(client)
        await peer.read_request()
        peer.peer.send(peer.goodbye())
        assert isinstance(await failure_of(call), KafkaConnectionError)
        assert not client.is_open


async def test_an_answer_of_2_gib_is_refused_at_its_first_bytes() -> None:
    async with connected() as (client, peer):
        call = ask(client)
        await peer.read_request()
        before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peer.peer.send(peer.encrypted(PREFIX_OF_2_GIB + bytes(100_000)))
        error = await failure_of(call)
        assert "2147483647 bytes was announced, above the limit" in str(error.__cause__ or error)
        grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
        assert grown_kb < 32 * 1024
        assert not client.is_open


async def test_a_stream_without_end_before_the_first_answer_is_refused() -> None:
    """Each byte of it is valid TLS, and the frame that it announces is too large."""
    async with nothing_left_behind(), ScriptedNode("localhost") as node:
        client = connection_to(node)
        opening = asyncio.ensure_future(client.open())
        peer = TlsPeer(await node.accept(), SERVING.serving())
        await peer.handshake()
        with suppress(ConnectionError, RuntimeError):  # uvloop's, once the client has closed
            while not opening.done():
                peer.peer.send(peer.encrypted(b"\x7f" * 16_000))
                await asyncio.sleep(0)
        error = await failure_of(opening)
        assert "above the limit" in str(error)
        await client.wait_closed()


async def test_a_peer_that_never_answers_over_tls_is_given_up() -> None:
    """The handshake of TLS succeeds, and nothing follows."""
    clock = FakeClock()
    async with nothing_left_behind(), ScriptedNode("localhost") as node:
        client = connection_to(node, clock, connection_setup_timeout_ms=200)
        opening = asyncio.ensure_future(client.open())
        peer = TlsPeer(await node.accept(), SERVING.serving())
        await peer.handshake()
        await clock.advance(0.2)
        error = await failure_of(opening)
        assert isinstance(error, KafkaConnectionError)
        assert "did not answer within" in str(error)
        await client.wait_closed()


@pytest.mark.parametrize("cut", [0, 1, 5, 6, 50, 500])
async def test_a_handshake_that_is_cut_off_is_a_connection_error(cut: int) -> None:
    async with nothing_left_behind(), ScriptedNode("localhost") as node:
        client = connection_to(node)
        opening = asyncio.ensure_future(client.open())
        peer = TlsPeer(await node.accept(), SERVING.serving())

        def send(data: bytes) -> None:
            peer.peer.send(data[:cut])
            peer.peer.close()

        with suppress(ssl.SSLError, ConnectionError):
            await peer.handshake(send)
        error = await failure_of(opening)
        assert isinstance(error, KafkaConnectionError)
        assert "during the TLS handshake" in str(error)
        await client.wait_closed()


@pytest.mark.parametrize("place", range(0, 120, 3))
async def test_a_hello_with_a_changed_byte_gives_a_bounded_error(place: int) -> None:
    """The first record of the node is plain text, so anybody on the way can change it.

    Some changes let the client wait for more. It gives up when its time is over.
    """
    clock = FakeClock()
    async with nothing_left_behind(), ScriptedNode("localhost") as node:
        client = connection_to(node, clock, connection_setup_timeout_ms=500)
        opening = asyncio.ensure_future(client.open())
        peer = TlsPeer(await node.accept(), SERVING.serving())
        was_sent = False

        def send(data: bytes) -> None:
            nonlocal was_sent
            if data and not was_sent:
                data = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
                was_sent = True
            peer.peer.send(data)

        handshake = asyncio.ensure_future(peer.handshake(send))
        await eventually(lambda: was_sent)
        await until_read()
        await clock.advance(0.5)
        with suppress(ssl.SSLError, ConnectionError):
            await handshake
        peer.peer.close()
        error = await failure_of(opening)
        assert not isinstance(error, ProtocolDecodeError)
        await client.wait_closed()


def test_renegotiation_is_refused(tmp_path: Path) -> None:
    """OpenSSL's own server asks for it with the letter R; the client does not take part."""
    (tmp_path / "node.pem").write_text(SERVING.certificate_pem + SERVING.key_pem)
    context = make_context(TlsSettings(cadata=AUTHORITY.pem))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    command = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", str(tmp_path / "node.pem")]
    with subprocess.Popen(
        [*command, "-tls1_2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            port = next(int(line.rpartition(":")[2]) for line in server.stdout if "ACCEPT" in line)
            asyncio.run(refuse_to_renegotiate(port, context, server))
        finally:
            server.kill()


async def refuse_to_renegotiate(
    port: int, context: ssl.SSLContext, server: "subprocess.Popen[str]"
) -> None:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname="localhost"
    )
    writer.write(b"hello\n")
    assert server.stdin is not None
    server.stdin.write("R\n")
    server.stdin.flush()
    with pytest.raises(ssl.SSLError, match="HANDSHAKE_FAILURE"):  # the server gives up for it
        async with asyncio.timeout(PATIENCE_S):
            await reader.read()
    writer.close()
    with suppress(ssl.SSLError, ConnectionError):
        await writer.wait_closed()
