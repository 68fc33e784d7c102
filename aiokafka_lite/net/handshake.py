"""The handshake of a new connection: version negotiation (KIP-35, KIP-511), then authentication.

It is sans-IO: it takes frames and yields what to send next, without a socket, a clock or a wait.
Each part is a generator that yields a step, is sent the answer to it, and returns its result. Parts
follow each other by `yield from`. `Opening` runs the steps over a socket, within a time limit.
Does not wait.
"""

import logging
import struct
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from aiokafka_lite.errors import ProtocolDecodeError, UnsupportedVersionError, for_code
from aiokafka_lite.light_dataclass import dataclass, replace
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.protocol.message_header import read_response
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.schema.message import Request
from aiokafka_lite.secret import Secret
from aiokafka_lite.version import __version__

CLIENT_SOFTWARE_NAME: Final = "aiokafka-lite"
_CORRELATION_ID_AND_ERROR_CODE: Final = struct.Struct(">ih")

logger = logging.getLogger(__name__)

T = TypeVar("T")


class IntendedNode(NamedTuple):
    """The node that a connection is meant for. Another node can then refuse the connection."""

    cluster_id: str
    node_id: int


@dataclass(frozen=True, slots=True)
class HandshakeRequest:
    """The request to send next, and its version."""

    request: Request[Any]
    version: int


HandshakeSteps: TypeAlias = Generator[HandshakeRequest, memoryview, T]
"""Yields requests, is sent the response frames (without size prefix), returns a result."""

AuthenticationStep: TypeAlias = HandshakeRequest | bytes | Secret | Awaitable[Any]
"""One step of an authentication, with one of three answers.

A request is answered by the frame of its response. A bare token is sent behind its size alone, and
another token answers it (SASL after SaslHandshake version 0). Anything else that the steps wait
for, such as credentials or work in a thread, is an awaitable, and its result is the answer.
"""

AuthenticationSteps: TypeAlias = Generator[AuthenticationStep, Any, int]
"""Yields steps, is sent their answers, and ends when the node has accepted the client. The error of
a step is raised where the step was yielded. The result is the lifetime of the session in ms, after
which the client must have authenticated again (KIP-368); 0: the session does not end.
"""


class NodeWelcome(NamedTuple):
    """What a node has said by the end of the handshake."""

    api_versions: NodeApiVersions
    session_lifetime_ms: int
    """Milliseconds until the client must have authenticated again (KIP-368); 0: it need not."""


_NO_LIMITS: Final[Mapping[int, int]] = MappingProxyType({})

_KNOWN_ANSWERS: Final = 8
"""How many answers are kept. A client has three connections to a node, which get the same one. To
read it takes a tenth of the steps up to the first record of a consumer.
"""

FIRST_VERSIONS: Final = (ApiVersionsRequest.versions.max, 3, 0)
"""The versions of ApiVersions to begin a connection with, newest first. If a peer closes the
connection without a response, the next one is tried. Azure Event Hubs does that above version 3.
"""


def handshake(
    first_version: int = ApiVersionsRequest.versions.max,
    intended: IntendedNode | None = None,
    authenticate: Callable[[NodeApiVersions], AuthenticationSteps] | None = None,
    limits: Mapping[int, int] = _NO_LIMITS,
) -> Generator[AuthenticationStep, Any, NodeWelcome]:
    """Return the steps from the first byte to a ready connection.

    `authenticate` makes the steps after the version negotiation; None: there are none. `limits` are
    the highest versions that the user wants, by API key.

    The errors come out of `send()` of the generator. Raises: RebootstrapRequiredError if the node
    is not `intended` (KIP-1242; brokers from 4.4 on say so); UnsupportedVersionError without a
    common version of ApiVersions; BrokerResponseError, in the class of its code, if the node
    answered with an error; ProtocolDecodeError if the answer is not a response to ApiVersions; the
    errors of the steps of `authenticate`.
    """
    versions = yield from negotiate_api_versions(first_version, intended)
    if limits:
        versions = replace(versions, limits=limits)
    lifetime_ms = 0 if authenticate is None else (yield from authenticate(versions))
    return NodeWelcome(versions, lifetime_ms)


