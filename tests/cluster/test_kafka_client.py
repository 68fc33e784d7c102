"""The facade: all-or-nothing start, bounded close, metadata that follows the cluster."""

import asyncio
import logging
import random
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import MAY_FOLLOW, ClientLife, ClientState, KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NameResolutionError,
    NodeNotReadyError,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.cluster.support.answers import partition, topic
from tests.cluster.support.scripted_cluster import ScriptedCluster
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import eventually


@asynccontextmanager
async def started(
    cluster: ScriptedCluster, clock: Clock | None = None, **options: Any
) -> AsyncIterator[KafkaClient]:
    client = KafkaClient(
        cluster.config(**options), clock=clock or FakeClock(), rng=random.Random(1), name="test"
    )
    await client.start()
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture
def refused_ports() -> Iterator[tuple[int, int]]:
    """Ports nobody listens on; taken, so that nobody else can."""
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        yield first.getsockname()[1], second.getsockname()[1]


async def test_a_start_logs_the_cluster_once(
    cluster: ScriptedCluster, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "aiokafka_lite.cluster.kafka_client")
    async with started(cluster, client_id="shop") as client:
        snapshot = client.metadata.snapshot
    assert [each.getMessage() for each in caplog.records] == [
        f"shop: connected to cluster {snapshot.cluster_id}, brokers: {len(snapshot.nodes)}"
    ]


async def test_a_start_goes_on_asking_until_kafka_is_there(cluster: ScriptedCluster) -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    node = cluster.nodes[1]
    await node.stop()
    options = {"bootstrap_timeout_ms": 60_000, "retry_backoff_ms": 5000}
    config = cluster.config(retry_backoff_max_ms=5000, **options)
    client = KafkaClient(config, clock=clock, name="test")
    starting = asyncio.create_task(client.start())
    await clock.sleep(12)
    await node.start()
    await starting
    assert 12 <= clock.monotonic() < 60
    await client.close()
    assert clock.pending_timers == 0


@pytest.mark.parametrize(("patience_ms", "least_s"), [(0, 0), (20_000, 14)])
async def test_a_start_without_kafka_ends_with_its_time(
    refused_ports: tuple[int, int], patience_ms: int, least_s: int
) -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    servers = [f"127.0.0.1:{port}" for port in refused_ports]
    config = ClientConfig(
        bootstrap_servers=servers,
        bootstrap_timeout_ms=patience_ms,
        retry_backoff_ms=3000,
        retry_backoff_max_ms=3000,
    )
    client = KafkaClient(config, clock=clock, name="test")
    for _ in range(2):  # a failed start may be repeated
        began_s = clock.monotonic()
        with pytest.raises(KafkaConnectionError, match=r"any of the 2 bootstrap_servers"):
            await client.start()
        assert least_s <= clock.monotonic() - began_s <= patience_ms / 1000 + 1
    await client.close()
    assert clock.pending_timers == 0


async def test_closing_ends_a_start_that_goes_on_asking(refused_ports: tuple[int, int]) -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    servers = [f"127.0.0.1:{port}" for port in refused_ports]
    config = ClientConfig(bootstrap_servers=servers, bootstrap_timeout_ms=3_600_000)
    client = KafkaClient(config, clock=clock, name="test")
    starting = asyncio.create_task(client.start())
    await clock.sleep(5)
    await client.close()
    with pytest.raises(IllegalStateError, match="closed while it was starting") as raised:
        await starting
    assert isinstance(raised.value.__cause__, KafkaConnectionError)
    assert clock.monotonic() < 60
    assert clock.pending_timers == 0


