"""DescribeUserScramCredentials: the mechanisms and iterations of users."""

from collections import Counter

from aiokafka_lite.errors import (
    BrokerResponseError,
    DuplicateResourceError,
    ResourceNotFoundError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(
    context: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    try:
        context.injected.raise_for()
        context.session.check_cluster(Operation.DESCRIBE)
    except BrokerResponseError as error:
        return DescribeUserScramCredentialsResponse(
            error_code=error.errno, error_message=reason_of(error)
        )
    named = [each.name for each in request.users or ()] or context.users.scram_names()
    return DescribeUserScramCredentialsResponse(
        results=[_describe(context, name, times) for name, times in Counter(named).items()]
    )


def _describe(context: RequestContext, name: str, times: int) -> DescribeUserScramCredentialsResult:
    result = DescribeUserScramCredentialsResult(user=name)
    known = context.users.iterations(name)
    try:
        if times > 1:
            raise DuplicateResourceError(
                "Cannot describe SCRAM credentials for the same user twice in a single request: "
                + name
            )
        if not known:
            raise ResourceNotFoundError(
                f"Attempt to describe a user credential that does not exist: {name}"
            )
    except BrokerResponseError as error:
        result.error_code, result.error_message = error.errno, reason_of(error)
    else:
        result.credential_infos = [
            CredentialInfo(mechanism=number, iterations=iterations)
            for number, iterations in known.items()
        ]
    return result


HANDLER = Handler(DescribeUserScramCredentialsRequest, handle, VersionRange(0, 0))

__all__ = ["handle"]
