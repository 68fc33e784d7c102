"""One connection per node and lane, made when needed, side by side, and gone when idle."""

import asyncio
import random

import pytest

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.cluster.node_states import SLOW_CONNECT_S
from aiokafka_lite.errors import (
    KafkaConnectionError,
    NodeNotReadyError,
    RequestTimedOutError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import Node
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
)
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.cluster.support.networks import ASK, network_of
from tests.cluster.support.scripted_cluster import ScriptedCluster
from tests.support.patience import eventually


async def test_each_lane_has_a_connection_of_its_own(cluster: ScriptedCluster) -> None:
    """A heartbeat never queues behind a fetch (F1)."""
    async with network_of(cluster) as (network, _, _):
        for lane in Lane:
            await network.request(1, ASK, lane=lane)
            await network.request(1, ASK, lane=lane)
        assert cluster.nodes[1].connections == len(Lane)


@pytest.mark.parametrize("was_served", [False, True])
async def test_a_loss_at_the_first_request_may_mean_sasl_unless_nodes_served_before(
    cluster: ScriptedCluster, was_served: bool
) -> None:
    """A node that is stopped closes its connections, too, and SASL has nothing to do with it."""
    async with network_of(cluster) as (network, _, _):
        if was_served:
            await network.request(1, ASK)
        cluster.change = lambda _: cluster.nodes[1].cut()
        with pytest.raises(KafkaConnectionError) as lost:
            await network.request(1, ASK, lane=Lane.COORDINATOR)
        assert ("SASL" in str(lost.value)) is not was_served


async def test_many_callers_share_one_attempt_to_connect(cluster: ScriptedCluster) -> None:
    async with network_of(cluster) as (network, _, _):
        await asyncio.gather(*[network.request(1, ASK) for _ in range(20)])
        assert cluster.nodes[1].connections == 1


async def test_requests_made_before_the_connection_is_there_keep_their_order(
    cluster: ScriptedCluster,
) -> None:
    async with network_of(cluster) as (network, _, _):
        await asyncio.gather(
            *[
                network.request(1, MetadataRequest(topics=[MetadataRequestTopic(name=f"t{n}")]))
                for n in range(20)
            ]
        )
        names = [request.topics[0].name for request in cluster.requests if request.topics]
        assert names == [f"t{n}" for n in range(20)]


async def test_a_hanging_node_does_not_keep_others_from_connecting(
    three_nodes: ScriptedCluster,
) -> None:
    """A node that hangs does not keep others from being connected (H4)."""
    three_nodes.nodes[1].is_silent = True
    async with network_of(three_nodes) as (network, _, _):
        hanging = asyncio.create_task(network.request(1, ASK))
        await eventually(lambda: three_nodes.nodes[1].connections)
        await network.request(2, ASK)
        await network.request(3, ASK)
        assert not hanging.done()
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging


async def test_a_cancelled_caller_leaves_the_connect_to_the_others(
    cluster: ScriptedCluster,
) -> None:
    async with network_of(cluster) as (network, _, _):
        first = asyncio.create_task(network.request(1, ASK))
        second = asyncio.create_task(network.request(1, ASK))
        await asyncio.sleep(0)
        first.cancel()
        assert len((await second).brokers) == 1
        assert cluster.nodes[1].connections == 1


async def test_an_unknown_node_is_not_ready(cluster: ScriptedCluster) -> None:
    async with network_of(cluster) as (network, _, _):
        with pytest.raises(NodeNotReadyError, match="node 7 is not in the cluster's metadata"):
            await network.request(7, ASK)


async def test_a_refused_connection_names_the_address_and_every_caller_gets_it(
    cluster: ScriptedCluster,
) -> None:
    """Each caller has an exception of its own, with the same cause (F4)."""
    await cluster.nodes[1].stop()
    async with network_of(cluster) as (network, _, trouble):
        answers = await asyncio.gather(
            *[network.request(1, ASK) for _ in range(3)], return_exceptions=True
        )
        errors = [error for error in answers if isinstance(error, KafkaConnectionError)]
        assert len({id(error) for error in errors}) == 3
        assert len({id(error.__cause__) for error in errors}) == 1
        assert all(f"127.0.0.1:{cluster.nodes[1].port}" in str(error) for error in errors)
        assert trouble.count == 1


