"""FindCoordinator: a living node per key (KIP-699).

For a group or a transactional id it is the coordinating node.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupCoordinatorNotAvailableError,
    InvalidRequestError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import BrokerNode

_NO_ERROR = "NONE"
"""Kafka's text of a coordinator without an error, in versions with one key."""
GROUP, TRANSACTION, SHARE_PARTITION = KEY_TYPES = (0, 1, 2)


def handle(context: RequestContext, request: FindCoordinatorRequest) -> FindCoordinatorResponse:
    if context.version >= FindCoordinatorRequest.keys_since:
        return FindCoordinatorResponse(
            coordinators=[
                _coordinator(context, key, request.key_type) for key in request.coordinator_keys
            ]
        )
    found = _coordinator(context, request.key, request.key_type)
    return FindCoordinatorResponse(
        error_code=found.error_code,
        error_message=found.error_message or _NO_ERROR,
        node_id=found.node_id,
        host=found.host,
        port=found.port,
    )


def _coordinator(context: RequestContext, key: str, key_type: int) -> Coordinator:
    try:
        context.injected.raise_for()
        node = _choose(context, key, key_type)
    except BrokerResponseError as error:
        return Coordinator(
            key=key,
            node_id=-1,
            host="",
            port=-1,
            error_code=error.errno,
            error_message=reason_of(error),
        )
    return Coordinator(
        key=key,
        node_id=node.node_id,
        host=node.host,
        port=context.port_of(node),
        error_message=None,
    )


def _choose(context: RequestContext, key: str, key_type: int) -> BrokerNode:
    if key_type not in KEY_TYPES:
        raise InvalidRequestError(f"key type {key_type} is none of {KEY_TYPES}")
    session = context.session
    if key_type == TRANSACTION:
        session.check_transactional_id(Operation.DESCRIBE, key)
        node_id = context.transactions.nodes.node_of(key)
    elif key_type == GROUP:
        session.check_group(Operation.DESCRIBE, key)
        node_id = context.groups.nodes.node_of(key)
    else:
        session.check_cluster(Operation.CLUSTER_ACTION)
        node_id = context.groups.nodes.choose(key)
    if node_id is None:
        raise GroupCoordinatorNotAvailableError(
            f"no node coordinates {key!r}: every node is down, or it was moved to none"
        )
    return context.cluster.node(node_id)


HANDLER = Handler(FindCoordinatorRequest, handle, VersionRange(0, 6))


__all__ = ["handle"]
