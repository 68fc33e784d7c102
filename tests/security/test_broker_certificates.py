"""A certificate of the broker that clients may not accept: each kind of client says why at once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.admin import AIOKafkaAdminClient
from aiokafka_lite.errors import TlsAuthenticationError
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.certificates import Authority
from tests.support.patience import PATIENCE_S

TOLD_WITHIN_S = 5.0
SENTENCES = {
    "expired": ("has expired (OpenSSL: ", "2020-01-01 00:00:00", "to 2021-01-01 00:00:00 UTC"),
    "wrong_host": ("is not for '127.0.0.1' (OpenSSL: ", "The certificate is for: other.invalid"),
    "unknown_ca": ("is of an authority that is not trusted", "set ssl_cafile", "issued by"),
}


@pytest.mark.parametrize("client", [AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaAdminClient])
@pytest.mark.parametrize("kind", SENTENCES)
async def test_a_start_names_what_is_wrong(client: Any, kind: str) -> None:
    async with EmbeddedBroker(security="SSL") as broker:
        broker.present_certificate(kind)
        made = client(bootstrap_servers=broker.bootstrap_servers, **broker.client_options())
        async with asyncio.timeout(TOLD_WITHIN_S):
            with pytest.raises(TlsAuthenticationError) as raised:
                await made.start()
    text = str(raised.value)
    assert broker.bootstrap_servers in text
    assert [each for each in SENTENCES[kind] if each not in text] == [], text


@pytest.mark.parametrize("kind", SENTENCES)
async def test_a_running_producer_says_it_and_goes_on_once_it_is_renewed(kind: str) -> None:
    async with EmbeddedBroker(security="SSL") as broker:
        broker.create_topic("t")
        made = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            reconnect_backoff_max_ms=50,
            **broker.client_options(),
        )
        async with made as producer, asyncio.timeout(PATIENCE_S):
            await producer.send_and_wait("t", b"before")
            broker.present_certificate(kind)
            broker.drop_connections()
            assert SENTENCES[kind][0] in await what_a_send_says(producer)
            broker.present_certificate("valid")
            await producer.send_and_wait("t", b"after")
        values = [record.value for record in broker.log(("t", 0)).records()]
        assert (values[0], values[-1]) == (b"before", b"after")


async def what_a_send_says(producer: AIOKafkaProducer) -> str:
    """Send until a call raises the error of a connection that did not open."""
    while True:
        try:
            await producer.send("t", b"meanwhile")
        except TlsAuthenticationError as error:
            return str(error)
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("is_path", [False, True])
async def test_a_revoked_certificate_is_refused(*, is_path: bool, tmp_path: Path) -> None:
    """The list of revoked certificates comes as text and as a path."""
    authority = Authority()
    revoked = authority.issue("localhost")
    crl = authority.revoking(revoked)
    if is_path:
        (tmp_path / "crl.pem").write_text(crl)
        crl = str(tmp_path / "crl.pem")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=revoked.serving())
    port = server.sockets[0].getsockname()[1]
    producer = AIOKafkaProducer(
        bootstrap_servers=f"localhost:{port}",
        security_protocol="SSL",
        ssl_cadata=authority.pem,
        ssl_crlfile=crl,
    )
    async with asyncio.timeout(TOLD_WITHIN_S):
        with pytest.raises(TlsAuthenticationError, match="was revoked by its authority"):
            await producer.start()
    server.close()
    await server.wait_closed()
