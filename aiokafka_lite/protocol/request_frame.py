"""Turns a request into a whole frame. Does not wait. `message_header` tells what the header is."""

import struct
from struct import Struct
from typing import Any

from aiokafka_lite.schema.message import Request

Parts = list[bytes | bytearray | memoryview]

_HEAD = Struct(">ihhih")
_HEAD_BYTES = 10
"""Without the size."""


def encode_request(
    request: Request[Any], version: int, correlation_id: int, client_id: str | None
) -> Parts:
    """Return a whole frame, size included, in parts for `writelines`. Large records are not copied.

    Raises: UnsupportedVersionError for a set field that `version` lacks; ValueError for a value
    that does not fit its field.
    """
    parts = request.encode(version)
    encoded_id = b"" if client_id is None else client_id.encode()
    body_size = 0
    for part in parts:
        body_size += len(part)
    tail = encoded_id + b"\0" if version in request.flexible else encoded_id
    size = _HEAD_BYTES + len(tail) + body_size
    id_size = -1 if client_id is None else len(encoded_id)
    try:
        head = _HEAD.pack(size, request.api_key, version, correlation_id, id_size)
    except struct.error as error:
        raise ValueError(
            f"correlation id {correlation_id}, client id of {id_size} bytes or frame of {size}"
            f" bytes do not fit a request header: {error}"
        ) from error
    return prepend(head + tail, parts)


def prepend(head: bytes, parts: Parts) -> Parts:
    """Join the head with the small first part, so that most frames have one part."""
    if parts:
        parts[0] = head + parts[0]
    else:
        parts.append(head)
    return parts


__all__ = ["Parts", "encode_request", "prepend"]
