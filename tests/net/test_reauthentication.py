"""A connection authenticates again before its session ends, and no request notices (KIP-368)."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    KafkaError,
    RequestTimedOutError,
)
from aiokafka_lite.net.connection_config import ConnectionConfig
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.net.node_connection import NodeConnection
from aiokafka_lite.net.sasl.authentication import SaslAuthentication
from aiokafka_lite.net.sasl.credentials import SaslCredentials
from aiokafka_lite.net.sasl.plain import PlainMechanism
from aiokafka_lite.net.security import Security
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeResponse
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.net.support.connections import answered, ask, metadata_named, unanswered_produce
from tests.net.support.scripted_node import DEFAULT_RANGES, METADATA, ScriptedNode, ScriptedPeer
from tests.support.patience import PATIENCE_S, eventually

HANDSHAKE, AUTHENTICATE = 17, 36
RANGES = {**DEFAULT_RANGES, HANDSHAKE: (0, 1), AUTHENTICATE: (0, 2)}
LIFETIME_MS = 100_000


class Always(random.Random):
    """Chooses the middle, 90 %."""

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


def static() -> SaslCredentials:
    return SaslCredentials("alice", "open sesame")


class Session:
    """A connection whose node has accepted it, and the node's side of it."""

    def __init__(self, connection: NodeConnection, peer: ScriptedPeer, clock: FakeClock) -> None:
        self.connection = connection
        self.peer = peer
        self.clock = clock

    async def read(self, api_key: int) -> tuple[int, int]:
        """Return version and correlation id of the next request, which must be of that API."""
        found, version, correlation_id = await self.peer.read_request()
        assert found == api_key
        return version, correlation_id

    async def handshake(self) -> None:
        version, correlation_id = await self.read(HANDSHAKE)
        self.peer.answer(
            SaslHandshakeResponse(error_code=0, mechanisms=["PLAIN"]), version, correlation_id
        )

    async def authenticate(self, lifetime_ms: int = LIFETIME_MS, error_code: int = 0) -> None:
        version, correlation_id = await self.read(AUTHENTICATE)
        response = SaslAuthenticateResponse(
            error_code=error_code,
            error_message="revoked" if error_code else None,
            auth_bytes=b"",
            session_lifetime_ms=lifetime_ms,
        )
        self.peer.answer(response, version, correlation_id)

    async def answer_metadata(self, name: str) -> None:
        self.peer.answer(metadata_named(name), *await self.read(METADATA))


Provider = Callable[[], SaslCredentials | Awaitable[SaslCredentials]]


@asynccontextmanager
async def session(
    node: ScriptedNode,
    provider: Provider = static,
    lifetime_ms: int = LIFETIME_MS,
    *,
    has_owner: bool = True,
    provider_timeout_ms: float = 4_000,
    **options: Any,
) -> AsyncIterator[Session]:
    clock = FakeClock()
    owner = TaskOwner("test", clock=clock)
    await owner.start()
    authentication = SaslAuthentication(
        lambda: PlainMechanism(provider, provider_timeout_ms=provider_timeout_ms, clock=clock)
    )
    config = ConnectionConfig(
        **{"request_timeout_ms": 300_000, **options},
        security=Security(authentication=authentication),
    )
    connection = NodeConnection(
        node.endpoint,
        node_id=1,
        client_id="test",
        clock=clock,
        config=config,
        spawn=owner.spawn if has_owner else None,
        rng=Always(),
    )
    opening = asyncio.ensure_future(connection.open())
    made = Session(connection, await node.accept(), clock)
    await made.peer.shake_hands(RANGES)
    await made.handshake()
    await made.authenticate(lifetime_ms)
    await opening
    try:
        yield made
    finally:
        connection.close()
        await connection.wait_closed()
        await owner.close()
        assert clock.pending_timers == 0


async def test_requests_wait_from_the_handshake_to_the_consent_and_keep_their_order(
    node: ScriptedNode,
) -> None:
    async with session(node) as s:
        earlier = [ask(s.connection) for _ in range(2)]
        await settle()
        await s.clock.advance(89.9)
        assert s.connection.can_send
        await s.clock.advance(0.2)
        later = [ask(s.connection) for _ in range(3)]
        await settle()
        assert (s.connection.in_flight, s.connection.queued) == (3, 3)
        assert not s.connection.can_send
        for number in range(2):
            await s.answer_metadata(f"earlier {number}")
        await s.handshake()
        await s.authenticate()
        for number in range(3):
            await s.answer_metadata(f"later {number}")
        assert [await answered(call) for call in earlier] == ["earlier 0", "earlier 1"]
        assert [await answered(call) for call in later] == [f"later {n}" for n in range(3)]
        assert s.connection.can_send


