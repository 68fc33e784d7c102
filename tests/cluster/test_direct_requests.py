"""A request whose connection is open and free leaves in the call, and no other."""

import pytest

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.net.exchange import Exchange
from tests.cluster.support.networks import ASK, network_of
from tests.cluster.support.scripted_cluster import ScriptedCluster


async def test_what_can_be_sent_at_once_is_sent_without_a_task(cluster: ScriptedCluster) -> None:
    async with network_of(cluster) as (network, clock, _):
        assert not network.submit(1, Exchange(ASK))  # it would have to connect
        await network.request(1, ASK)
        asked = Exchange(ASK)
        assert network.submit(1, asked)
        cluster.change = lambda response: setattr(response, "throttle_time_ms", 700)
        network.note_throttle(1, await asked)
        assert not network.submit(1, Exchange(ASK))
        assert network.ready_delay(1) == pytest.approx(0.7)
        await clock.advance(0.7)


async def test_a_request_goes_out_at_once_only_where_nothing_has_to_be_waited_for(
    cluster: ScriptedCluster,
) -> None:
    """No connection, or a throttled one: the caller has to take the other way."""
    async with network_of(cluster) as (network, clock, _):
        assert not network.submit(1, Exchange(ASK), Lane.FETCH)
        await network.request(1, ASK, lane=Lane.FETCH)
        asked = Exchange(ASK)
        assert network.submit(1, asked, Lane.FETCH)
        response = await asked
        assert response is not None
        response.throttle_time_ms = 700
        network.note_throttle(1, response, Lane.FETCH)
        assert not network.submit(1, Exchange(ASK), Lane.FETCH)
        await clock.advance(0.7)
        assert network.ready_delay(1, Lane.FETCH) == 0.0
