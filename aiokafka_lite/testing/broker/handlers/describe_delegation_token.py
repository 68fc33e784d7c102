"""DescribeDelegationToken: the tokens of the client's user, and others that it may describe.

Source: KafkaApis.handleDescribeTokensRequest.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.security.delegation_tokens import StoredToken


def handle(
    context: RequestContext, request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    session = context.session
    try:
        context.injected.raise_for()
        session.check_tokens_allowed()
    except BrokerResponseError as error:
        return DescribeDelegationTokenResponse(error_code=error.errno)
    owners = None
    if request.owners is not None:
        owners = [f"{each.principal_type}:{each.principal_name}" for each in request.owners]

    def may_describe(token: StoredToken) -> bool:
        return session.may(
            Operation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.token_id
        ) or session.may(Operation.DESCRIBE_TOKENS, ResourceType.USER, token.owner)

    found = context.users.tokens.described(session.principal, owners, may_describe)
    return DescribeDelegationTokenResponse(tokens=[_described(context, each) for each in found])


def _described(context: RequestContext, token: StoredToken) -> DescribedDelegationToken:
    kind, _, name = token.owner.partition(":")
    described = DescribedDelegationToken(
        principal_type=kind,
        principal_name=name,
        issue_timestamp=token.issue_ms,
        expiry_timestamp=token.expiry_ms,
        max_timestamp=token.max_ms,
        token_id=token.token_id,
        hmac=token.hmac,
        renewers=[_renewer(each) for each in token.renewers],
    )
    if context.version >= DescribeDelegationTokenRequest.requesters_since:
        kind, _, name = token.requester.partition(":")
        described.token_requester_principal_type = kind
        described.token_requester_principal_name = name
    return described


def _renewer(principal: str) -> DescribedDelegationTokenRenewer:
    kind, _, name = principal.partition(":")
    return DescribedDelegationTokenRenewer(principal_type=kind, principal_name=name)


HANDLER = Handler(DescribeDelegationTokenRequest, handle, VersionRange(1, 3))

__all__ = ["handle"]
