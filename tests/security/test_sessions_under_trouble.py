"""Sessions end while something else goes wrong: a rebalance, a restart, a cancellation, a new user.

Producers and consumers lose nothing, repeat nothing, and say what is the matter.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, SaslCredentials
from aiokafka_lite.errors import AuthenticationFailedError, SaslAuthenticationFailed
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.support.patience import PATIENCE_S

T = TypeVar("T")
SESSION_S = 10.0
SOON = {"reconnect_backoff_max_ms": 200, "retry_backoff_max_ms": 200}


class Stage:
    """A cluster whose sessions end after ten seconds of a clock that the test moves."""

    def __init__(self, broker: EmbeddedBroker, clock: FakeClock) -> None:
        self.broker = broker
        self.clock = clock

    def options(self, **more: Any) -> dict[str, Any]:
        """Options of alice."""
        servers = {"bootstrap_servers": self.broker.bootstrap_servers, "clock": self.clock}
        return {**servers, **self.broker.client_options("alice"), **SOON, **more}

    async def drive(self, work: Awaitable[T], step_s: float = 0.05) -> T:
        """Return the result of `work`, while time goes on."""
        task = asyncio.ensure_future(work)
        async with asyncio.timeout(PATIENCE_S):
            while not task.done():
                await self.clock.advance(step_s)
        return await task

    async def drive_until(self, condition: Callable[[], object], step_s: float = 0.05) -> None:
        """Let time go on until `condition()` is true."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await self.clock.advance(step_s)

    @asynccontextmanager
    async def running(self, *clients: Any) -> AsyncIterator[None]:
        """Start the clients, and stop them at the end."""
        await self.drive(asyncio.gather(*(client.start() for client in clients)))
        try:
            yield
        finally:
            await self.drive(asyncio.gather(*(client.stop() for client in clients)))

    def count(self, request: type[Any]) -> int:
        return len(self.broker.requests_of(request))


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    clock = FakeClock()
    made = EmbeddedBroker(
        3,
        security="SASL_PLAINTEXT",
        users={"alice": "secret", "bob": "hidden"},
        mechanisms=["PLAIN"],
        connections_max_reauth_ms=int(SESSION_S * 1000),
        clock=clock,
        max_logged_requests=100_000,
    )
    async with made as broker:
        broker.create_topic("t", 2)
        yield Stage(broker, clock)


async def collected(consumer: AIOKafkaConsumer[bytes, bytes], read: list[int]) -> None:
    await settle()
    for records in (await consumer.getmany(timeout_ms=0)).values():
        read += [int(record.value or b"") for record in records]


async def test_sessions_end_while_a_join_waits_at_the_node(stage: Stage) -> None:
    """The node answers the requests of a connection in turn: a join holds the handshake back."""
    member = stage.options(group_id="g", auto_offset_reset="earliest")
    first, second = AIOKafkaConsumer("t", **member), AIOKafkaConsumer("t", **member)
    producer = AIOKafkaProducer(**stage.options())
    read: list[int] = []

    async def all_is_read(count: int, *consumers: AIOKafkaConsumer[bytes, bytes]) -> None:
        while len(read) < count:
            for consumer in consumers:
                await collected(consumer, read)

    async with stage.running(producer, first):
        for number in range(4):
            await stage.drive(producer.send_and_wait("t", b"%d" % number, partition=number % 2))
        await stage.drive(all_is_read(4, first))
        stage.broker.faults.stall(JoinGroupRequest, times=None)
        starting = asyncio.ensure_future(second.start())
        joins = stage.count(JoinGroupRequest)
        await stage.drive_until(lambda: stage.count(JoinGroupRequest) > joins)
        opened, begun_s = stage.count(ApiVersionsRequest), stage.clock.monotonic()
        while stage.clock.monotonic() < begun_s + 2.5 * SESSION_S:
            await stage.clock.advance(0.1)
            await collected(first, read)
        stage.broker.faults.release()
        await stage.drive(starting)
        for number in range(4, 12):
            await stage.drive(producer.send_and_wait("t", b"%d" % number, partition=number % 2))
        await stage.drive(all_is_read(12, first, second))
        assert len(first.assignment()) == len(second.assignment()) == 1
        await stage.drive(second.stop())
        # The waiting join and its session cost no connection; the second consumer opens its own.
        assert stage.count(ApiVersionsRequest) <= opened + 3
    assert sorted(read) == list(range(12))