class Dns:
    """Names of the event loop that the test chooses; each look-up of another one fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, clock: FakeClock) -> None:
        self.known: dict[str, str] = {}
        self.takes_s = 0.0
        self._clock = clock
        monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", self._ask, raising=False)

    async def _ask(self, host: str, port: int, **options: object) -> list[Any]:
        await self._clock.sleep(self.takes_s)
        if host not in self.known:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (self.known[host], port))]


@pytest.mark.parametrize("takes_s", [0.0, 25.0], ids=["refused", "silent"])
async def test_a_start_waits_for_dns(
    cluster: ScriptedCluster, monkeypatch: pytest.MonkeyPatch, takes_s: float
) -> None:
    """Until a name has an address, whether DNS refuses or says nothing (2f-18)."""
    clock = FakeClock(autojump_threshold_s=0.02)
    dns = Dns(monkeypatch, clock)
    dns.takes_s = takes_s
    port = cluster.nodes[1].port
    servers = [f"a.example:{port}", f"b.example:{port}"]
    config = cluster.config(
        bootstrap_servers=servers,
        bootstrap_resolve_timeout_ms=120_000,
        retry_backoff_ms=3000,
        retry_backoff_max_ms=3000,
    )
    client = KafkaClient(config, clock=clock, name="test")
    starting = asyncio.create_task(client.start())
    await clock.sleep(50)
    assert not starting.done()
    dns.known, dns.takes_s = {"b.example": "127.0.0.1"}, 0.0
    await starting
    assert 50 <= clock.monotonic() < 80
    await client.close()
    assert clock.pending_timers == 0


async def test_dns_is_waited_for_so_long_and_brokers_are_not(
    refused_ports: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`bootstrap_resolve_timeout_ms` is about names alone: one address is enough to end it, and the
    default of 0 asks once (2f-18).
    """
    clock = FakeClock(autojump_threshold_s=0.02)
    dns = Dns(monkeypatch, clock)

    async def fails_after(**options: Any) -> tuple[KafkaConnectionError, float]:
        config = ClientConfig(bootstrap_servers=servers, retry_backoff_ms=1000, **options)
        client = KafkaClient(config, clock=clock, name="test")
        began_s = clock.monotonic()
        with pytest.raises(KafkaConnectionError) as raised:
            await client.start()
        took_s = clock.monotonic() - began_s
        await client.close()
        return raised.value, took_s

    port = refused_ports[0]
    servers = [f"a.example:{port}", f"b.example:{port}"]
    patience: dict[str, Any] = {"bootstrap_resolve_timeout_ms": 20_000}
    error, took_s = await fails_after(**patience)
    assert isinstance(error, NameResolutionError)
    assert "a.example" in str(error)
    assert "b.example" in str(error)
    assert "Temporary failure in name resolution" in str(error)
    assert 18 <= took_s <= 20
    assert (await fails_after())[1] <= 1
    assert 28 <= (await fails_after(**patience, bootstrap_timeout_ms=30_000))[1] <= 30
    dns.known["b.example"] = "127.0.0.1"
    error, took_s = await fails_after(**patience)
    assert not isinstance(error, NameResolutionError)
    assert took_s <= 1
    assert clock.pending_timers == 0


def test_a_client_is_built_without_a_loop() -> None:
    client = KafkaClient(ClientConfig(bootstrap_servers="a:1,b:2"), name="c")
    assert set(client.metadata.snapshot.nodes) == {-1, -2}
    assert repr(client) == "<KafkaClient c new>"


@pytest.mark.parametrize(
    ("state", "target"), [(state, target) for state in ClientState for target in ClientState]
)
def test_a_client_moves_along_its_table_only(state: ClientState, target: ClientState) -> None:
    life = ClientLife("c")
    for step in {
        ClientState.NEW: (),
        ClientState.STARTING: (ClientState.STARTING,),
        ClientState.RUNNING: (ClientState.STARTING, ClientState.RUNNING),
        ClientState.CLOSED: (ClientState.CLOSED,),
    }[state]:
        life.to(step)
    if target in MAY_FOLLOW[state]:
        life.to(target)
        assert life.state is target
        return
    with pytest.raises(IllegalStateError, match=r"c was closed while|cannot start c while it is"):
        life.to(target)
    assert life.state is state


