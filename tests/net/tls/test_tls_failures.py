"""Each mistake with TLS gives its sentence: the address, what OpenSSL said, and the remedy."""

import asyncio
import datetime as dt
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    KafkaError,
    TlsAuthenticationError,
)
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.node_connection import ConnectionConfig, NodeConnection
from aiokafka_lite.net.security import Security
from aiokafka_lite.net.tls.tls_contexts import FixedContext
from aiokafka_lite.net.tls.tls_failures import handshake_error, later_error
from aiokafka_lite.net.tls.tls_settings import TlsSettings, make_context
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.net.support.scripted_node import ScriptedNode
from tests.net.support.tls_peer import TlsPeer
from tests.support.certificates import Authority, Issued
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import PATIENCE_S, eventually


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


async def failure_of(
    node: Endpoint, context: ssl.SSLContext | None, clock: Clock = SYSTEM_CLOCK, **config: float
) -> KafkaError:
    """Return the error with which a connection to a node does not open."""
    security = Security(next_tls_context=FixedContext(context).next_context if context else None)
    made = NodeConnection(
        node,
        node_id=1,
        client_id="test",
        clock=clock,
        config=ConnectionConfig(security=security, **config),  # type: ignore[arg-type]
    )
    with pytest.raises(KafkaError) as caught:
        async with asyncio.timeout(PATIENCE_S):
            await made.open()
    await made.wait_closed()
    assert made.cause is caught.value
    assert str(caught.value.args[0]).startswith(f"node 1 at {node}")
    return caught.value


async def failure_with(
    server: ssl.SSLContext, client: ssl.SSLContext, host: str = "localhost"
) -> KafkaError:
    async with nothing_left_behind(), ScriptedNode(host) as node:
        serving = asyncio.ensure_future(serve(node, server))
        try:
            return await failure_of(node.endpoint, client)
        finally:
            serving.cancel()
            with suppress(asyncio.CancelledError):
                await serving


async def serve(node: ScriptedNode, context: ssl.SSLContext) -> None:
    """Shake hands with each client that comes, one after the other."""
    while True:
        peer = TlsPeer(await node.accept(), context)
        with suppress(ssl.SSLError, ConnectionError):
            await peer.handshake()


async def test_an_authority_that_is_not_trusted_is_named(authority: Authority) -> None:
    issued = authority.issue("localhost")
    error = await failure_with(issued.serving(), Authority().trusted())
    assert isinstance(error, TlsAuthenticationError)
    assert isinstance(error, AuthenticationFailedError)
    assert error.fatal
    assert not error.retriable
    assert "is of an authority that is not trusted (OpenSSL: unable to get" in str(error)
    assert "set ssl_cafile" in str(error)
    assert "was issued by 'trustme v" in str(error)
    assert isinstance(error.__cause__, ssl.SSLCertVerificationError)


async def test_a_name_that_does_not_match_is_told_the_names_of_the_certificate(
    authority: Authority,
) -> None:
    server = authority.issue("kafka-1.example.org", "*.kafka.svc", "10.1.2.3").serving()
    error = await failure_with(server, authority.trusted())
    assert isinstance(error, TlsAuthenticationError)
    assert "the TLS certificate of the broker is not for 'localhost' (OpenSSL: Host" in str(error)
    assert "The certificate is for: kafka-1.example.org, *.kafka.svc, 10.1.2.3" in str(error)
    assert "advertised.listeners" in str(error)


async def test_an_ip_address_is_looked_for_among_those_of_the_certificate(
    authority: Authority,
) -> None:
    error = await failure_with(
        authority.issue("localhost", "127.0.0.2").serving(), authority.trusted(), "127.0.0.1"
    )
    assert "is not for '127.0.0.1' (OpenSSL: IP address mismatch" in str(error)
    assert "The certificate is for: localhost, 127.0.0.2" in str(error)


async def test_a_certificate_that_has_expired_is_told_the_date(authority: Authority) -> None:
    error = await failure_with(authority.issue("localhost", days=-3).serving(), authority.trusted())
    assert isinstance(error, TlsAuthenticationError)
    assert "has expired (OpenSSL: certificate has expired); renew it" in str(error)
    end = dt.datetime.now(dt.UTC) - dt.timedelta(days=3)
    assert f"to {end:%Y-%m-%d}" in str(error)
    assert "UTC" in str(error)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_certificate_of_the_client_that_is_required_is_asked_for(
    authority: Authority, version: ssl.TLSVersion
) -> None:
    """Under TLS 1.3 the handshake succeeds at first; the alert comes with the first read."""
    server = authority.issue("localhost").serving(asks_clients=True)
    server.maximum_version = version
    error = await failure_with(server, authority.trusted())
    assert isinstance(error, TlsAuthenticationError)
    assert "set ssl_certfile" in str(error)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_a_certificate_of_the_client_that_is_refused_is_said(
    authority: Authority, version: ssl.TLSVersion
) -> None:
    server = authority.issue("localhost").serving(asks_clients=True)
    server.maximum_version = version
    stranger = Authority().issue("client@example.org")
    error = await failure_with(server, client_with(authority, stranger))
    assert isinstance(error, TlsAuthenticationError)
    assert "does not accept the certificate of this client (OpenSSL: tlsv1 alert" in str(error)


def client_with(authority: Authority, issued: Issued) -> ssl.SSLContext:
    settings = TlsSettings(
        cadata=authority.pem, certfile=issued.certificate_pem, keyfile=issued.key_pem
    )
    return make_context(settings)


