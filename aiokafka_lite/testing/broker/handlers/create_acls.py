"""CreateAcls: stores rules, which hold from the next request on."""

from aiokafka_lite.errors import BrokerResponseError, UnknownError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.security.acl_filter import is_definite, new_acl


def handle(context: RequestContext, request: CreateAclsRequest) -> CreateAclsResponse:
    if not all(is_definite(each) for each in request.creations):
        # Apache Kafka fails at the first rule that it cannot read, and says no more.
        unknown = AclCreationResult(error_code=UnknownError.errno)
        return CreateAclsResponse(results=[unknown for _ in request.creations])
    return CreateAclsResponse(results=[_create(context, each) for each in request.creations])


def _create(context: RequestContext, asked: AclCreation) -> AclCreationResult:
    try:
        context.injected.raise_for()
        context.session.check_cluster(Operation.ALTER)
        context.cluster.note_change(context.session.authorizer.add([new_acl(asked)]))
    except BrokerResponseError as error:
        return AclCreationResult(error_code=error.errno, error_message=reason_of(error))
    return AclCreationResult()


HANDLER = Handler(CreateAclsRequest, handle, VersionRange(1, 3))

__all__ = ["handle"]