async def test_start_brings_the_nodes_and_close_ends_all(
    three_nodes: ScriptedCluster,
) -> None:
    async with started(three_nodes) as client:
        assert set(client.metadata.snapshot.nodes) == {1, 2, 3}
        assert client.metadata.snapshot.cluster_id == "cluster"
        client.check()
    assert repr(client) == "<KafkaClient test closed>"
    await client.close()


async def test_a_node_is_asked_over_a_connection_made_when_needed(cluster: ScriptedCluster) -> None:
    async with started(cluster) as client:
        before = cluster.nodes[1].connections
        assert client.network.ready_delay(1, Lane.COORDINATOR) == 0.0
        request, lane = MetadataRequest(topics=[]), Lane.COORDINATOR
        response = await client.network.request(1, request, lane=lane)
        assert [broker.node_id for broker in response.brokers] == [1]
        await client.network.request(1, request, lane=lane)
        assert cluster.nodes[1].connections == before + 1
        assert client.network.ready_delay(1, lane) == 0.0


async def test_the_connection_to_a_seed_becomes_that_to_the_node_at_its_address(
    three_nodes: ScriptedCluster,
) -> None:
    """The first request to the node needs no second handshake."""
    async with started(three_nodes) as client:
        asked = [node_id for node_id, node in three_nodes.nodes.items() if node.connections]
        assert len(asked) == 1
        assert client.network.max_version(asked[0], MetadataRequest) == 13
        assert client.network.ready_delay(asked[0]) == 0.0
        for node_id, node in three_nodes.nodes.items():
            await client.network.request(node_id, MetadataRequest(topics=[]))
            assert node.connections == 1
        node = three_nodes.nodes[asked[0]]
        known = len(three_nodes.requests)
        node.cut()
        await eventually(lambda: len(three_nodes.requests) > known)  # the loss is noticed
        await client.network.request(asked[0], MetadataRequest(topics=[]))
        assert node.connections == 2


async def test_a_seed_whose_address_no_node_has_is_left(cluster: ScriptedCluster) -> None:
    """The name of a load balancer, for example: another node may answer there next time."""
    port = cluster.nodes[1].port
    async with started(cluster, bootstrap_servers=f"localhost:{port}") as client:
        assert client.network.max_version(1, MetadataRequest) is None
        await client.network.request(1, MetadataRequest(topics=[]))
        assert cluster.nodes[1].connections == 2
        await eventually(lambda: cluster.nodes[1].open_connections == 1)


async def test_request_any_asks_some_node(three_nodes: ScriptedCluster) -> None:
    async with started(three_nodes) as client:
        response = await client.network.request_any(MetadataRequest(topics=[]))
        assert len(response.brokers) == 3


async def test_an_unreachable_bootstrap_names_each_address_and_what_happened(
    clean: None, refused_ports: tuple[int, int]
) -> None:
    first, second = refused_ports
    client = KafkaClient(
        ClientConfig(bootstrap_servers=f"127.0.0.1:{first},127.0.0.1:{second}"),
        clock=FakeClock(),
    )
    with pytest.raises(KafkaConnectionError) as caught:
        await client.start()
    for port in (first, second):
        assert f"127.0.0.1:{port}" in str(caught.value)
    assert str(caught.value).count("refused") == 2
    assert repr(client) == "<KafkaClient kafka_client new>"
    await client.close()


async def test_a_seed_that_says_nothing_ends_the_start_at_the_bound(
    cluster: ScriptedCluster,
) -> None:
    cluster.nodes[1].is_silent = True
    clock = FakeClock(autojump_threshold_s=0.02)
    client = KafkaClient(cluster.config(request_timeout_ms=3000), clock=clock)
    with pytest.raises(
        KafkaConnectionError, match=r"no answer within 3 s: the TCP connection stan"
    ):
        await client.start()
    assert clock.monotonic() == pytest.approx(3.0)
    assert clock.pending_timers == 0