async def test_versions_that_have_nothing_in_common_are_told(authority: Authority) -> None:
    server = authority.issue("localhost").serving()
    server.minimum_version = ssl.TLSVersion.TLSv1_3
    client = authority.trusted()
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    error = await failure_with(server, client)
    assert isinstance(error, TlsAuthenticationError)
    assert "have no TLS version in common" in str(error)
    assert "ssl.enabled.protocols" in str(error)


async def test_ciphers_that_have_nothing_in_common_are_told(authority: Authority) -> None:
    server = authority.issue("localhost").serving()
    server.maximum_version = ssl.TLSVersion.TLSv1_2
    server.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
    client = authority.trusted()
    client.set_ciphers("ECDHE-ECDSA-AES256-GCM-SHA384")
    error = await failure_with(server, client)
    assert isinstance(error, TlsAuthenticationError)
    assert "no TLS cipher or version in common" in str(error)
    assert "ssl.cipher.suites" in str(error)


# Not TLS at the other end…


@asynccontextmanager
async def saying(answer: Callable[[bytes], bytes | None]) -> AsyncIterator[Endpoint]:
    """A node that answers the first bytes of a connection and closes it; None: it does not."""
    ends = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        said = answer(await reader.read(65536))
        if said is None:
            await ends.wait()
        else:
            writer.write(said)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, family=socket.AF_INET)
    try:
        yield Endpoint("127.0.0.1", server.sockets[0].getsockname()[1])
    finally:
        ends.set()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x0a\0\0\0\x01\0\x23\0\0\0\0"]
)
async def test_a_peer_that_speaks_no_tls_is_recognized(said: bytes) -> None:
    async with nothing_left_behind(), saying(lambda _: said) as node:
        error = await failure_of(node, Authority().trusted())
    assert isinstance(error, TlsAuthenticationError)
    # OpenSSL 3.5 has other words for a line of HTTP.
    assert re.search(
        r"the peer does not speak TLS \(OpenSSL: (wrong version number|record layer failure)\)",
        str(error),
    )
    assert "set security_protocol to PLAINTEXT" in str(error)


async def test_a_plaintext_listener_closes_without_a_word() -> None:
    """A broker takes the hello for the size of a request. That may pass: it is tried again."""
    async with nothing_left_behind(), saying(lambda _: b"") as node:
        error = await failure_of(node, Authority().trusted())
    assert isinstance(error, KafkaConnectionError)
    assert error.retriable
    assert "closed the connection during the TLS handshake" in str(error)
    assert "A PLAINTEXT or SASL_PLAINTEXT listener does this" in str(error)


async def test_a_peer_that_never_answers_the_handshake_is_given_up() -> None:
    clock, hellos = FakeClock(), list[bytes]()
    async with nothing_left_behind(), saying(hellos.append) as node:
        trusted = Authority().trusted()
        failing = asyncio.ensure_future(
            failure_of(node, trusted, clock, connection_setup_timeout_ms=200)
        )
        await eventually(lambda: hellos)
        await clock.advance(0.2)
        error = await failing
    assert isinstance(error, KafkaConnectionError)
    assert "did not answer within" in str(error)
    assert "the TCP connection stands, but nothing answers the TLS handshake" in str(error)


async def test_a_client_without_tls_is_told_that_the_listener_speaks_it() -> None:
    """Kafka's answer to a plain request on such a port: an alert of seven bytes."""
    alert = bytes.fromhex("15 03 03 00 02 02 50")
    async with nothing_left_behind(), saying(lambda _: alert) as node:
        error = await failure_of(node, None)
    assert "the peer speaks TLS (alert record, bytes 15 03 03 00)" in str(error)
    assert "security_protocol with TLS on this side" in str(error)


# Without a handshake…


def said(reason: str, cls: type[ssl.SSLError] = ssl.SSLError) -> ssl.SSLError:
    error = cls(1, f"[SSL: {reason}] {reason.lower()} (_ssl.c:1006)")
    error.reason = reason
    return error


def test_a_connection_that_breaks_is_not_a_matter_of_credentials() -> None:
    for broken in (said("UNEXPECTED_EOF_WHILE_READING", ssl.SSLEOFError), ConnectionResetError()):
        error = handshake_error(broken, "h:1", "h")
        assert isinstance(error, KafkaConnectionError)
        assert error.__cause__ is broken


def test_what_has_no_sentence_of_its_own_is_quoted() -> None:
    error = handshake_error(said("DH_KEY_TOO_SMALL"), "h:1", "h")
    assert isinstance(error, TlsAuthenticationError)
    assert str(error.args[0]).startswith("h:1: the TLS handshake failed (OpenSSL: dh key too small")


def test_bytes_that_were_changed_on_the_way_break_the_connection() -> None:
    error = later_error(said("DECRYPTION_FAILED_OR_BAD_RECORD_MAC"), "h:1")
    assert isinstance(error, KafkaConnectionError)
    assert "h:1 broke the connection (decryption failed or bad record mac)" in str(error)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (9, "is not valid yet"),
        (23, "was revoked by its authority"),
        (3, "ssl_crlfile needs the list"),
        (79, "is not accepted (OpenSSL: said)"),
    ],
)
def test_a_certificate_that_is_not_accepted_is_told_why(code: int, sentence: str) -> None:
    cause = ssl.SSLCertVerificationError(1, "[SSL: CERTIFICATE_VERIFY_FAILED]")
    cause.verify_code, cause.verify_message = code, "said."
    assert sentence in str(handshake_error(cause, "h:1", "h"))