@pytest.mark.parametrize("request_type", [SaslHandshakeRequest, SaslAuthenticateRequest])
async def test_a_node_restarts_in_the_middle_of_an_authentication(
    stage: Stage, request_type: type[Any]
) -> None:
    producer = AIOKafkaProducer(**stage.options(enable_idempotence=True))
    consumer = AIOKafkaConsumer("t", **stage.options(auto_offset_reset="earliest"))
    read: list[int] = []
    async with stage.running(producer, consumer):
        await stage.drive(producer.send_and_wait("t", b"0", partition=0))
        leader = stage.broker.leader(("t", 0))
        before = stage.count(request_type)
        stage.broker.faults.stall(request_type, times=None, node_id=leader)
        await stage.drive_until(lambda: stage.count(request_type) > before)
        acks = [await stage.drive(producer.send("t", b"%d" % n, partition=0)) for n in range(1, 6)]
        stage.broker.stop_node(leader)
        stage.broker.faults.clear()
        await stage.clock.advance(0.3)
        stage.broker.start_node(leader)
        offsets = [(await stage.drive(ack)).offset for ack in acks]
        assert offsets == [1, 2, 3, 4, 5]

        async def all_is_read() -> None:
            while len(read) < 6:
                await collected(consumer, read)

        await stage.drive(all_is_read())
    assert read == list(range(6))


class Gate:
    """A provider that lets the first connections in, and later ones when it is opened."""

    def __init__(self) -> None:
        self.is_closed = False
        self.waiting = 0
        self._opened = asyncio.Event()

    async def __call__(self) -> SaslCredentials:
        if self.is_closed:
            self.waiting += 1
            await self._opened.wait()
        return SaslCredentials("alice", "secret")

    def open(self) -> None:
        self._opened.set()


TURNS = [0, 1, 2, 3, 5, 8, 13, 21]
"""Turns of the event loop into an authentication: they reach each of its awaits."""


@asynccontextmanager
async def in_an_authentication(stage: Stage) -> AsyncIterator[tuple[AIOKafkaProducer, Gate]]:
    """A producer whose connections wait for credentials, to authenticate again."""
    gate = Gate()
    options = stage.options(sasl_plain_username=None, sasl_plain_password=None)
    producer = AIOKafkaProducer(
        **options, credentials_provider=gate, sasl_provider_timeout_ms=60_000
    )
    async with stage.running(producer):
        await stage.drive(producer.send_and_wait("t", b"0", partition=0))
        gate.is_closed = True
        await stage.drive_until(lambda: gate.waiting)
        yield producer, gate


@pytest.mark.parametrize("turns", TURNS)
async def test_a_client_stops_at_any_moment_of_an_authentication(stage: Stage, turns: int) -> None:
    """Stopping writes every record, and cancels the authentication wherever it waits."""
    async with in_an_authentication(stage) as (producer, gate):
        acks = [await producer.send("t", b"%d" % n, partition=0) for n in range(1, 4)]
        gate.open()
        for _ in range(turns):
            await asyncio.sleep(0)
        await stage.drive(producer.stop())
        assert [(await ack).offset for ack in acks] == [1, 2, 3]
    assert not [task for task in asyncio.all_tasks() if "authenticate[" in task.get_name()]


@pytest.mark.parametrize("turns", TURNS)
async def test_a_cancelled_send_leaves_the_connection_healthy(stage: Stage, turns: int) -> None:
    async with in_an_authentication(stage) as (producer, gate):
        opened = stage.count(ApiVersionsRequest)
        asking = asyncio.ensure_future(producer.send_and_wait("t", b"1", partition=0))
        gate.open()
        for _ in range(turns):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await stage.drive(producer.send_and_wait("t", b"2", partition=0))
        assert stage.count(ApiVersionsRequest) == opened
    values = [record.value for record in stage.broker.log(("t", 0)).records()]
    assert values in ([b"0", b"2"], [b"0", b"1", b"2"])


