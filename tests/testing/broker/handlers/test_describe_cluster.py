"""DescribeCluster: nodes, controller, fenced ones on demand."""

from typing import Any

import pytest

from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    MismatchedEndpointTypeError,
    UnsupportedEndpointTypeError,
)
from aiokafka_lite.protocol.messages.describe_cluster import (
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from aiokafka_lite.testing.broker.handlers import describe_cluster
from tests.testing.broker.bench import Bench


def ask(bench: Bench, version: int = 2, **fields: Any) -> DescribeClusterResponse:
    return bench.ask(describe_cluster.HANDLER, DescribeClusterRequest(**fields), version)


@pytest.mark.parametrize("version", range(3))
def test_living_nodes_are_told(version: int) -> None:
    bench = Bench(2)
    bench.cluster.set_alive(1, is_alive=False)
    answer = ask(bench, version)
    assert [(b.broker_id, b.port, b.rack) for b in answer.brokers] == [(2, 9002, "r2")]
    assert (answer.controller_id, answer.cluster_id) == (2, bench.cluster.cluster_id)


def test_stopped_nodes_are_told_as_fenced_on_demand() -> None:
    """DescribeCluster lists stopped nodes as fenced when it is asked to (KIP-1073)."""
    bench = Bench(2)
    bench.cluster.set_alive(1, is_alive=False)
    brokers = ask(bench, include_fenced_brokers=True).brokers
    assert [(b.broker_id, b.is_fenced) for b in brokers] == [(1, True), (2, False)]


def test_authorized_operations_are_told_on_demand() -> None:
    assert ask(Bench()).cluster_authorized_operations == -(2**31)
    answer = ask(Bench(), include_cluster_authorized_operations=True)
    assert answer.cluster_authorized_operations > 0


def test_other_endpoints_are_refused() -> None:
    """DescribeCluster refuses endpoint types that the broker does not have (KIP-919)."""
    assert ask(Bench(), endpoint_type=2).error_code == MismatchedEndpointTypeError.errno
    assert ask(Bench(), endpoint_type=9).error_code == UnsupportedEndpointTypeError.errno


def test_an_injected_error_is_answered() -> None:
    bench = Bench()
    bench.faults.fail(DescribeClusterRequest, ClusterAuthorizationFailedError)
    assert ask(bench).error_code == ClusterAuthorizationFailedError.errno
