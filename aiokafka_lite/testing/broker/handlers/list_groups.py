"""ListGroups: the groups that this node coordinates and the client may describe.

Source: GroupMetadataManager.listGroups; KIP-518, KIP-848.
"""

from collections.abc import Iterator

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.protocol.messages.list_groups import (
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.groups.group_coordinators import SHARE


def handle(context: RequestContext, request: ListGroupsRequest) -> ListGroupsResponse:
    try:
        context.injected.raise_for()
    except BrokerResponseError as error:
        return ListGroupsResponse(error_code=error.errno)
    session = context.session
    may_all = session.may_in_cluster(Operation.DESCRIBE)
    states = {state.lower() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    return ListGroupsResponse(
        groups=[
            group
            for group in _on_node(context)
            if (not states or group.group_state.lower() in states)
            and (not types or group.group_type in types)
            and (may_all or session.may(Operation.DESCRIBE, ResourceType.GROUP, group.group_id))
        ]
    )


def _on_node(context: RequestContext) -> Iterator[ListedGroup]:
    for each in context.groups.on_node(context.node_id):
        yield ListedGroup(
            group_id=each.group_id,
            protocol_type=each.protocol_type,
            group_state=each.state.value,
            group_type=each.kind,
        )
    for share in context.groups.shares_on_node(context.node_id):
        yield ListedGroup(
            group_id=share.group_id,
            protocol_type=SHARE,
            group_state=share.members.state.value,
            group_type=SHARE,
        )


HANDLER = Handler(ListGroupsRequest, handle, VersionRange(0, 5))


__all__ = ["handle"]
