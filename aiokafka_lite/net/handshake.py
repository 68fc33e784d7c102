"""Owns what is said on a new connection before the first request: the negotiation of versions
(KIP-35, KIP-511), then the authentication if there is one. Sans-IO: it takes frames and returns
what to send next; it sees no socket, no clock, and does not wait.

Each part of the handshake is a generator. It yields a step, is sent what answers the step, and
returns its result. Parts follow each other by `yield from`. `Opening` takes the steps: it decides
how bytes travel and how long that may take.
"""

import re
import struct
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from aiokafka_lite.errors import ProtocolDecodeError, UnsupportedVersionError, for_code
from aiokafka_lite.protocol.message_header import decode_response
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.schema.message import Request
from aiokafka_lite.version import __version__

CLIENT_SOFTWARE_NAME: Final = "aiokafka-lite"
_CORRELATION_ID_AND_ERROR_CODE: Final = struct.Struct(">ih")

T = TypeVar("T")


class IntendedNode(NamedTuple):
    """The node that a connection is meant to reach, for a node that can say it is another one."""

    cluster_id: str
    node_id: int


@dataclass(frozen=True, slots=True)
class HandshakeRequest:
    """What to send next, and at which version."""

    request: Request[Any]
    version: int


HandshakeSteps: TypeAlias = Generator[HandshakeRequest, memoryview, T]
"""Yields requests, takes the answering frames (without size prefix), returns the result."""

AuthenticationStep: TypeAlias = HandshakeRequest | bytes | Awaitable[Any]
"""A request, answered by its frame; a bare token, which travels with nothing but its size before it
and is answered by another (SASL after SaslHandshake version 0); or a wait for anything else, such
as credentials or work in a thread, answered by its result.
"""

AuthenticationSteps: TypeAlias = Generator[AuthenticationStep, Any, None]
"""Yields steps, takes what answers them, and ends when the node knows the client. The error of a
step is raised where the step was yielded.
"""


FIRST_VERSIONS: Final = (ApiVersionsRequest.versions.max, 3, 0)
"""The versions of ApiVersions to begin a connection with, newest first: a peer that closes it
without a word is asked again. Azure Event Hubs does that to versions above 3.
"""


def handshake(
    first_version: int = ApiVersionsRequest.versions.max,
    intended: IntendedNode | None = None,
    authenticate: Callable[[NodeApiVersions], AuthenticationSteps] | None = None,
) -> Generator[AuthenticationStep, Any, NodeApiVersions]:
    """Return the steps from the first byte to a ready connection.

    `authenticate` makes the steps that follow the version negotiation; None: none follow.

    Raises, out of `send()`:
        RebootstrapRequiredError: the node is not `intended` (KIP-1242; brokers from 4.4 on say so).
        UnsupportedVersionError: the node and this client share no version of ApiVersions.
        BrokerResponseError: the node answered with an error, of the class of its code.
        ProtocolDecodeError: the node's answer is no ApiVersions answer of any version.
        Whatever the steps of `authenticate` raise.
    """
    versions = yield from negotiate_api_versions(first_version, intended)
    if authenticate is not None:
        yield from authenticate(versions)
    return versions


def negotiate_api_versions(
    first_version: int = ApiVersionsRequest.versions.max, intended: IntendedNode | None = None
) -> HandshakeSteps[NodeApiVersions]:
    """Ask for the versions the node speaks, from `first_version` downwards.

    A node that does not know our version says so in the layout of version 0, naming the range it
    knows (KIP-511); one that does not name it is asked at version 0. So is one whose answer cannot
    be read, which only ends in an error if its answer at version 0 cannot be read either
    (librdkafka's mock cluster leaves out the tag bytes from version 3 on).
    Source: NetworkClient.handleApiVersionsResponse.
    """
    request = ApiVersionsRequest(
        client_software_name=CLIENT_SOFTWARE_NAME, client_software_version=software_version()
    )
    if intended is not None:
        request.cluster_id, request.node_id = intended
    version = first_version
    while True:
        frame = yield HandshakeRequest(request, version)
        if _error_code(frame) == UnsupportedVersionError.errno:
            version = _next_lower_version(frame, version)
            continue
        try:
            _, answer = decode_response(ApiVersionsResponse, frame, version)
        except ProtocolDecodeError:
            if version == 0:
                raise
            version = 0
            continue
        if answer.error_code:
            raise for_code(answer.error_code)(
                "the node refused the version negotiation (ApiVersions)"
            )
        return NodeApiVersions.from_response(answer)


def software_version(version: str = __version__) -> str:
    """Return the version in the alphabet brokers accept: letters, digits, "-" and "." within.
    Source: KIP-511."""
    return re.sub(r"[^A-Za-z0-9.\-]", "-", version).strip("-.") or "unknown"


def _error_code(frame: memoryview) -> int:
    """Return the error code, which stands at the same place in every version of the answer."""
    if len(frame) < _CORRELATION_ID_AND_ERROR_CODE.size:
        raise ProtocolDecodeError(f"{len(frame)} bytes are too few for an answer to ApiVersions")
    return int(_CORRELATION_ID_AND_ERROR_CODE.unpack_from(frame)[1])


def _next_lower_version(frame: memoryview, refused: int) -> int:
    """Return the version to ask next, lower than the one the node refused."""
    if refused == 0:
        raise UnsupportedVersionError(
            "the node refuses even version 0 of ApiVersions; is it a Kafka broker?"
        )
    try:
        _, answer = decode_response(ApiVersionsResponse, frame, 0)
    except ProtocolDecodeError:
        return 0
    for api in answer.api_keys:
        if api.api_key == ApiVersionsRequest.api_key:
            # Never above what was refused, or a confused node would keep us here for ever.
            return max(0, min(api.max_version, refused - 1))
    return 0


__all__ = [
    "FIRST_VERSIONS",
    "AuthenticationStep",
    "AuthenticationSteps",
    "HandshakeRequest",
    "IntendedNode",
    "handshake",
    "negotiate_api_versions",
    "software_version",
]