async def test_a_failed_start_may_be_repeated(cluster: ScriptedCluster) -> None:
    """A start that failed leaves nothing behind and may be repeated (H6)."""
    node = cluster.nodes[1]
    client = KafkaClient(cluster.config(), clock=FakeClock(), rng=random.Random(1))
    await node.stop()
    with pytest.raises(KafkaConnectionError):
        await client.start()
    await node.start()
    await client.start()
    assert set(client.metadata.snapshot.nodes) == {1}
    await client.close()


async def test_a_seed_that_fails_leaves_the_others_a_chance(three_nodes: ScriptedCluster) -> None:
    await three_nodes.nodes[1].stop()
    three_nodes.nodes[2].is_silent = True
    three_nodes.known = {3}
    async with started(three_nodes, clock=FakeClock(autojump_threshold_s=0.02)) as client:
        assert set(client.metadata.snapshot.nodes) == {3}


async def test_a_cancelled_start_leaves_nothing(cluster: ScriptedCluster) -> None:
    cluster.nodes[1].is_silent = True
    client = KafkaClient(cluster.config(), clock=FakeClock())
    starting = asyncio.create_task(client.start())
    await eventually(lambda: cluster.nodes[1].connections)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert repr(client) == "<KafkaClient kafka_client new>"


async def test_starting_twice_or_after_close_is_an_error(cluster: ScriptedCluster) -> None:
    async with started(cluster) as client:
        with pytest.raises(IllegalStateError, match="running"):
            await client.start()
    with pytest.raises(IllegalStateError, match="closed"):
        await client.start()


async def test_close_before_start_is_fine(clean: None) -> None:
    client = KafkaClient(ClientConfig())
    await client.close()
    await client.close()


async def test_closing_while_starting_ends_the_start(cluster: ScriptedCluster) -> None:
    cluster.nodes[1].is_silent = True
    client = KafkaClient(cluster.config(), clock=FakeClock())
    starting = asyncio.create_task(client.start())
    await eventually(lambda: cluster.nodes[1].connections)
    await client.close()
    with pytest.raises(KafkaError):
        await starting
    assert repr(client) == "<KafkaClient kafka_client closed>"


async def test_requests_fail_with_the_cause_when_the_client_closes(
    cluster: ScriptedCluster,
) -> None:
    async with started(cluster) as client:
        cluster.nodes[1].script = lambda request: None
        asked = len(cluster.requests)
        asking = asyncio.create_task(client.network.request(1, MetadataRequest(topics=[])))
        await eventually(lambda: len(cluster.requests) > asked)
    with pytest.raises(KafkaConnectionError, match="closed"):
        await asking
    with pytest.raises(KafkaConnectionError, match="closed"):
        await client.network.request(1, MetadataRequest(topics=[]))


async def test_a_background_failure_reaches_check(cluster: ScriptedCluster) -> None:
    async with started(cluster) as client:

        def listener(snapshot: object) -> None:
            raise ZeroDivisionError("a bug")

        client.metadata.add_listener(listener)
        with pytest.raises(KafkaError):
            await client.metadata.refresh()
        with pytest.raises(KafkaError, match="a bug") as caught:
            client.check()
        assert isinstance(caught.value.__cause__, ZeroDivisionError)


async def test_topics_wanted_before_start_are_asked_for_in_the_first_question(
    cluster: ScriptedCluster,
) -> None:
    cluster.describe = lambda name: topic(name, [partition(0, 1)])
    client = KafkaClient(cluster.config(), clock=FakeClock())
    client.metadata.set_topics(["t"])
    await client.start()
    assert client.metadata.snapshot.partitions_for("t") == {0}
    assert len(cluster.requests) == 1
    await client.close()


