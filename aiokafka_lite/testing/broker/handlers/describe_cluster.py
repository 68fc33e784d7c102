"""DescribeCluster: the nodes, on request with stopped ones as fenced (KIP-700, KIP-1073)."""

from aiokafka_lite.errors import (
    BrokerResponseError,
    MismatchedEndpointTypeError,
    UnsupportedEndpointTypeError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext

BROKERS, CONTROLLERS = 1, 2


def handle(context: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    cluster = context.cluster
    try:
        context.injected.raise_for()
        _check_endpoint_type(request.endpoint_type)
    except BrokerResponseError as error:
        return DescribeClusterResponse(error_code=error.errno, error_message=reason_of(error))
    response = DescribeClusterResponse(
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        brokers=[
            DescribeClusterBroker(
                broker_id=node.node_id,
                host=node.host,
                port=context.port_of(node),
                rack=node.rack,
                is_fenced=not node.is_alive,
            )
            for node in cluster.nodes.values()
            if node.is_alive or (request.include_fenced_brokers and node.is_registered)
        ],
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = context.session.cluster_operations()
    return response


def _check_endpoint_type(endpoint_type: int) -> None:
    if endpoint_type == CONTROLLERS:
        raise MismatchedEndpointTypeError("this is a broker endpoint, not a controller's")
    if endpoint_type != BROKERS:
        raise UnsupportedEndpointTypeError(f"endpoint type {endpoint_type} is neither 1 nor 2")


HANDLER = Handler(DescribeClusterRequest, handle, VersionRange(0, 2))


__all__ = ["handle"]
