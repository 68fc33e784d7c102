"""The certificate of a node is seen without trust in it; a node without one is no error."""

import asyncio
import socket

import pytest

from aiokafka_lite.net.endpoint import Address
from aiokafka_lite.net.tls.peer_certificate import peer_certificate
from tests.net.support.scripted_node import ScriptedNode
from tests.net.support.tls_peer import TlsPeer, at_the_end_of_a_handshake
from tests.support.certificates import Authority
from tests.support.leftovers import nothing_left_behind


def address_of(node: ScriptedNode) -> Address:
    return Address(socket.AF_INET, ("127.0.0.1", node.endpoint.port))


async def test_a_certificate_nobody_trusts_is_seen() -> None:
    server = Authority().issue("kafka.example.org").serving()
    async with nothing_left_behind(), ScriptedNode("localhost", tls_context=server) as node:
        facts = await peer_certificate(address_of(node), "localhost")
    assert facts is not None
    assert facts.names == ("kafka.example.org",)


@pytest.mark.parametrize("asks", [False, True])
async def test_a_node_that_shows_none_is_no_error(*, asks: bool) -> None:
    async with nothing_left_behind():
        if asks:
            # In TLS 1.2 the handshake ends before Python gives the certificate.
            server = Authority().issue("localhost").serving(asks_clients=True)
            server.maximum_version = server.maximum_version.TLSv1_2
            async with ScriptedNode("localhost", tls_context=server) as node:
                assert await peer_certificate(address_of(node), "localhost") is None
        else:
            with socket.socket() as taken:
                taken.bind(("127.0.0.1", 0))
                address = Address(socket.AF_INET, taken.getsockname())
                assert await peer_certificate(address, "localhost") is None


async def test_a_look_that_is_cancelled_as_the_handshake_ends_leaves_no_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The node neither says goodbye nor closes."""
    server = Authority().issue("localhost").serving()
    async with nothing_left_behind(), ScriptedNode() as node:
        looking = asyncio.ensure_future(peer_certificate(address_of(node), "localhost"))
        at_the_end_of_a_handshake(monkeypatch, looking.cancel)
        peer = await node.accept()
        await TlsPeer(peer, server).handshake()
        with pytest.raises(asyncio.CancelledError):
            await looking
        await peer.read_to_end()
