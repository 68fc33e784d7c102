"""What a client does when its picture of the cluster leads it to the wrong place, or is too old:
it begins again from `bootstrap_servers` (KIP-899, KIP-1102, KIP-1242).
"""

import logging

import pytest

from aiokafka_lite.errors import RebootstrapRequiredError
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.producer.world import kafka, producing, written
from tests.scenarios.consuming import consumer_of, fill, read

P0, P1 = tps(0, 1)


def meant(broker: EmbeddedBroker) -> set[tuple[int, str | None, int]]:
    """(node that was asked, cluster id and node id that were meant) of all connections."""
    return {
        (received.node_id, received.request.cluster_id, received.request.node_id)
        for received in broker.requests
        if isinstance(received.request, ApiVersionsRequest)
    }


async def test_each_connection_says_which_node_it_is_meant_for() -> None:
    """Only a seed may be any node of any cluster. Its connection is kept. [KIP-1242]"""
    async with kafka(nodes=2) as broker:
        broker.create_topic("orders", 2)
        async with producing(broker) as producer:
            for partition in range(2):
                broker.move_leader(("orders", partition), partition + 1)
                await producer.send_and_wait("orders", b"v", partition=partition)
        cluster_id = broker.cluster.cluster_id
        seeds = {node for node, cluster, _ in meant(broker) if cluster is None}
        named = {each for each in meant(broker) if each[1] is not None}
        assert len(named) == 1, "the other node is the seed that answered first"
        assert named <= {(node, cluster_id, node) for node in (1, 2)}
        assert seeds | {node for node, _, _ in named} == {1, 2}


@pytest.mark.parametrize(
    "options", [{"metadata_cluster_check_enable": False}, {"metadata_recovery_strategy": "none"}]
)
async def test_a_client_that_shall_not_check_or_recover_names_no_node(
    options: dict[str, object],
) -> None:
    """A client that neither checks nor recovers names no node in ApiVersions (KIP-1242)."""
    async with kafka() as broker:
        async with producing(broker, **options) as producer:
            await producer.send_and_wait("orders", b"v")
        assert meant(broker) == {(1, None, -1)}


async def test_a_brokers_before_4_4_are_told_nothing() -> None:
    """They do not know the version that could carry it. [KIP-1242]"""
    async with kafka(max_versions={ApiKey.API_VERSIONS: 4}) as broker:
        async with producing(broker) as producer:
            await producer.send_and_wait("orders", b"v")
        assert written(broker) == [b"v"]
        assert meant(broker) == {(1, None, -1)}


async def test_a_connection_that_leads_to_another_node_is_given_up_and_the_seeds_are_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A send goes on once the address is right again; the log names the node. [KIP-1242]"""
    caplog.set_level(logging.WARNING)
    async with kafka(nodes=2) as broker:
        broker.create_topic("orders")
        broker.move_leader(("orders", 0), 1)
        async with producing(broker) as producer:
            await producer.send_and_wait("orders", b"first")
            broker.forget_requests()
            broker.faults.fail(ApiVersionsRequest, RebootstrapRequiredError, times=12)
            broker.drop_connections()
            await producer.send_and_wait("orders", b"second")
        assert written(broker) == [b"first", b"second"]
        assert (1, None, -1) in meant(broker) or (2, None, -1) in meant(broker), "a seed is asked"
    said = [record.message for record in caplog.records if "another node" in record.message]
    assert said
    assert "bootstrap_servers" in said[0]
    of_nodes = [text for text in said if "to node " in text]
    assert len(of_nodes) == len(set(of_nodes)), "once, not with each attempt"


async def test_another_cluster_at_the_same_address_is_noticed_before_anything_is_sent_to_it() -> (
    None
):
    """The records go to the cluster that is there now, with its own metadata. [KIP-1242]"""
    async with kafka() as old:
        port = int(old.bootstrap_servers.rpartition(":")[2])
        old.create_topic("orders")
        # In its backoff a node is not asked, and the seeds are.
        async with producing(old, reconnect_backoff_ms=0) as producer:
            await producer.send_and_wait("orders", b"old")
            await old.stop()
            async with EmbeddedBroker(port=port) as new:  # it ends before the producer does
                new.create_topic("orders")
                await producer.send_and_wait("orders", b"new")
                assert written(new) == [b"new"]
                told = {(1, old.cluster.cluster_id, 1), (1, None, -1)}
                # The seed's connection is kept, unless one to the node has begun meanwhile.
                assert told <= meant(new) <= {*told, (1, new.cluster.cluster_id, 1)}


async def test_a_broker_may_ask_to_begin_again_and_reading_goes_on() -> None:
    """The known nodes and their connections are given up. [KIP-1102]"""
    async with kafka(nodes=2) as broker:
        broker.create_topic("t", 2)
        async with consumer_of(broker, "t", retry_backoff_ms=1, metadata_max_age_ms=50) as consumer:
            fill(broker, P0, 2)
            fill(broker, P1, 2)
            assert await read(consumer, 4) == {P0: [0, 1], P1: [0, 1]}
            broker.forget_requests()
            broker.faults.fail(MetadataRequest, RebootstrapRequiredError)
            await broker.wait_until(
                lambda: (1, None, -1) in meant(broker) or (2, None, -1) in meant(broker)
            )
            fill(broker, P0, 1)
            fill(broker, P1, 1)
            assert await read(consumer, 2) == {P0: [2], P1: [2]}
        again = {node for node, cluster_id, _ in meant(broker) if cluster_id is not None}
        assert again == {1, 2}, "no connection of before was used again"
