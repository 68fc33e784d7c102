"""ListConfigResources: the names of what has settings (KIP-1142)."""

from collections.abc import Collection, Mapping

from aiokafka_lite.errors import BrokerResponseError, UnsupportedVersionError
from aiokafka_lite.protocol.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.config_resources import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
)


def handle(
    context: RequestContext, request: ListConfigResourcesRequest
) -> ListConfigResourcesResponse:
    try:
        context.session.check_cluster(Operation.DESCRIBE_CONFIGS)
        context.injected.raise_for()
        named = _named(context)
        kinds = list(request.resource_types) or list(named)
        if context.version < ListConfigResourcesRequest.types_since:
            kinds = [CLIENT_METRICS]
        unknown = [kind for kind in kinds if kind not in named]
        if unknown:
            raise UnsupportedVersionError(f"resource types {unknown} are not known here")
    except BrokerResponseError as error:
        return ListConfigResourcesResponse(error_code=error.errno)
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(resource_name=name, resource_type=kind)
            for kind in dict.fromkeys(kinds)
            for name in named[kind]
        ]
    )


def _named(context: RequestContext) -> Mapping[int, Collection[str]]:
    cluster = context.cluster
    brokers = [str(node.node_id) for node in cluster.alive_nodes()]
    return {
        GROUP: cluster.group_settings,
        CLIENT_METRICS: cluster.client_metrics_settings,
        BROKER_LOGGER: brokers,
        BROKER: brokers,
        TOPIC: cluster.topics,
    }


HANDLER = Handler(ListConfigResourcesRequest, handle, VersionRange(0, 1))


__all__ = ["handle"]