async def test_a_start_cancelled_at_any_moment_leaves_nothing(cluster: ScriptedCluster) -> None:
    """A start that is cancelled at any await leaves no task and no socket (H6)."""
    for steps in range(60):
        client = KafkaClient(cluster.config(), clock=FakeClock(), rng=random.Random(1))
        starting = asyncio.create_task(client.start())
        for _ in range(steps):
            await asyncio.sleep(0)
        starting.cancel()
        try:
            await starting
        except asyncio.CancelledError:
            assert client.owner.children == ()
            await client.start()  # as if it had never been tried
        await client.close()
        assert client.clock.pending_timers == 0  # type: ignore[attr-defined]  # a FakeClock
    assert starting.done()
    await eventually(lambda: not cluster.nodes[1].open_connections)


async def test_a_close_cancelled_at_any_moment_can_be_repeated(cluster: ScriptedCluster) -> None:
    for steps in range(12):
        client = KafkaClient(cluster.config(), clock=FakeClock(), rng=random.Random(1))
        await client.start()
        await client.network.request(1, MetadataRequest(topics=[]))
        closing = asyncio.create_task(client.close())
        for _ in range(steps):
            await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait([closing])
        await client.close()
        assert client.owner.children == ()


async def test_a_close_cancelled_at_any_moment_goes_on_by_itself(cluster: ScriptedCluster) -> None:
    for steps in range(1, 12):
        async with nothing_left_behind():
            client = KafkaClient(cluster.config(), clock=FakeClock(), rng=random.Random(1))
            await client.start()
            closing = asyncio.create_task(client.close())
            for _ in range(steps):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait([closing])
            await eventually(lambda: not cluster.nodes[1].open_connections)


async def test_a_request_cancelled_at_any_moment_leaves_the_next_one_its_answer(
    cluster: ScriptedCluster,
) -> None:
    """A cancelled request neither takes the next one's answer nor closes the connection (2f-14)."""
    async with started(cluster) as client:
        for steps in range(40):
            asking = asyncio.create_task(client.network.request(1, MetadataRequest(topics=[])))
            for _ in range(steps):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.wait([asking])
            assert (await client.network.request(1, MetadataRequest(topics=[]))).brokers
        assert cluster.nodes[1].connections == 1  # the seed's, which is the node's


@pytest.mark.parametrize("level", [1, 2])
async def test_the_features_in_force_are_those_a_node_told(level: int) -> None:
    """A feature has the level that ApiVersions told, and 0 when it is unknown (KIP-584)."""
    async with nothing_left_behind(), EmbeddedBroker(transaction_version=level) as broker:
        client = KafkaClient(ClientConfig(bootstrap_servers=broker.bootstrap_servers))
        assert client.network.finalized_level("transaction.version") == 0
        await client.start()
        node_id = next(iter(client.metadata.snapshot.nodes))
        await client.network.request(node_id, MetadataRequest(topics=[]))
        assert client.network.finalized_level("transaction.version") == level
        assert client.network.finalized_level("no.such.feature") == 0
        await client.close()


async def test_a_question_is_asked_again_until_there_is_an_answer(
    cluster: ScriptedCluster,
) -> None:
    async with started(cluster, FakeClock(autojump_threshold_s=0.01)) as client:
        failures = [NodeNotReadyError("first"), NodeNotReadyError("second")]

        async def ask() -> str:
            if failures:
                raise failures.pop(0)
            return "answer"

        assert (
            await client.ask_until_answered(ask, 5, what="it", api="Fetch", remedy="wait")
            == "answer"
        )
        failures = [NodeNotReadyError(f"number {n}") for n in range(1000)]
        with pytest.raises(
            KafkaTimeoutError, match=r"no it within 5 s; .*number \d+; wait"
        ) as told:
            await client.ask_until_answered(ask, 5, what="it", api="Fetch", remedy="wait")
        assert isinstance(told.value.__cause__, NodeNotReadyError)
        refusals: list[Exception] = [IllegalStateError("never")]
        failures = refusals  # type: ignore[assignment]  # not retriable, whatever its class
        with pytest.raises(IllegalStateError, match="never"):
            await client.ask_until_answered(ask, 5, what="it", api="Fetch", remedy="wait")