async def test_each_session_begins_a_new_lifetime(node: ScriptedNode) -> None:
    async with session(node) as s:
        for lifetime_ms in (10_000, 5_000, 0):
            await s.clock.advance(90.1 if lifetime_ms == 10_000 else 9.1)
            await s.handshake()
            await s.authenticate(lifetime_ms)
            await eventually(lambda: s.connection.can_send)
        await s.clock.advance(1_000)
        assert s.connection.in_flight == 0


async def test_a_full_window_holds_no_authentication_up(node: ScriptedNode) -> None:
    async with session(node, max_in_flight=1) as s:
        calls = [ask(s.connection) for _ in range(2)]
        await settle()
        await s.clock.advance(90.1)
        await eventually(lambda: s.connection.in_flight == 2)
        await s.answer_metadata("first")
        await s.handshake()
        await s.authenticate()
        await s.answer_metadata("second")
        assert [await answered(call) for call in calls] == ["first", "second"]


async def test_an_authentication_waits_until_a_request_has_left(node: ScriptedNode) -> None:
    async with session(node) as s:
        posting = asyncio.ensure_future(unanswered_produce(s.connection, bytes(20_000_000)))
        await settle()
        await s.clock.advance(90.1)
        await settle()
        assert s.connection.in_flight == 0
        assert await s.peer.read_request()
        await s.handshake()
        await s.authenticate()
        async with asyncio.timeout(PATIENCE_S):
            await posting


async def test_requests_go_on_while_a_provider_works_up_to_the_end_of_the_session(
    node: ScriptedNode,
) -> None:
    loop = asyncio.get_running_loop()
    provided = [loop.create_future(), loop.create_future()]
    provided[0].set_result(static())
    answers = iter(provided)
    async with session(node, lambda: next(answers), provider_timeout_ms=60_000) as s:
        await s.clock.advance(95)
        call = ask(s.connection)
        await s.answer_metadata("meanwhile")
        assert await answered(call) == "meanwhile"
        await s.clock.advance(2.5)
        call = ask(s.connection)
        await settle()
        assert s.connection.queued == 1
        provided[1].set_result(static())
        await s.handshake()
        await s.authenticate()
        await s.answer_metadata("then")
        assert await answered(call) == "then"


async def test_a_refusal_ends_the_connection_with_its_cause(node: ScriptedNode) -> None:
    async with session(node) as s:
        await s.clock.advance(90.1)
        call = ask(s.connection)
        await s.handshake()
        await s.authenticate(error_code=58)
        with pytest.raises(KafkaConnectionError, match="PLAIN failed: the node refused: revoked"):
            await call
        assert isinstance(s.connection.cause, AuthenticationFailedError)
        assert not s.connection.is_open


@pytest.mark.parametrize("fails", ["raises", "hangs"])
async def test_a_provider_that_fails_ends_the_connection_within_a_bound(
    node: ScriptedNode, fails: str
) -> None:
    calls = 0

    async def provider() -> SaslCredentials:
        nonlocal calls
        calls += 1
        if calls == 2 and fails == "raises":
            raise LookupError("the vault is sealed")
        if calls == 2:
            await asyncio.get_running_loop().create_future()
        return static()

    async with session(node, provider) as s:
        await s.clock.advance(90.1)
        await s.clock.advance(5)
        await eventually(lambda: not s.connection.is_open)
        assert isinstance(s.connection.cause, AuthenticationFailedError)
        says = "vault is sealed" if fails == "raises" else "gave nothing within 4,000 ms"
        assert says in str(s.connection.cause)


async def test_a_mechanism_that_waits_for_ever_is_given_up(node: ScriptedNode) -> None:
    async with session(node, connection_setup_timeout_ms=7_000) as s:
        await s.clock.advance(89)
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        class Waits:
            name = "WAITS"

            def exchange(self, host: str) -> Any:
                yield waiting

        reauthentication = s.connection._reauthentication
        assert reauthentication is not None
        reauthentication._authentication = SaslAuthentication(Waits)
        await s.clock.advance(2)
        await s.clock.advance(7)
        await eventually(lambda: not s.connection.is_open)
        assert "did not come within 7,000 ms" in str(s.connection.cause)


