"""How a connection is opened, and what is said when it cannot be (KIP-601, KIP-302, 2f-6)."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    UnsupportedVersionError,
)
from aiokafka_lite.net import opening as opening_module
from aiokafka_lite.net.connection_config import ConnectionConfig
from aiokafka_lite.net.endpoint import Address, Endpoint
from aiokafka_lite.net.handshake import FIRST_VERSIONS, AuthenticationSteps
from aiokafka_lite.net.node_connection import NodeConnection
from aiokafka_lite.net.security import Security
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.net.support.connections import answered, ask, connection_to, metadata_named
from tests.net.support.scripted_node import ScriptedNode, ScriptedPeer, api_versions_response
from tests.support.patience import eventually


@pytest.fixture
def refused_port() -> Iterator[int]:
    """A port nobody listens on; taken, so that nobody else can."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


async def failed_opening(connection: NodeConnection) -> KafkaConnectionError:
    with pytest.raises(KafkaConnectionError) as caught:
        await connection.open()
    assert not connection.is_open
    assert connection.cause is caught.value
    await connection.wait_closed()
    return caught.value


def resolving_to(monkeypatch: pytest.MonkeyPatch, *ports: int) -> Endpoint:
    """A name that stands for several addresses: this machine, at each of the ports."""

    async def resolve(endpoint: Endpoint) -> list[Address]:
        return [Address(socket.AF_INET, ("127.0.0.1", port)) for port in ports]

    monkeypatch.setattr(opening_module, "resolve", resolve)
    return Endpoint("kafka.example", 9092)


def to_endpoint(endpoint: Endpoint, clock: FakeClock | None = None) -> NodeConnection:
    return NodeConnection(endpoint, client_id="test", clock=clock or SYSTEM_CLOCK)


async def test_a_refused_connection_names_the_address_and_the_reason(
    node: ScriptedNode, refused_port: int
) -> None:
    error = await failed_opening(to_endpoint(Endpoint("127.0.0.1", refused_port)))
    assert f"127.0.0.1:{refused_port} refused the connection" in str(error)
    assert isinstance(error.__cause__, KafkaConnectionError)
    assert isinstance(error.__cause__.__cause__, ConnectionRefusedError)