async def test_a_request_waits_out_the_reconnect_backoff(cluster: ScriptedCluster) -> None:
    """A request to a node in backoff waits until the backoff is over (2f-3)."""
    node = cluster.nodes[1]
    await node.stop()
    async with network_of(cluster) as (network, clock, _):
        with pytest.raises(KafkaConnectionError):
            await network.request(1, ASK)
        delay_s = network.ready_delay(1)
        assert 0.04 <= delay_s <= 0.06
        await node.start()
        asking = asyncio.create_task(network.request(1, ASK))
        await settle()
        assert node.connections == 0
        await clock.advance(delay_s)
        await asking
        assert network.ready_delay(1) == 0.0


async def test_a_lane_that_waits_for_its_turn_hears_of_the_failure_of_another(
    cluster: ScriptedCluster,
) -> None:
    """A heartbeat does not wait on for a node that a fetch has found dead: there may be another."""
    await cluster.nodes[1].stop()
    async with network_of(cluster, reconnect_backoff_ms=100) as (network, clock, trouble):
        with pytest.raises(KafkaConnectionError):
            await network.request(1, ASK)
        asked = [
            asyncio.create_task(network.request(1, ASK, lane=lane))
            for lane in (Lane.FETCH, Lane.COORDINATOR)
        ]
        for _ in range(100):  # more than both backoffs
            await clock.advance(0.01)
            await eventually(lambda: not network._pool.is_connecting(1, Lane.FETCH))
            await settle()
        errors = [task.exception() for task in asked]
        assert all(isinstance(error, KafkaConnectionError) for error in errors)
        assert trouble.count == 2, "one attempt by the first request, one by the fetch"


async def test_a_backoff_longer_than_the_timeout_fails_at_once_and_says_why(
    cluster: ScriptedCluster,
) -> None:
    await cluster.nodes[1].stop()
    async with network_of(cluster, reconnect_backoff_ms=5000) as (network, _, _):
        with pytest.raises(KafkaConnectionError):
            await network.request(1, ASK)
        with pytest.raises(NodeNotReadyError, match="refused") as caught:
            await network.request(1, ASK, timeout_s=1.0)
        assert "node 1" in str(caught.value)
        assert "1.000 s" in str(caught.value)


async def test_a_connect_that_takes_too_long_for_one_caller_goes_on(
    cluster: ScriptedCluster,
) -> None:
    cluster.nodes[1].is_silent = True
    async with network_of(cluster) as (network, clock, _):
        asking = asyncio.create_task(network.request(1, ASK, timeout_s=2.0))
        await eventually(lambda: cluster.nodes[1].connections)
        await clock.advance(2.0)
        with pytest.raises(NodeNotReadyError, match="being connected"):
            await asking
        assert cluster.nodes[1].open_connections == 1


async def test_the_setup_timeout_ends_an_attempt(cluster: ScriptedCluster) -> None:
    """The setup timeout ends an attempt to connect, after 10 s at first (2f-3, KIP-601)."""
    cluster.nodes[1].is_silent = True
    clock = FakeClock(autojump_threshold_s=0.02)
    async with network_of(cluster, clock, request_timeout_ms=60_000) as (network, _, _):
        waits = []
        for _ in range(2):
            began = clock.monotonic()
            with pytest.raises(KafkaConnectionError):
                await network.request(1, ASK)
            waits.append(clock.monotonic() - began)
        assert 8.0 <= waits[0] <= 12.0
        assert 16.0 <= waits[1] <= 25.0


async def test_a_lost_connection_fails_its_requests_and_is_made_anew(
    cluster: ScriptedCluster,
) -> None:
    async with network_of(cluster) as (network, clock, trouble):
        await network.request(1, ASK)
        script, cluster.nodes[1].script = cluster.nodes[1].script, lambda request: None
        asked = len(cluster.requests)
        asking = asyncio.create_task(network.request(1, ASK))
        await eventually(lambda: len(cluster.requests) > asked)
        cluster.nodes[1].cut()
        with pytest.raises(KafkaConnectionError):
            await asking
        assert trouble.count == 1
        cluster.nodes[1].script = script
        await clock.advance(1.0)
        await network.request(1, ASK)
        assert cluster.nodes[1].connections == 2


async def test_a_request_timeout_closes_the_connection(cluster: ScriptedCluster) -> None:
    """A request that times out closes its connection (2f-5)."""
    async with network_of(cluster) as (network, clock, _):
        await network.request(1, ASK)
        cluster.nodes[1].script = lambda request: None
        asking = asyncio.create_task(network.request(1, ASK, timeout_s=3.0))
        await settle()
        await clock.advance(3.0)
        with pytest.raises(RequestTimedOutError):
            await asking
        await eventually(lambda: not cluster.nodes[1].open_connections)


