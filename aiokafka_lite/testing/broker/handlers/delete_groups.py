"""DeleteGroups: groups without members, each with its own result. Source: KIP-229."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(context: RequestContext, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[_delete(context, group_id) for group_id in request.groups_names]
    )


def _delete(context: RequestContext, group_id: str) -> DeletableGroupResult:
    try:
        context.find_group(group_id, Operation.DELETE, may_have_no_name=True)
        context.groups.delete(group_id)
    except BrokerResponseError as error:
        return DeletableGroupResult(group_id=group_id, error_code=error.errno)
    return DeletableGroupResult(group_id=group_id)


HANDLER = Handler(DeleteGroupsRequest, handle, VersionRange(0, 3))


__all__ = ["handle"]