async def test_a_new_password_comes_into_use_with_the_next_session(stage: Stage) -> None:
    password = "secret"
    options = stage.options(sasl_plain_username=None, sasl_plain_password=None)
    producer = AIOKafkaProducer(
        **options, credentials_provider=lambda: SaslCredentials("alice", password)
    )
    async with stage.running(producer):
        await stage.drive(producer.send_and_wait("t", b"0", partition=0))
        opened = stage.count(ApiVersionsRequest)
        password = "changed"
        stage.broker.set_password("alice", password)
        until_s = stage.clock.monotonic() + 2 * SESSION_S
        while stage.clock.monotonic() < until_s:
            await stage.drive(producer.send_and_wait("t", b"x", partition=0))
        assert stage.count(ApiVersionsRequest) == opened
    newest = stage.broker.requests_of(SaslAuthenticateRequest)[-1]
    assert bytes(newest.auth_bytes) == b"\0alice\0changed"


async def test_another_user_ends_the_connections_and_comes_into_use_by_new_ones(
    stage: Stage,
) -> None:
    """A session keeps its user: the node refuses the change, and the next connection is bob's."""
    user = "alice"
    passwords = {"alice": "secret", "bob": "hidden"}
    options = stage.options(sasl_plain_username=None, sasl_plain_password=None)
    producer = AIOKafkaProducer(
        **options, credentials_provider=lambda: SaslCredentials(user, passwords[user])
    )
    told: list[str] = []
    acks: list[Any] = []
    async with stage.running(producer):
        await stage.drive(producer.send_and_wait("t", b"0", partition=0))
        user = "bob"
        until_s = stage.clock.monotonic() + 2 * SESSION_S
        while stage.clock.monotonic() < until_s:
            try:
                acks.append(await stage.drive(producer.send("t", b"x", partition=0)))
            except AuthenticationFailedError as error:
                told.append(str(error))
        offsets = [(await stage.drive(ack)).offset for ack in acks]
    assert offsets == list(range(1, len(offsets) + 1))
    assert all("Cannot change principals" in text for text in told)
    newest = stage.broker.requests_of(SaslAuthenticateRequest)[-1]
    assert bytes(newest.auth_bytes) == b"\0bob\0hidden"


async def test_a_coordinator_that_alone_refuses_is_told_and_taken_back(stage: Stage) -> None:
    """As in Java, polls say what the coordinator said, though the leaders accept the client."""
    consumer = AIOKafkaConsumer(
        "t", **stage.options(group_id="g", auto_offset_reset="earliest", enable_auto_commit=False)
    )
    producer = AIOKafkaProducer(**stage.options())
    read: list[int] = []
    told: list[str] = []

    async def poll() -> None:
        try:
            await collected(consumer, read)
        except AuthenticationFailedError as error:
            told.append(str(error))
        await stage.clock.sleep(0.1)

    async def poll_until(condition: Callable[[], object]) -> None:
        while not condition():
            await poll()

    async with stage.running(producer, consumer):
        coordinator = stage.broker.group("g").coordinator
        others = [node for node in (1, 2, 3) if node != coordinator]
        for partition in (0, 1):
            stage.broker.move_leader(("t", partition), others[partition])
            await stage.drive(producer.send_and_wait("t", b"%d" % partition, partition=partition))
        await stage.drive(poll_until(lambda: len(read) == 2))
        await stage.drive(consumer.commit())
        stage.broker.faults.fail(
            SaslAuthenticateRequest, SaslAuthenticationFailed, times=None, node_id=coordinator
        )
        stage.broker.drop_connections(coordinator)
        await stage.drive(poll_until(lambda: told))
        with pytest.raises(AuthenticationFailedError, match=f"node {coordinator}"):
            await stage.drive(consumer.commit())
        for number in (2, 3):  # the leaders go on
            await stage.drive(producer.send_and_wait("t", b"%d" % number, partition=number % 2))
        stage.broker.faults.clear()
        await stage.drive(poll_until(lambda: len(read) == 4))
    assert sorted(read) == [0, 1, 2, 3]
    assert all(f"node {coordinator}" in text for text in told)


@pytest.mark.parametrize("kind", [AIOKafkaProducer, AIOKafkaConsumer])
async def test_the_same_object_starts_once_its_credentials_are_right(
    stage: Stage, kind: Any
) -> None:
    client = kind(**stage.options(sasl_plain_password="wrong"))
    for _ in range(2):
        with pytest.raises(AuthenticationFailedError, match="Invalid username or password"):
            await stage.drive(client.start())
    stage.broker.set_password("alice", "wrong")
    await stage.drive(client.start())
    await stage.drive(client.partitions_for("t") if kind is AIOKafkaProducer else client.topics())
    await stage.drive(client.stop())