async def test_connecting_sends_no_request(cluster: ScriptedCluster) -> None:
    async with network_of(cluster) as (network, _, _):
        await network.connect(1, Lane.FETCH)
        assert (cluster.nodes[1].connections, cluster.requests) == (1, [])
        asked = Exchange(ASK)
        assert network.submit(1, asked, Lane.FETCH)
        await asked
        await network.connect(1, Lane.FETCH)
        assert (cluster.nodes[1].connections, len(cluster.requests)) == (1, 1)
        with pytest.raises(NodeNotReadyError, match="node 9 is not in the cluster's metadata"):
            await network.connect(9)


async def test_connecting_takes_no_longer_than_its_timeout(cluster: ScriptedCluster) -> None:
    cluster.nodes[1].is_silent = True
    async with network_of(cluster) as (network, clock, _):
        connecting = asyncio.create_task(network.connect(1, timeout_s=2.0))
        await eventually(lambda: cluster.nodes[1].connections)
        await clock.advance(2.0)
        with pytest.raises(NodeNotReadyError, match=r"not ready within 2\.000 s"):
            await connecting


async def test_a_request_without_response_connects_first(cluster: ScriptedCluster) -> None:
    """A posted request, such as Produce with acks=0, is over when its bytes have left."""
    async with network_of(cluster) as (network, _, _):
        cluster.nodes[1].script = lambda request: None
        await network.post(1, ASK)
        await network.post(1, ASK, max_version=12)
        await eventually(lambda: len(cluster.nodes[1].requests) == 2)
        with pytest.raises(UnsupportedVersionError):
            await network.post(1, FetchRequest())


async def test_a_throttled_lane_is_quiet_until_the_deadline(cluster: ScriptedCluster) -> None:
    """A throttle is neither a failure nor a disconnect, only silence (2f-7, KIP-219)."""
    async with network_of(cluster) as (network, clock, trouble):
        cluster.change = lambda response: setattr(response, "throttle_time_ms", 700)
        assert (await network.request(1, ASK)).throttle_time_ms == 700
        cluster.change = lambda response: None
        assert network.ready_delay(1) == pytest.approx(0.7)
        assert network.ready_delay(1, Lane.FETCH) == 0.0
        assert network.least_loaded_node() is None
        assert network.has_usable_node
        await network.request(1, ASK, lane=Lane.FETCH)
        asked = len(cluster.requests)
        asking = asyncio.create_task(network.request(1, ASK))
        await settle()
        assert len(cluster.requests) == asked
        with pytest.raises(NodeNotReadyError):
            await network.request(1, ASK, timeout_s=0.5)
        await clock.advance(0.7)
        await asking
        assert cluster.nodes[1].connections == 2
        assert trouble.count == 0


async def test_idle_connections_are_closed_by_one_sweep(three_nodes: ScriptedCluster) -> None:
    async with network_of(three_nodes, connections_max_idle_ms=60_000) as (network, clock, trouble):
        await network.request(1, ASK)
        await clock.advance(30)
        await network.request(2, ASK)
        await network.request(3, ASK)
        await clock.advance(30)
        await eventually(lambda: not three_nodes.nodes[1].open_connections)
        assert three_nodes.nodes[2].open_connections == 1
        await network.request(2, ASK)
        await clock.advance(30)
        await eventually(lambda: not three_nodes.nodes[3].open_connections)
        assert three_nodes.nodes[2].open_connections == 1
        await clock.advance(30)
        await eventually(lambda: not three_nodes.nodes[2].open_connections)
        assert trouble.count == 0
        await network.request(1, ASK)


async def test_a_connection_with_a_request_on_the_way_is_not_idle(
    cluster: ScriptedCluster,
) -> None:
    async with network_of(cluster, connections_max_idle_ms=1000) as (network, clock, _):
        cluster.nodes[1].script = lambda request: None
        asking = asyncio.create_task(network.request(1, ASK, timeout_s=20))
        await eventually(lambda: cluster.requests)
        await clock.advance(10)
        assert cluster.nodes[1].open_connections == 1
        asking.cancel()


async def test_idle_close_can_be_switched_off(cluster: ScriptedCluster) -> None:
    async with network_of(cluster, connections_max_idle_ms=None) as (network, clock, _):
        await network.request(1, ASK)
        await clock.advance(10_000_000)
        assert cluster.nodes[1].open_connections == 1


