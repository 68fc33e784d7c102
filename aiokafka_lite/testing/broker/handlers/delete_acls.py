"""DeleteAcls: removes the rules that match filters, from the next request on."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Acl, Operation
from aiokafka_lite.testing.broker.security.acl_filter import (
    checked_filter,
    pattern_of,
    permission_of,
)


def handle(context: RequestContext, request: DeleteAclsRequest) -> DeleteAclsResponse:
    return DeleteAclsResponse(filter_results=[_delete(context, each) for each in request.filters])


def _delete(context: RequestContext, asked: DeleteAclsFilter) -> DeleteAclsFilterResult:
    try:
        context.injected.raise_for()
        context.session.check_cluster(Operation.ALTER)
        removed = context.session.authorizer.remove(checked_filter(asked).matches)
        context.cluster.note_change(len(removed))
    except BrokerResponseError as error:
        return DeleteAclsFilterResult(error_code=error.errno, error_message=reason_of(error))
    return DeleteAclsFilterResult(matching_acls=[_matching(acl) for acl in removed])


def _matching(acl: Acl) -> DeleteAclsMatchingAcl:
    (operation,) = acl.operations
    return DeleteAclsMatchingAcl(
        resource_type=acl.resource_type,
        resource_name=acl.name,
        pattern_type=pattern_of(acl),
        principal=acl.principal,
        host=acl.host,
        operation=operation,
        permission_type=permission_of(acl),
    )


HANDLER = Handler(DeleteAclsRequest, handle, VersionRange(1, 3))

__all__ = ["handle"]
