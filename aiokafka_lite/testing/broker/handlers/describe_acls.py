"""DescribeAcls: the stored rules that match a filter, by resource."""

from collections import defaultdict

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.security.acl_filter import filter_of, pattern_of, permission_of


def handle(context: RequestContext, request: DescribeAclsRequest) -> DescribeAclsResponse:
    try:
        context.injected.raise_for()
        context.session.check_cluster(Operation.DESCRIBE)
        acls = context.session.authorizer.acls
    except BrokerResponseError as error:
        return DescribeAclsResponse(error_code=error.errno, error_message=reason_of(error))
    wanted = filter_of(request)
    found = defaultdict(list)
    for acl in filter(wanted.matches, acls):
        (operation,) = acl.operations
        found[acl.resource_type, acl.name, pattern_of(acl)].append(
            AclDescription(
                principal=acl.principal,
                host=acl.host,
                operation=operation,
                permission_type=permission_of(acl),
            )
        )
    return DescribeAclsResponse(
        resources=[
            DescribeAclsResource(
                resource_type=kind, resource_name=name, pattern_type=pattern, acls=rules
            )
            for (kind, name, pattern), rules in found.items()
        ]
    )


HANDLER = Handler(DescribeAclsRequest, handle, VersionRange(1, 3))

__all__ = ["handle"]
