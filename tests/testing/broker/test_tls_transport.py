"""TLS below a connection, without the loops' own TLS."""

import asyncio
import ssl

import pytest

from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from aiokafka_lite.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
)
from aiokafka_lite.protocol.request_frame import encode_request
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.security.certificates import Certificates
from aiokafka_lite.testing.broker.tls_transport import TlsTransport
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import eventually
from tests.testing.broker.bench import WireClient, batch


async def test_requests_and_large_answers_pass(caplog: pytest.LogCaptureFixture) -> None:
    async with nothing_left_behind(), EmbeddedBroker(security="SSL") as broker:
        broker.create_topic("t")
        big = batch(b"x" * 3_000_000)
        broker.append(("t", 0), big)
        partition = FetchPartition(partition=0, partition_max_bytes=1 << 23)
        topic = FetchTopic(topic="t", partitions=[partition])
        request = FetchRequest(max_bytes=1 << 23, min_bytes=1, topics=[topic])
        async with await WireClient.connect(
            broker.bootstrap_servers, broker.ssl_context()
        ) as client:
            answer = await client.ask(request, 12)
        assert len(answer.responses[0].partitions[0].records or b"") == len(big)
    assert not caplog.records


async def test_a_request_split_at_each_byte_of_its_records_is_understood() -> None:
    """TLS records arrive in pieces of any size."""
    async with nothing_left_behind(), EmbeddedBroker(security="SSL") as broker:
        host, _, port = broker.bootstrap_servers.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = broker.ssl_context().wrap_bio(incoming, outgoing, server_hostname=host)

        async def send_bytewise() -> None:
            for byte in outgoing.read():
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0)

        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await send_bytewise()
                incoming.write(await reader.read(65536))
        tls.write(
            b"".join(
                encode_request(ApiVersionsRequest(), version=0, correlation_id=7, client_id="c")
            )
        )
        await send_bytewise()
        answer = b""
        async with asyncio.timeout(30):
            while len(answer) < 4 or len(answer) < 4 + int.from_bytes(answer[:4], "big"):
                try:
                    answer += tls.read(65536)
                except ssl.SSLWantReadError:
                    incoming.write(await reader.read(65536))
        assert answer[4:8] == (7).to_bytes(4, "big")
        writer.close()
        await writer.wait_closed()


async def test_a_plain_client_gets_an_alert_and_is_closed() -> None:
    """It reads a TLS alert, 15 03 …, as a real broker sends."""
    async with nothing_left_behind(), EmbeddedBroker(security="SSL") as broker:
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            client.send(ApiVersionsRequest(), 0)
            async with asyncio.timeout(30):
                seen = await client.reader.read()
        assert seen == bytes.fromhex("15 03 03 00 02 02 50")


async def test_a_client_that_closes_first_leaves_nothing() -> None:
    async with nothing_left_behind(), EmbeddedBroker(security="SSL") as broker:
        async with await WireClient.connect(
            broker.bootstrap_servers, broker.ssl_context()
        ) as client:
            await client.ask(ApiVersionsRequest())
        await eventually(lambda: not broker._servers[0].connections)


async def test_connections_end_with_the_broker_in_a_handshake_and_after() -> None:
    async with nothing_left_behind():
        async with EmbeddedBroker(security="SSL") as broker:
            silent = await WireClient.connect(broker.bootstrap_servers)
            ready = await WireClient.connect(broker.bootstrap_servers, broker.ssl_context())
            await ready.ask(ApiVersionsRequest())
        for client in (silent, ready):
            async with client:
                assert await client.is_closed_by_peer()


class Socket(asyncio.Transport):
    """Notes what is asked of it, and passes bytes to a TLS client in memory."""

    def __init__(self, incoming: ssl.MemoryBIO) -> None:
        super().__init__()
        self.incoming = incoming
        self.asked: list[str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.incoming.write(data)

    def is_closing(self) -> bool:
        return "close" in self.asked

    def close(self) -> None:
        self.asked.append("close")

    def pause_reading(self) -> None:
        self.asked.append("pause_reading")

    def resume_reading(self) -> None:
        self.asked.append("resume_reading")


class Above(asyncio.Protocol):
    """Notes what it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def pause_writing(self) -> None:
        self.told.append("pause_writing")

    def resume_writing(self) -> None:
        self.told.append("resume_writing")


class Known:
    """The open connections of a node."""

    def __init__(self) -> None:
        self.open: set[object] = set()

    def opened(self, connection: object) -> None:
        self.open.add(connection)

    def lost(self, connection: object) -> None:
        self.open.discard(connection)


def connected() -> tuple[TlsTransport, Socket, Above, ssl.SSLObject]:
    """A connection in memory, its handshake done; the client's side comes last."""
    certificates, above = Certificates(["localhost"]), Above()
    transport = TlsTransport(above, certificates.server_context("none"), Known(), is_mute=False)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context(cadata=certificates.ca_pem)
    client = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    below = Socket(incoming)
    transport.connection_made(below)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    transport.data_received(outgoing.read())
    client.do_handshake()
    transport.data_received(outgoing.read())
    return transport, below, above, client


def test_a_close_is_told_by_close_notify() -> None:
    """The peer can tell the end from a cut connection."""
    transport, below, _, client = connected()
    transport.writelines([b"the ", b"end"])
    transport.close()
    assert client.read(100) == b"the end"
    assert client.read(100) == b""  # without close_notify it would wait for more
    assert below.asked == ["close"]


def test_pauses_pass_in_both_directions() -> None:
    transport, below, above, _ = connected()
    transport.pause_reading()
    transport.resume_reading()
    assert below.asked == ["pause_reading", "resume_reading"]
    transport.pause_writing()
    transport.resume_writing()
    assert above.told == ["pause_writing", "resume_writing"]


async def test_no_request_behind_a_waiting_one_is_lost() -> None:
    """Many of them stop the reading for a while."""
    async with nothing_left_behind(), EmbeddedBroker(security="SSL") as broker:
        broker.create_topic("t")
        partition = FetchPartition(partition=0, partition_max_bytes=1 << 20)
        waiting = FetchRequest(
            max_wait_ms=60_000, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[partition])]
        )
        async with await WireClient.connect(
            broker.bootstrap_servers, broker.ssl_context()
        ) as client:
            client.send(waiting, 12)
            sent = [client.send(ApiVersionsRequest(), 0) for _ in range(40)]
            await broker.wait_until(lambda: len(broker.requests) == 1)
            broker.append(("t", 0), batch())
            await client.receive_frame()
            received = [(await client.receive(ApiVersionsResponse, 0))[0] for _ in sent]
            assert received == sent
