"""Reads message headers, and turns responses into whole frames. Does not wait. `request_frame` does
that with requests.

Request header v1 is key, version, correlation id and client id. v2, for flexible versions, adds
tagged fields. Its client id keeps the old 2-byte length, so that any broker can read it. Response
header v0 is the correlation id; v1 adds tagged fields. The ApiVersions response always has v0.
Source: KIP-482, KIP-511.
"""

from struct import Struct
from typing import TypeVar

from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.codec.reader import Reader
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsResponse
from aiokafka_lite.protocol.request_frame import prepend
from aiokafka_lite.schema.message import Response

ResponseT = TypeVar("ResponseT", bound=Response)

_RESPONSE_HEAD = Struct(">ii")
_SIZE_BYTES = 4


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """The header in front of every request."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None


def encode_response(response: Response, *, version: int, correlation_id: int) -> Parts:
    """Return a whole frame, size included, in parts for `writelines`.

    Raises: UnsupportedVersionError for a set field that `version` lacks; ValueError for a value
    that does not fit its field.
    """
    parts = response.encode(version)
    tail = b"\0" if has_flexible_response_header(response, version) else b""
    size = _RESPONSE_HEAD.size - _SIZE_BYTES + len(tail) + sum(map(len, parts))
    return prepend(_RESPONSE_HEAD.pack(size, correlation_id) + tail, parts)


def decode_request_header(
    frame: memoryview | bytes,
) -> tuple[RequestHeader, memoryview]:
    """Return the header of a request frame (without its size) and a view of the body.

    Unknown keys and versions raise no error, so that a broker can answer them. For an unknown key
    the end of the header is unknown, too. The body then starts behind the client id.

    Raises: ProtocolDecodeError for a header that is cut off, or for an impossible length in it.
    """
    reader = Reader(frame)
    header = RequestHeader(
        api_key=reader.int16(),
        api_version=reader.int16(),
        correlation_id=reader.int32(),
        client_id=reader.nullable_string(),
    )
    from aiokafka_lite.protocol.api_registry import API_BY_KEY  # noqa: PLC0415  all messages

    api = API_BY_KEY.get(header.api_key)
    if api is not None and header.api_version in api.request.flexible:
        reader.skip_tagged_fields()
    return header, reader.view[reader.pos :]


def response_correlation_id(frame: memoryview | bytes) -> int:
    """Return the correlation id of a response frame (without its size). It names the request.

    Raises: ProtocolDecodeError for a frame of less than 4 bytes.
    """
    return Reader(frame).int32()


def decode_response(
    response_type: type[ResponseT], frame: memoryview | bytes, version: int
) -> tuple[int, ResponseT]:
    """Return the correlation id and the response of a frame (without its size).

    Raises: ProtocolDecodeError for a frame that is not such a response; UnsupportedVersionError for
    a `version` outside of the class's range.
    """
    reader = Reader(frame)
    correlation_id = reader.int32()
    if has_flexible_response_header(response_type, version):
        reader.skip_tagged_fields()
    return correlation_id, response_type.decode(reader.view[reader.pos :], version)


def read_response(
    response_type: type[ResponseT], frame: memoryview | bytes, version: int
) -> tuple[ResponseT, ProtocolDecodeError | None]:
    """Return the response of a frame (without its size), and what is odd about the bytes.

    Other servers than Apache's may end a response with bytes that its version does not have, or
    send null where the protocol has none. Java's client and librdkafka read on, so this does too
    (2f-16).

    Raises: as `decode_response`, for what `Message.decode_leniently` cannot read either.
    """
    try:
        return decode_response(response_type, frame, version)[1], None
    except ProtocolDecodeError as oddity:
        reader = Reader(frame)
        reader.int32()
        if has_flexible_response_header(response_type, version):
            reader.skip_tagged_fields()
        response = response_type.decode_leniently(reader.view[reader.pos :], version)
        if response is None:
            raise
        return response, oddity.with_traceback(None)


def has_flexible_response_header(response: Response | type[Response], version: int) -> bool:
    """Return whether the response's header has tagged fields.

    It has them in flexible versions, but never for ApiVersions.
    """
    return version in response.flexible and response.api_key != ApiVersionsResponse.api_key


__all__ = [
    "RequestHeader",
    "decode_request_header",
    "decode_response",
    "encode_response",
    "has_flexible_response_header",
    "read_response",
    "response_correlation_id",
]
