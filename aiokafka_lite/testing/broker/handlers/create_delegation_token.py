"""CreateDelegationToken: a token for the client's user, or for another that it may make them for.

Source: KafkaApis.handleCreateTokenRequest.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    DelegationTokenAuthorizationFailed,
    InvalidPrincipalType,
)
from aiokafka_lite.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType


def handle(
    context: RequestContext, request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    requester = context.session.principal
    owner = requester
    if request.owner_principal_name:
        owner = f"{request.owner_principal_type or ''}:{request.owner_principal_name}"
    response = CreateDelegationTokenResponse()
    _tell_users(context, response, owner, requester)
    try:
        context.injected.raise_for()
        _check(context, request, owner)
    except BrokerResponseError as error:
        response.error_code = error.errno
        response.issue_timestamp_ms = response.expiry_timestamp_ms = -1
        response.max_timestamp_ms = -1
        return response
    renewers = [f"{each.principal_type}:{each.principal_name}" for each in request.renewers]
    token = context.users.tokens.create(owner, requester, renewers, request.max_lifetime_ms)
    context.cluster.note_change()
    response.issue_timestamp_ms = token.issue_ms
    response.expiry_timestamp_ms = token.expiry_ms
    response.max_timestamp_ms = token.max_ms
    response.token_id, response.hmac = token.token_id, token.hmac
    return response


def _tell_users(
    context: RequestContext, response: CreateDelegationTokenResponse, owner: str, requester: str
) -> None:
    response.principal_type, _, response.principal_name = owner.partition(":")
    if context.version >= CreateDelegationTokenRequest.owners_since:
        kind, _, name = requester.partition(":")
        response.token_requester_principal_type = kind
        response.token_requester_principal_name = name


def _check(context: RequestContext, request: CreateDelegationTokenRequest, owner: str) -> None:
    session = context.session
    session.check_tokens_allowed()
    if owner != session.principal and not session.may(
        Operation.CREATE_TOKENS, ResourceType.USER, owner
    ):
        raise DelegationTokenAuthorizationFailed(f"{session.principal} may make none for {owner}")
    for renewer in request.renewers:
        if renewer.principal_type != "User":
            raise InvalidPrincipalType(f"{renewer.principal_type} is no User")


HANDLER = Handler(CreateDelegationTokenRequest, handle, VersionRange(1, 3))

__all__ = ["handle"]