async def test_a_node_that_moved_loses_its_connection(three_nodes: ScriptedCluster) -> None:
    async with network_of(three_nodes) as (network, _, trouble):
        await network.request(1, ASK)
        ports = {node_id: node.port for node_id, node in three_nodes.nodes.items()}
        network.update_nodes({1: Node(1, "127.0.0.1", ports[2]), 3: Node(3, "127.0.0.1", ports[3])})
        await eventually(lambda: not three_nodes.nodes[1].open_connections)
        await network.request(1, ASK)
        assert three_nodes.nodes[2].connections == 1
        assert trouble.count == 0


async def test_a_node_that_moves_while_it_is_being_connected_fails_the_waiting(
    three_nodes: ScriptedCluster,
) -> None:
    three_nodes.nodes[1].is_silent = True
    async with network_of(three_nodes) as (network, _, _):
        asking = asyncio.create_task(network.request(1, ASK))
        await eventually(lambda: three_nodes.nodes[1].connections)
        network.update_nodes({1: Node(1, "127.0.0.1", three_nodes.nodes[2].port)})
        with pytest.raises(KafkaConnectionError, match="moved from"):
            await asking
        await network.request(1, ASK)
        assert three_nodes.nodes[2].connections == 1


async def test_a_node_no_longer_named_keeps_its_connection_for_what_is_on_the_way(
    cluster: ScriptedCluster,
) -> None:
    async with network_of(cluster) as (network, _, _):
        await network.request(1, ASK)
        network.update_nodes({})
        await network.request(1, ASK)
        assert cluster.nodes[1].open_connections == 1


async def test_the_least_loaded_node_is_the_connected_one(three_nodes: ScriptedCluster) -> None:
    """A request that any node may answer goes to a node that is connected (2f-8)."""
    async with network_of(three_nodes) as (network, _, _):
        assert network.least_loaded_node() in {1, 2, 3}
        await network.request(2, ASK)
        assert {network.least_loaded_node() for _ in range(10)} == {2}
        three_nodes.nodes[2].script = lambda request: None
        asking = asyncio.create_task(network.request(2, ASK))
        await settle()
        await network.request(3, ASK)
        assert {network.least_loaded_node() for _ in range(10)} == {3}
        asking.cancel()


async def test_a_node_that_takes_long_to_connect_to_is_asked_last(
    three_nodes: ScriptedCluster,
) -> None:
    """A frozen broker accepts the connection and answers nothing, until its attempt is over."""
    three_nodes.nodes[1].is_silent = True
    async with network_of(three_nodes) as (network, clock, _):
        asking = asyncio.create_task(network.request(1, ASK))
        await settle()
        assert {network.least_loaded_node() for _ in range(10)} == {1}
        await clock.advance(SLOW_CONNECT_S)
        assert {network.least_loaded_node() for _ in range(20)} == {2, 3}
        asking.cancel()


async def test_without_a_usable_node_none_is_chosen(cluster: ScriptedCluster) -> None:
    await cluster.nodes[1].stop()
    async with network_of(cluster) as (network, _, _):
        assert network.has_usable_node
        with pytest.raises(KafkaConnectionError):
            await network.request(1, ASK)
        assert network.least_loaded_node() is None
        assert not network.has_usable_node


async def test_an_api_the_node_does_not_know_fails_without_sending(
    cluster: ScriptedCluster,
) -> None:
    """A request of an API that the node does not know fails without being sent (2f-6)."""
    async with network_of(cluster) as (network, _, _):
        with pytest.raises(UnsupportedVersionError, match="Fetch"):
            await network.request(1, FetchRequest())
        assert network.max_version(1, FetchRequest) is None
        assert network.max_version(1, MetadataRequest) == 13
        assert cluster.requests == []


async def test_nothing_is_connected_before_start_and_after_close(cluster: ScriptedCluster) -> None:
    network = NetworkClient(cluster.config(), clock=FakeClock(), rng=random.Random(0))
    with pytest.raises(KafkaConnectionError, match="never started"):
        await network.request(-1, ASK)
    async with network_of(cluster) as (other, _, _):
        await other.close()
        with pytest.raises(KafkaConnectionError, match="closed"):
            await other.request(-1, ASK)


async def test_closing_ends_attempts_under_way(cluster: ScriptedCluster) -> None:
    cluster.nodes[1].is_silent = True
    async with network_of(cluster) as (network, _, _):
        asking = asyncio.create_task(network.request(1, ASK))
        await eventually(lambda: cluster.nodes[1].connections)
        await network.close()
        with pytest.raises(KafkaConnectionError, match="closed"):
            await asking