async def test_every_address_is_tried_until_one_is_ready(
    node: ScriptedNode, refused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = resolving_to(monkeypatch, refused_port, node.endpoint.port)
    connection = to_endpoint(endpoint)
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    await peer.shake_hands()
    await opening
    assert connection.is_open
    connection.close()
    await connection.wait_closed()


async def test_a_failed_handshake_does_not_disturb_the_next_address(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = resolving_to(monkeypatch, node.endpoint.port, node.endpoint.port)
    connection = to_endpoint(endpoint)
    opening = asyncio.ensure_future(connection.open())
    first = await node.accept()
    await first.read_frame()
    first.close()
    second = await node.accept()
    await second.shake_hands()
    await opening
    call = ask(connection)
    _, version, correlation_id = await second.read_request()
    second.answer(metadata_named("second"), version, correlation_id)
    assert await answered(call) == "second"
    connection.close()
    await connection.wait_closed()


async def test_the_error_lists_each_address_and_what_happened_there(
    node: ScriptedNode, refused_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = resolving_to(monkeypatch, refused_port, node.endpoint.port)
    opening = asyncio.ensure_future(failed_opening(to_endpoint(endpoint)))
    for _ in range(3):  # in our newest version of ApiVersions, in 3 and in 0
        peer = await node.accept()
        await peer.read_frame()
        peer.close()
    text = str(await opening)
    assert text.startswith("KafkaConnectionError: cannot connect to kafka.example:9092: 127.0.0.1:")
    assert f"127.0.0.1:{refused_port} refused the connection" in text
    assert f"127.0.0.1:{node.endpoint.port} closed the connection during the handshake" in text
    assert "is this a Kafka broker" in text


async def test_a_wait_for_credentials_without_an_end_is_named(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the mechanism has no bound of its own; other addresses would not help."""

    asked: list[Endpoint] = []

    def waits(endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        asked.append(endpoint)
        yield asyncio.get_running_loop().create_future()
        return 0

    clock = FakeClock()
    config = ConnectionConfig(
        connection_setup_timeout_ms=6_000, security=Security(authentication=waits)
    )
    endpoint = resolving_to(monkeypatch, node.endpoint.port, node.endpoint.port)
    connection = NodeConnection(endpoint, client_id="test", clock=clock, config=config)
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    await peer.shake_hands()
    await eventually(lambda: asked)
    await clock.advance(3.1)
    with pytest.raises(AuthenticationFailedError, match="waited 3,000 ms for its credentials"):
        await opening
    await connection.wait_closed()
    assert clock.pending_timers == 0


@pytest.mark.parametrize("understood", [3, 0])
async def test_a_peer_that_closes_on_a_new_api_versions_is_asked_in_older_ones(
    node: ScriptedNode, understood: int
) -> None:
    """Azure Event Hubs closes the connection instead of naming the versions it knows."""
    connection = connection_to(node)
    opening = asyncio.ensure_future(connection.open())
    asked = []
    while True:
        peer = await node.accept()
        _, version, correlation_id = await peer.read_request()
        asked.append(version)
        if version <= understood:
            break
        peer.close()
    peer.answer(api_versions_response(), version, correlation_id)
    await opening
    assert asked == [version for version in FIRST_VERSIONS if version >= understood]
    assert connection.is_open
    connection.close()
    await connection.wait_closed()


async def test_one_address_is_named_once(node: ScriptedNode, refused_port: int) -> None:
    error = await failed_opening(to_endpoint(Endpoint("127.0.0.1", refused_port)))
    assert str(error).count("127.0.0.1") == 1


async def test_a_connection_without_an_answer_says_that_it_stands(node: ScriptedNode) -> None:
    connection = connection_to(node)
    assert not connection.silence
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    await eventually(lambda: connection.silence)
    await peer.shake_hands()
    await opening
    assert not connection.silence
    connection.close()
    await connection.wait_closed()


async def test_a_name_without_addresses_is_an_error(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = await failed_opening(to_endpoint(resolving_to(monkeypatch)))
    assert "it has no address" in str(error)


@pytest.mark.parametrize(
    ("says", "named"),
    [
        (b"\x15\x03\x03\x00\x02\x02\x50", "speaks TLS"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "speaks HTTP"),
        (b"\xff\xff\xff\xff", "negative size"),
        (b"\x7f\xff\xff\xff", "above the limit"),
    ],
)
async def test_a_peer_of_another_protocol_is_named_as_what_it_is(
    node: ScriptedNode, says: bytes, named: str
) -> None:
    opening = asyncio.ensure_future(failed_opening(connection_to(node)))
    peer = await node.accept()
    peer.send(says)
    text = str(await opening)
    assert named in text
    assert str(node.endpoint) in text


async def test_a_silent_node_is_given_up_after_the_setup_timeout(node: ScriptedNode) -> None:
    clock = FakeClock()
    connection = connection_to(node, clock, connection_setup_timeout_ms=1500)
    opening = asyncio.ensure_future(failed_opening(connection))
    await (await node.accept()).read_frame()
    await clock.advance(1.4)
    assert not opening.done()
    await clock.advance(0.1)
    text = str(await opening)
    assert "did not answer within 1,500 ms during the handshake; is this a Kafka broker" in text
    assert clock.pending_timers == 0


async def test_addresses_share_the_setup_timeout(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that swallows packets leaves time for the next."""
    clock = FakeClock()
    port = node.endpoint.port
    connection = to_endpoint(resolving_to(monkeypatch, port, port), clock)
    opening = asyncio.ensure_future(connection.open())
    await (await node.accept()).read_frame()
    await clock.advance(5)  # half of 10 s
    await (await node.accept()).shake_hands()
    await opening
    connection.close()
    await connection.wait_closed()
    assert clock.pending_timers == 0


async def test_a_slow_resolver_is_bounded_by_the_setup_timeout(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(endpoint: Endpoint) -> list[Address]:
        await asyncio.get_running_loop().create_future()
        return []

    monkeypatch.setattr(opening_module, "resolve", resolve)
    clock = FakeClock()
    opening = asyncio.ensure_future(
        failed_opening(to_endpoint(Endpoint("kafka.example", 9092), clock))
    )
    await clock.advance(10)
    assert "kafka.example:9092 did not answer within 10,000 ms" in str(await opening)
    assert clock.pending_timers == 0


async def test_an_older_node_is_spoken_to_at_its_version(node: ScriptedNode) -> None:
    connection = connection_to(node)
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    _, version, correlation_id = await peer.read_request()
    assert version == 5
    refusal = api_versions_response({18: (0, 3)}, error_code=UnsupportedVersionError.errno)
    peer.answer(refusal, 0, correlation_id)
    _, version, correlation_id = await peer.read_request()
    assert version == 3
    peer.answer(api_versions_response({3: (0, 8), 18: (0, 3)}), 3, correlation_id)
    await opening
    assert connection.api_versions.ranges == {3: (0, 8), 18: (0, 3)}
    connection.close()
    await connection.wait_closed()


async def test_a_node_that_refuses_us_is_not_asked_at_its_other_addresses(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = node.endpoint.port
    connection = to_endpoint(resolving_to(monkeypatch, port, port))
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    for _ in range(2):
        _, _, correlation_id = await peer.read_request()
        refusal = api_versions_response({}, error_code=UnsupportedVersionError.errno)
        peer.answer(refusal, 0, correlation_id)
    with pytest.raises(UnsupportedVersionError, match="even version 0"):
        await opening
    await connection.wait_closed()
    with pytest.raises(KafkaConnectionError) as later:
        await ask(connection)
    assert isinstance(later.value.__cause__, UnsupportedVersionError)


async def test_an_answer_with_a_wrong_correlation_id_fails_the_handshake(
    node: ScriptedNode,
) -> None:
    opening = asyncio.ensure_future(failed_opening(connection_to(node)))
    peer = await node.accept()
    _, version, correlation_id = await peer.read_request()
    peer.answer(api_versions_response(), version, correlation_id + 1)
    assert "correlation id 1, the oldest waiting request has 0" in str(await opening)


async def test_closing_while_opening_ends_the_opening(node: ScriptedNode) -> None:
    connection = connection_to(node)
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    await peer.read_frame()
    connection.close()
    with pytest.raises(KafkaConnectionError, match="this client closed the connection"):
        await opening
    assert await peer.read_to_end() == b""


async def test_closing_before_the_socket_is_there_ends_the_opening(node: ScriptedNode) -> None:
    connection = connection_to(node)
    opening = asyncio.ensure_future(connection.open())
    await asyncio.sleep(0)
    connection.close(KafkaConnectionError("changed my mind"))
    with pytest.raises(KafkaConnectionError, match="changed my mind"):
        await opening


async def no_request_yet(peer: ScriptedPeer) -> None:
    """The client waits for the loop to hand it the socket."""


async def first_request(peer: ScriptedPeer) -> None:
    """The client waits for the answer to ApiVersions."""
    await peer.read_frame()


@pytest.mark.parametrize("reached", [no_request_yet, first_request])
async def test_a_cancelled_opening_leaves_no_socket(
    node: ScriptedNode, reached: Callable[[ScriptedPeer], Awaitable[None]]
) -> None:
    clock = FakeClock()
    connection = connection_to(node, clock)
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    await reached(peer)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await connection.wait_closed()
    await peer.read_to_end()
    assert clock.pending_timers == 0
    with pytest.raises(KafkaConnectionError):
        await ask(connection)


@pytest.mark.parametrize("passes", range(8))
async def test_an_opening_may_be_cancelled_at_any_moment(node: ScriptedNode, passes: int) -> None:
    clock = FakeClock()
    connection = connection_to(node, clock)
    opening = asyncio.ensure_future(connection.open())
    for _ in range(passes):
        await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await connection.wait_closed()
    assert clock.pending_timers == 0


async def test_a_transport_lost_right_after_the_handshake_is_noticed(node: ScriptedNode) -> None:
    connection = connection_to(node)
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    _, version, correlation_id = await peer.read_request()
    peer.answer(api_versions_response(), version, correlation_id)
    peer.close()
    await asyncio.gather(opening, return_exceptions=True)
    await eventually(lambda: not connection.is_open)
    await connection.wait_closed()
