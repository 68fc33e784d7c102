"""Handlers are declared in one way: request type, function, versions."""

from typing import Any

import pytest

from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker.faults import NOTHING_INJECTED
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers import describe_cluster, find_coordinator, metadata
from aiokafka_lite.testing.broker.router import HANDLERS
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda h: h.request_type.__name__)
def test_a_handler_serves_only_versions_that_its_request_has(handler: Handler) -> None:
    assert handler.versions.min >= handler.request_type.versions.min
    assert handler.versions.max <= handler.request_type.versions.max


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda h: h.request_type.__name__)
def test_a_handlers_file_has_the_stem_of_its_message(handler: Handler) -> None:
    message, function = handler.request_type.__module__, handler.handle.__module__
    assert message.rpartition(".")[2] == function.rpartition(".")[2]


def test_the_context_names_cluster_and_node() -> None:
    bench = Bench(2)
    context = RequestContext(bench.nodes[2], 4, NOTHING_INJECTED)
    assert context.node_id == 2
    assert context.cluster is bench.cluster


@pytest.mark.parametrize(("listener", "port"), [("PLAINTEXT", 9002), ("OUT", 9502)])
def test_each_answer_with_addresses_has_those_of_the_listener(listener: str, port: int) -> None:
    """Metadata, DescribeCluster, FindCoordinator, and the new leaders of Produce and Fetch."""
    bench, session = Bench(2), Session(listener=listener)
    bench.cluster.set_alive(1, is_alive=False)
    context = RequestContext(bench.nodes[2], 4, NOTHING_INJECTED, session=session)
    (leader,) = context.leader_endpoints([1, 2])
    (told,) = bench.ask(metadata.HANDLER, MetadataRequest(topics=[]), 13, 2, session).brokers
    cluster = bench.ask(describe_cluster.HANDLER, DescribeClusterRequest(), 2, 2, session)
    ask_for_one = FindCoordinatorRequest(key="g")
    one = bench.ask(find_coordinator.HANDLER, ask_for_one, 3, 2, session)
    ask_for_several = FindCoordinatorRequest(coordinator_keys=["g"])
    several = bench.ask(find_coordinator.HANDLER, ask_for_several, 6, 2, session)
    answers: list[Any] = [leader, told, *cluster.brokers, one, *several.coordinators]
    assert [each.port for each in answers] == [port] * 5