def negotiate_api_versions(
    first_version: int = ApiVersionsRequest.versions.max, intended: IntendedNode | None = None
) -> HandshakeSteps[NodeApiVersions]:
    """Ask for the API versions of the node, with ApiVersions in `first_version` or a lower one.

    A node that does not know the version says so in the layout of version 0, and names the range
    that it knows (KIP-511). If it names no range, or if its response cannot be read, it is asked in
    version 0. A response in version 0 that cannot be read is an error.

    Librdkafka's mock cluster refuses a version in a layout of its own. It also names versions of
    other APIs that it then reads in the form before KIP-482: at JoinGroup 6 it closes the
    connection. So a node that answers in a layout of its own is asked in versions before that form.
    Source: NetworkClient.handleApiVersionsResponse.
    """
    request = ApiVersionsRequest(
        client_software_name=CLIENT_SOFTWARE_NAME, client_software_version=software_version()
    )
    if intended is not None:
        request.cluster_id, request.node_id = intended
    version = first_version
    unreadable: ProtocolDecodeError | None = None
    while True:
        frame = yield HandshakeRequest(request, version)
        error_code = _error_code(frame)
        try:
            if error_code == UnsupportedVersionError.errno:
                version = _next_lower_version(frame, version)
                continue
            versions = _versions_in(bytes(frame), version)
        except ProtocolDecodeError as error:
            if version == 0:
                raise
            unreadable, version = error, 0
            continue
        if unreadable is None:
            return versions
        logger.warning(
            "%s. The node was asked in version 0, and other requests use versions without tagged"
            " fields; this is not Apache Kafka, so expect features to be missing.",
            unreadable,
        )
        return replace(versions, has_flexible_versions=False)


@lru_cache(maxsize=_KNOWN_ANSWERS)
def _versions_in(frame: bytes, version: int) -> NodeApiVersions:
    """Return what an answer says. Raises: its error; ProtocolDecodeError.

    An answer with an oddity counts if it names the version that it is in. Without that, bytes of
    another layout might pass for one.
    """
    answer, oddity = read_response(ApiVersionsResponse, memoryview(frame), version)
    if oddity is not None:
        own = [each for each in answer.api_keys if each.api_key == ApiVersionsRequest.api_key]
        if not any(each.min_version <= version <= each.max_version for each in own):
            raise oddity
        logger.warning("%s. The response was read all the same, as other clients do.", oddity)
    if answer.error_code:
        raise for_code(answer.error_code)("the node refused the version negotiation (ApiVersions)")
    return NodeApiVersions.from_response(answer)


def software_version(version: str = __version__) -> str:
    """Return the version in the form that brokers accept: letters, digits, and "-" and "." between
    them. Source: KIP-511."""
    # A pattern would have to be compiled at each start of a client.
    sent = [
        each if each.isascii() and (each.isalnum() or each in "-.") else "-" for each in version
    ]
    return "".join(sent).strip("-.") or "unknown"


def _error_code(frame: memoryview) -> int:
    """Return the error code, which has the same place in every version of the response."""
    if len(frame) < _CORRELATION_ID_AND_ERROR_CODE.size:
        raise ProtocolDecodeError(f"{len(frame)} bytes are too few for an answer to ApiVersions")
    return int(_CORRELATION_ID_AND_ERROR_CODE.unpack_from(frame)[1])


def _next_lower_version(frame: memoryview, refused: int) -> int:
    """Return the version to ask in next, which is lower than the refused one.

    Raises: ProtocolDecodeError if the answer is not in version 0.
    """
    if refused == 0:
        raise UnsupportedVersionError(
            "the node refuses even version 0 of ApiVersions; is it a Kafka broker?"
        )
    answer, _ = read_response(ApiVersionsResponse, frame, 0)
    for api in answer.api_keys:
        if api.api_key == ApiVersionsRequest.api_key:
            # Lower than the refused one. Otherwise a faulty node could cause an endless loop.
            return max(0, min(api.max_version, refused - 1))
    return 0


__all__ = [
    "CLIENT_SOFTWARE_NAME",
    "FIRST_VERSIONS",
    "AuthenticationStep",
    "AuthenticationSteps",
    "HandshakeRequest",
    "IntendedNode",
    "NodeWelcome",
    "handshake",
    "negotiate_api_versions",
    "software_version",
]