async def test_short_sessions_are_not_renewed_within_a_second(node: ScriptedNode) -> None:
    async with session(node, lifetime_ms=200) as s:
        await s.clock.advance(0.9)
        assert s.connection.in_flight == 0
        await s.clock.advance(0.2)
        await s.handshake()


async def test_the_time_of_an_authentication_counts_from_the_answers_before_it(
    node: ScriptedNode,
) -> None:
    """A join may take minutes, and the node handles one request after the other."""
    async with session(node, request_timeout_ms=30_000) as s:
        slow = ask(s.connection, timeout_s=300)
        await settle()
        await s.clock.advance(90.1)
        await s.clock.advance(150)
        assert s.connection.is_open
        await s.answer_metadata("joined")
        assert await answered(slow) == "joined"
        await s.handshake()
        await s.authenticate()
        await eventually(lambda: s.connection.can_send)


async def test_a_node_that_does_not_answer_is_given_up(node: ScriptedNode) -> None:
    async with session(node, request_timeout_ms=30_000) as s:
        await s.clock.advance(90.1)
        await s.read(HANDSHAKE)
        await s.clock.advance(31)
        await eventually(lambda: not s.connection.is_open)
        assert isinstance(s.connection.cause, RequestTimedOutError)


async def test_an_idle_connection_stays_idle(node: ScriptedNode) -> None:
    async with session(node) as s:
        used_s = s.connection.last_used_s
        await s.clock.advance(90.1)
        await s.handshake()
        await s.authenticate()
        await eventually(lambda: s.connection.can_send)
        assert s.connection.last_used_s == used_s


@pytest.mark.parametrize("ends", ["closed", "lost"])
async def test_a_connection_that_ends_meanwhile_ends_its_authentication(
    node: ScriptedNode, ends: str
) -> None:
    async with session(node) as s:
        await s.clock.advance(90.1)
        call = ask(s.connection)
        await s.read(HANDSHAKE)
        if ends == "closed":
            s.connection.close(KafkaError("enough"))
        else:
            s.peer.reset()
        with pytest.raises(KafkaConnectionError):
            await call


@pytest.mark.parametrize(
    ("lifetime_ms", "after_s", "is_told"), [(5, 0, True), (50_000, 51, True), (50_000, 1, False)]
)
async def test_a_node_that_ends_the_session_is_told_of(
    node: ScriptedNode, lifetime_ms: int, after_s: float, is_told: bool
) -> None:
    async with session(node, lifetime_ms=lifetime_ms) as s:
        s.connection._reauthentication._spawn = lambda *_: None  # type: ignore[union-attr]
        call = ask(s.connection)
        await s.read(METADATA)
        await s.clock.advance(after_s)
        s.peer.reset()
        with pytest.raises(KafkaConnectionError) as raised:
            await call
        told = f"after the end of its session of {lifetime_ms:,} ms; raise connections.max.reauth"
        assert (told in str(raised.value)) is is_told


@pytest.mark.parametrize("turns", range(9))
async def test_a_cancelled_authentication_leaves_the_connection_closed_or_healthy(
    node: ScriptedNode, turns: int
) -> None:
    """Whatever it waits for: its first step, the credentials, or one of the node's answers."""

    async def provider() -> SaslCredentials:
        await asyncio.sleep(0)
        return static()

    async with session(node, provider) as s:
        reauthentication = s.connection._reauthentication
        assert reauthentication is not None
        reauthentication._begin()

        async def serve() -> None:
            await s.handshake()
            await s.authenticate()
            await s.answer_metadata("then")

        serving = asyncio.ensure_future(serve())
        call = ask(s.connection)
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in asyncio.all_tasks():
            if "authenticate[" in task.get_name():
                task.cancel()
        try:
            async with asyncio.timeout(PATIENCE_S):
                assert await answered(call) == "then"
        except KafkaConnectionError:
            assert not s.connection.is_open
            assert "authenticating again" in str(s.connection.cause)
        else:
            assert s.connection.can_send
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def test_without_an_owner_of_tasks_the_session_may_end(node: ScriptedNode) -> None:
    async with session(node, has_owner=False) as s:
        await s.clock.advance(200)
        call = ask(s.connection)
        await s.answer_metadata("still")
        assert await answered(call) == "still"
        s.connection.submit(Exchange(MetadataRequest()))
        assert s.connection.in_flight == 1
