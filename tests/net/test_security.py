"""TLS and authentication: the connection opens with what `Security` says, or the error names the
node. No mechanism exists yet; a small one of the test's own goes through the steps.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    SaslAuthenticationFailed,
    TlsAuthenticationError,
)
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.handshake import AuthenticationSteps, HandshakeRequest
from aiokafka_lite.net.node_connection import ConnectionConfig, NodeConnection
from aiokafka_lite.net.security import Authentication, Security
from aiokafka_lite.net.tls.tls_contexts import FixedContext
from aiokafka_lite.protocol.message_header import decode_response
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse
from aiokafka_lite.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.net.support.connections import answered, ask, metadata_named
from tests.net.support.scripted_node import ScriptedNode, ScriptedPeer, framed
from tests.support.leftovers import nothing_left_behind

CERTIFICATE = Path(__file__).parent / "tls" / "localhost.pem"
"""For localhost, self-signed, with its key; valid until 2120. Only these tests trust it."""


class KnownUsers:
    """A mechanism of the test's: it asks for metadata, and the answer stands for a consent."""

    def __init__(self) -> None:
        self.clusters: list[str | None] = []

    def __call__(self, endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        version = versions.pick(MetadataRequest)
        frame = yield HandshakeRequest(MetadataRequest(topics=[]), version)
        _, answer = decode_response(MetadataResponse, frame, version)
        self.clusters.append(answer.cluster_id)
        return 0


def connection(node: ScriptedNode, **security: Any) -> NodeConnection:
    config = ConnectionConfig(security=Security(**security))
    return NodeConnection(
        node.endpoint, node_id=1, client_id="test", clock=SYSTEM_CLOCK, config=config
    )


async def opening(
    node: ScriptedNode, authentication: Authentication
) -> tuple[NodeConnection, "asyncio.Task[None]", ScriptedPeer]:
    """Begin to open a connection whose node has told its versions."""
    made = connection(node, authentication=authentication)
    task = asyncio.ensure_future(made.open())
    peer = await node.accept()
    await peer.shake_hands()
    return made, task, peer


async def closed(made: NodeConnection) -> None:
    made.close()
    await made.wait_closed()


# Authentication…


def client_of(broker: EmbeddedBroker, authentication: Authentication) -> KafkaClient:
    """Return a client whose connections authenticate by a mechanism of the test's."""

    class SecuredConfig(ClientConfig):
        def security(self, clock: Clock = SYSTEM_CLOCK) -> Security:
            return replace(super().security(clock), authentication=authentication)

    return KafkaClient(SecuredConfig(bootstrap_servers=broker.bootstrap_servers))


async def test_every_connection_of_a_client_authenticates_before_its_first_request() -> None:
    known = KnownUsers()
    async with nothing_left_behind(), EmbeddedBroker(2) as broker:
        client = client_of(broker, known)
        await client.start()
        for node_id in (1, 2):
            await client.network.request(node_id, MetadataRequest(topics=[]))
        assert len(known.clusters) == 2  # each of the nodes, one of them as a seed
        assert set(known.clusters) == {client.metadata.snapshot.cluster_id}
        await client.close()


async def test_a_refusal_names_the_node_and_what_it_said(node: ScriptedNode) -> None:
    def refused(endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        frame = yield HandshakeRequest(SaslAuthenticateRequest(auth_bytes=b"secret"), 2)
        _, answer = decode_response(SaslAuthenticateResponse, frame, 2)
        raise SaslAuthenticationFailed(answer.error_message or "")

    made, task, peer = await opening(node, refused)
    _, version, correlation_id = await peer.read_request()
    refusal = SaslAuthenticateResponse(
        error_code=58, error_message="Invalid username", auth_bytes=b""
    )
    peer.answer(refusal, version, correlation_id)
    with pytest.raises(AuthenticationFailedError) as caught:
        await task
    assert str(caught.value).startswith(
        f"AuthenticationFailedError: node 1 at {node.endpoint}: the authentication failed: "
        "Invalid username"
    )
    assert isinstance(caught.value.__cause__, SaslAuthenticationFailed)
    assert "secret" not in repr(caught.value)
    assert made.cause is caught.value
    await made.wait_closed()


async def test_a_client_whose_node_refuses_does_not_start_and_says_which() -> None:
    def refused(endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        raise SaslAuthenticationFailed("Invalid username or password")
        yield b""  # makes it a generator
        return 0

    async with nothing_left_behind(), EmbeddedBroker() as broker:
        client = client_of(broker, refused)
        with pytest.raises(AuthenticationFailedError) as caught:
            await client.start()
    assert f"{broker.bootstrap_servers}: the authentication failed: Invalid" in str(caught.value)


async def test_steps_may_wait_for_credentials(node: ScriptedNode) -> None:
    provided: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    used = []

    def provider(endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        used.append((yield provided))
        return 0

    made, task, _ = await opening(node, provider)
    assert not used
    provided.set_result(b"token")
    await task
    assert used == [b"token"]
    await closed(made)


async def test_credentials_that_cannot_be_had_fail_the_authentication(node: ScriptedNode) -> None:
    async def token() -> bytes:
        raise ValueError("the vault is sealed")

    def provider(endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        yield token()
        return 0

    made, task, _ = await opening(node, provider)
    with pytest.raises(AuthenticationFailedError, match="the vault is sealed") as caught:
        await task
    assert isinstance(caught.value.__cause__, ValueError)
    await made.wait_closed()


async def test_bare_tokens_travel_with_nothing_but_their_size(node: ScriptedNode) -> None:
    """SASL after SaslHandshake version 0, and a request after it with its correlation id."""
    heard = []

    def bare(endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        for token in (b"hello", b""):
            heard.append(bytes((yield token)))
        return 0

    made, task, peer = await opening(node, bare)
    assert await peer.read_frame() == b"hello"
    peer.send(framed(b"\0"))
    assert await peer.read_frame() == b""
    peer.send(framed(b"welcome"))
    await task
    assert heard == [b"\0", b"welcome"]
    call = ask(made)
    _, version, correlation_id = await peer.read_request()
    peer.answer(metadata_named("known"), version, correlation_id)
    assert await answered(call) == "known"
    await closed(made)


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(lambda: b"hello", id="token"),
        pytest.param(lambda: HandshakeRequest(MetadataRequest(topics=[]), 12), id="request"),
    ],
)
async def test_a_connection_lost_meanwhile_is_no_matter_of_credentials(
    node: ScriptedNode, step: Callable[[], bytes | HandshakeRequest]
) -> None:
    def steps(endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        yield step()
        return 0

    made, task, peer = await opening(node, steps)
    await peer.read_frame()
    peer.close()
    with pytest.raises(KafkaConnectionError, match="during the handshake"):
        await task
    await made.wait_closed()


async def test_without_authentication_the_version_negotiation_is_all(node: ScriptedNode) -> None:
    made = connection(node)
    task = asyncio.ensure_future(made.open())
    await (await node.accept()).shake_hands()
    await task
    await closed(made)


# TLS…


@pytest_asyncio.fixture
async def tls_node() -> AsyncIterator[ScriptedNode]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    async with nothing_left_behind(), ScriptedNode("localhost", tls_context=context) as node:
        yield node


async def test_requests_travel_over_tls(tls_node: ScriptedNode) -> None:
    trusted = ssl.create_default_context(cafile=str(CERTIFICATE))
    made = connection(tls_node, next_tls_context=FixedContext(trusted).next_context)
    task = asyncio.ensure_future(made.open())
    peer = await tls_node.accept()
    await peer.shake_hands()
    await task
    call = ask(made)
    _, version, correlation_id = await peer.read_request()
    peer.answer(metadata_named("x" * 30_000), version, correlation_id)
    assert await answered(call) == "x" * 30_000
    await closed(made)


async def test_a_certificate_nobody_trusts_ends_the_connection(tls_node: ScriptedNode) -> None:
    made = connection(
        tls_node, next_tls_context=FixedContext(ssl.create_default_context()).next_context
    )
    with pytest.raises(TlsAuthenticationError, match="authority that is not trusted") as caught:
        await made.open()
    assert f"node 1 at {tls_node.endpoint}" in str(caught.value)
    await made.wait_closed()


async def test_a_certificate_is_checked_for_the_name_of_the_endpoint(
    tls_node: ScriptedNode,
) -> None:
    trusted = ssl.create_default_context(cafile=str(CERTIFICATE))
    tls_node.endpoint = Endpoint("127.0.0.1", tls_node.endpoint.port)
    made = connection(tls_node, next_tls_context=FixedContext(trusted).next_context)
    with pytest.raises(TlsAuthenticationError, match=r"127\.0\.0\.1"):
        await made.open()
    await made.wait_closed()


def test_the_options_of_a_client_make_one_value_for_its_connections() -> None:
    assert ClientConfig().security() == Security(next_tls_context=None, authentication=None)


def test_credentials_do_not_stand_in_the_text_of_a_security() -> None:
    class Secretive(KnownUsers):
        def __repr__(self) -> str:
            return "password"

    assert "password" not in repr(Security(authentication=Secretive()))
