"""Kafka's own topics must fit the number of nodes, or groups and transactions wait for ever."""

import pytest

from aiokafka_lite.testing.server_properties import server_properties

INTERNAL = ["offsets.topic", "transaction.state.log", "share.coordinator.state.topic"]


@pytest.mark.parametrize("nodes", [1, 3])
@pytest.mark.parametrize("topic", INTERNAL)
def test_kafkas_own_topics_have_a_replica_on_every_node(topic: str, nodes: int) -> None:
    assert server_properties(nodes)[f"{topic}.replication.factor"] == str(nodes)


@pytest.mark.parametrize(("nodes", "in_sync"), [(1, "1"), (3, "2")])
def test_one_node_of_three_may_be_down(nodes: int, in_sync: str) -> None:
    properties = server_properties(nodes)
    assert properties["min.insync.replicas"] == in_sync
    assert properties["transaction.state.log.min.isr"] == in_sync
