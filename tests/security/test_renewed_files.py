"""Certificates and tokens that are renewed badly, or slowly, while a client runs."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaProducer, OidcTokenProvider
from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.security.certificates import ClientCertificate
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.support.patience import PATIENCE_S


class CertificateFile:
    """The file with the certificate and the key of a client, as a program renews it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, certificate: ClientCertificate, *, part: float = 1.0) -> None:
        text = certificate.certificate_pem + certificate.key_pem
        self.path.write_text(text[: int(len(text) * part)])


async def until_told(producer: AIOKafkaProducer) -> str:
    """Send until a call says that the broker refuses the client."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                await producer.send("t", b"waits", partition=0)
            except AuthenticationFailedError as error:
                return str(error)
            await asyncio.sleep(0.01)


async def test_bad_certificates_harm_no_open_connection_and_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = CertificateFile(tmp_path / "client.pem")
    async with EmbeddedBroker(security="SSL", ssl_client_auth="required") as broker:
        broker.create_topic("t")
        file.write(broker.client_certificate("alice"))
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            security_protocol="SSL",
            ssl_cadata=broker.ca_pem,
            ssl_certfile=str(file.path),
            linger_ms=0,
            reconnect_backoff_max_ms=100,
            retry_backoff_max_ms=100,
        )
        async with producer:
            await producer.send_and_wait("t", b"0", partition=0)

            # Half of a file: open connections go on, and so do new ones, with the old certificate.
            opened = len(broker.requests_of(ApiVersionsRequest))
            file.write(broker.client_certificate("alice"), part=0.7)
            await producer.send_and_wait("t", b"1", partition=0)
            assert len(broker.requests_of(ApiVersionsRequest)) == opened
            with caplog.at_level(logging.WARNING):
                broker.drop_connections()
                await producer.send_and_wait("t", b"2", partition=0)
            assert str(file.path) in caplog.text
            assert "new connections go on with what was read before" in caplog.text

            # A certificate that has expired: open connections go on, the next one is refused.
            file.write(broker.client_certificate("alice", "expired"))
            await producer.send_and_wait("t", b"3", partition=0)
            broker.drop_connections()
            told = await until_told(producer)
            assert "set ssl_certfile and ssl_keyfile to one that has not expired" in told

            # A whole, valid file: what waited is written, and nothing is said any more.
            file.write(broker.client_certificate("alice"))
            async with asyncio.timeout(PATIENCE_S):
                await producer.flush()
        values = [record.value for record in broker.log(("t", 0)).records()]
        assert values[:4] == [b"0", b"1", b"2", b"3"]
        assert set(values[4:]) == {b"waits"}


class SlowEndpoint:
    """A token endpoint that answers when the test allows it, and counts what it was asked."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.broker = broker
        self.asked = 0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        self.asked += 1
        await self.may_answer.wait()
        token = self.broker.unsecured_token("alice", 100)
        body = json.dumps({"access_token": token, "expires_in": 100}).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        writer.close()


@asynccontextmanager
async def slow_endpoint(broker: EmbeddedBroker) -> AsyncIterator[SlowEndpoint]:
    endpoint = SlowEndpoint(broker)
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    async with server:
        endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/token"
        yield endpoint
        endpoint.may_answer.set()


async def test_many_connections_wait_for_one_fetch_and_go_on_meanwhile() -> None:
    """Five clients share a provider. Its endpoint gets slow while all their sessions end."""
    clock = FakeClock()
    async with (
        EmbeddedBroker(
            2, security="SASL_PLAINTEXT", mechanisms=["OAUTHBEARER"], clock=clock
        ) as broker,
        slow_endpoint(broker) as endpoint,
    ):
        broker.create_topic("t", 2)
        tokens = OidcTokenProvider(endpoint.url, "alice", "secret", clock=clock)
        options: dict[str, Any] = {
            "bootstrap_servers": broker.bootstrap_servers,
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauth_token_provider": tokens,
            "clock": clock,
        }
        producers = [AIOKafkaProducer(**options, linger_ms=0) for _ in range(5)]

        async def write() -> None:
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(
                    *(
                        producer.send_and_wait("t", b"x", partition=partition)
                        for producer in producers
                        for partition in (0, 1)
                    )
                )

        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*(producer.start() for producer in producers))
        await write()
        assert endpoint.asked == 1
        opened = len(broker.requests_of(ApiVersionsRequest))
        endpoint.may_answer.clear()
        async with asyncio.timeout(PATIENCE_S):
            while endpoint.asked == 1:
                await clock.advance(0.25)
        await clock.advance(3)  # more connections begin, and wait for the same answer
        await write()
        assert endpoint.asked == 2
        endpoint.may_answer.set()
        await write()
        async with asyncio.timeout(PATIENCE_S):
            while clock.monotonic() < 105:  # past the end of the first token
                await clock.advance(0.25)
                await write()
        assert endpoint.asked == 2
        assert len(broker.requests_of(ApiVersionsRequest)) == opened

        # An endpoint that does not answer: one bound for all that wait, and all recover.
        endpoint.may_answer.clear()
        async with asyncio.timeout(PATIENCE_S):
            while endpoint.asked == 2:
                await clock.advance(0.25)
        await clock.advance(4)
        assert endpoint.asked <= 4
        endpoint.may_answer.set()
        for producer in producers:
            writing = asyncio.ensure_future(written(producer))
            async with asyncio.timeout(PATIENCE_S):
                while not writing.done():
                    await clock.advance(0.05)
            await writing
        stopping = asyncio.gather(*(producer.stop() for producer in producers))
        async with asyncio.timeout(PATIENCE_S):
            while not stopping.done():
                await clock.advance(0.05)
        await stopping


async def written(producer: AIOKafkaProducer) -> None:
    """Write a record; an error of the time before is told once by each producer."""
    try:
        await producer.send_and_wait("t", b"x", partition=0)
    except AuthenticationFailedError:
        await producer.send_and_wait("t", b"x", partition=0)
