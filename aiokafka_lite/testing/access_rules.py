"""Gives a real Kafka its access rules, by an address where the caller is a super user.

Blocks until the node there knows all of them. One connection for each question, no client.
"""

import socket
from collections.abc import Iterable
from typing import Final, TypeVar

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaConnectionError, for_code
from aiokafka_lite.protocol.message_header import decode_response
from aiokafka_lite.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from aiokafka_lite.protocol.messages.describe_acls import (
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from aiokafka_lite.protocol.request_frame import encode_request
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.testing.broker.security.acl import Acl

VERSION: Final = 2
"""Of both requests: every release of the tests has it."""
ANSWER_WITHIN_S: Final = 30.0
_ANY: Final = 1
_LITERAL, _PREFIXED = 3, 4
_DENY, _ALLOW = 2, 3

_Terms = tuple[int, str, int, str, str, int, int]
"""Resource type, name and pattern, principal, host, operation and permission of one rule."""

ResponseT = TypeVar("ResponseT", bound=Response)


def creations(acls: Iterable[Acl]) -> list[AclCreation]:
    """Return the rules as Kafka stores them: one for each operation."""
    return [
        AclCreation(
            resource_type=acl.resource_type,
            resource_name=acl.name,
            resource_pattern_type=_PREFIXED if acl.is_prefixed else _LITERAL,
            principal=acl.principal,
            host=acl.host,
            operation=operation,
            permission_type=_ALLOW if acl.is_allowed else _DENY,
        )
        for acl in acls
        for operation in sorted(acl.operations)
    ]


def create_acls(ports: Iterable[int], acls: Iterable[Acl]) -> None:
    """Create the rules, and return when the nodes at all `ports` of 127.0.0.1 know them.

    Raises: BrokerResponseError with the broker's text; KafkaConnectionError if a node does not
    answer within 30 s, or does not know the rules by then.
    """
    ports, rules = list(ports), creations(acls)
    for result in _ask(ports[0], CreateAclsRequest(creations=rules)).results:
        if result.error_code:
            raise for_code(result.error_code)(result.error_message or "")
    for port in ports:
        _wait_until_known(port, set(map(_terms, rules)))


def _wait_until_known(port: int, terms: set[_Terms]) -> None:
    everything = DescribeAclsRequest(
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )
    deadline = SYSTEM_CLOCK.monotonic() + ANSWER_WITHIN_S
    while not terms <= _known(_ask(port, everything)):
        if SYSTEM_CLOCK.monotonic() > deadline:
            raise KafkaConnectionError(
                f"127.0.0.1:{port} does not know all access rules within {ANSWER_WITHIN_S:.0f} s"
            )


def _known(response: DescribeAclsResponse) -> set[_Terms]:
    return {
        (
            resource.resource_type,
            resource.resource_name,
            resource.pattern_type,
            rule.principal,
            rule.host,
            rule.operation,
            rule.permission_type,
        )
        for resource in response.resources
        for rule in resource.acls
    }


def _terms(rule: AclCreation) -> _Terms:
    return (
        rule.resource_type,
        rule.resource_name,
        rule.resource_pattern_type,
        rule.principal,
        rule.host,
        rule.operation,
        rule.permission_type,
    )


def _ask(port: int, request: Request[ResponseT]) -> ResponseT:
    """Send one request on a connection of its own, and return the response."""
    frame = encode_request(request, version=VERSION, correlation_id=1, client_id=None)
    try:
        with (
            socket.create_connection(("127.0.0.1", port), timeout=ANSWER_WITHIN_S) as connection,
            connection.makefile("rb") as answers,
        ):
            connection.sendall(b"".join(frame))
            size = int.from_bytes(answers.read(4))
            answer = answers.read(size)
    except OSError as error:
        raise KafkaConnectionError(f"127.0.0.1:{port} does not answer: {error}") from error
    return decode_response(request.response_type, answer, VERSION)[1]


__all__ = ["create_acls", "creations"]
