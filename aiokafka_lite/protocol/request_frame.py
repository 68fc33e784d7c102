"""Turns a request into a whole frame. Does not wait. `message_header` tells what the header is."""

import struct
from struct import Struct
from typing import Any

from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.schema.message import Request

_HEAD = Struct(">ihhih")
_HEAD_BYTES = 10
"""Without the size."""
_MOST_BYTES = 2**31 - 1


class RequestHead:
    """What the requests of one type and version from one client begin with. Made once for all."""

    __slots__ = ("_api_key", "_id_size", "_tail", "version")

    def __init__(
        self, request_type: type[Request[Any]], version: int, client_id: str | None
    ) -> None:
        encoded_id = b"" if client_id is None else client_id.encode()
        self.version = version
        self._api_key = request_type.api_key
        self._id_size = -1 if client_id is None else len(encoded_id)
        self._tail = encoded_id + b"\0" if version in request_type.flexible else encoded_id

    def frame(self, parts: Parts, correlation_id: int) -> Parts:
        """Return the whole frame of an encoded request, size included. It takes over `parts`.

        Raises: ValueError for a value that does not fit its field.
        """
        size = _HEAD_BYTES + len(self._tail)
        for part in parts:
            size += len(part)
        try:
            head = _HEAD.pack(size, self._api_key, self.version, correlation_id, self._id_size)
        except struct.error as error:
            if size > _MOST_BYTES:
                raise ValueError(
                    f"a request of {size:,} bytes is longer than its length field can tell, "
                    f"{_MOST_BYTES:,} bytes; send smaller records, or lower max_request_size"
                ) from error
            raise ValueError(
                f"correlation id {correlation_id}, client id of {self._id_size} bytes or frame of"
                f" {size} bytes do not fit a request header: {error}"
            ) from error
        return prepend(head + self._tail, parts)


def encode_request(
    request: Request[Any], version: int, correlation_id: int, client_id: str | None
) -> Parts:
    """Return a whole frame, size included, in parts for `writelines`. Large records are not copied.

    Raises: UnsupportedVersionError for a set field that `version` lacks; ValueError for a value
    that does not fit its field.
    """
    parts = request.encode(version)
    return RequestHead(type(request), version, client_id).frame(parts, correlation_id)


def prepend(head: bytes, parts: Parts) -> Parts:
    """Join the head with the small first part, so that most frames have one part."""
    if parts:
        parts[0] = head + parts[0]
    else:
        parts.append(head)
    return parts


__all__ = ["RequestHead", "encode_request", "prepend"]
