"""Frames: the 4-byte size in front of every request and response. Does not wait.

The connection reads into buffers of its own and only calls `frame_size`. `FrameSplitter` serves
callers that get chunks of any size, such as the embedded broker and tests.
"""

from collections.abc import Iterator
from struct import Struct

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import FrameTooLargeError, ProtocolDecodeError

SIZE_PREFIX = Struct(">i")
MAX_FRAME_BYTES = 100 * 1024 * 1024
"""Largest frame accepted by default: the broker's socket.request.max.bytes."""

_TLS_RECORDS = {0x14: "change cipher spec", 0x15: "alert", 0x16: "handshake", 0x17: "data"}
_HTTP_STARTS = frozenset((b"HTTP", b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE", b"PATC"))


def frame_size(
    prefix: bytes | bytearray | memoryview, max_frame_bytes: int = MAX_FRAME_BYTES
) -> int:
    """Return the size of the frame behind these 4 bytes, before memory for it is allocated.

    Raises: FrameTooLargeError if the size is above `max_frame_bytes`; ProtocolDecodeError if it is
    negative, or if the bytes look like TLS or HTTP. Then the message names the remedy. The
    connection cannot be used any more.
    """
    size: int = SIZE_PREFIX.unpack_from(prefix)[0]
    if 0 <= size <= max_frame_bytes:
        return size
    raise _why_impossible(bytes(prefix[:4]), size, max_frame_bytes)


def _why_impossible(prefix: bytes, size: int, max_frame_bytes: int) -> ProtocolDecodeError:
    if prefix[0] in _TLS_RECORDS and prefix[1] == 3:
        return ProtocolDecodeError(
            f"the peer speaks TLS ({_TLS_RECORDS[prefix[0]]} record, bytes "
            f"{prefix.hex(' ')}) "
            "where plain Kafka was expected: use the port of a PLAINTEXT listener, or a "
            "security_protocol with TLS on this side"
        )
    if prefix in _HTTP_STARTS:
        return ProtocolDecodeError(
            f"the peer speaks HTTP (it began with {quoted(prefix)}), not Kafka: "
            "check host and port, they are those of a web service or proxy"
        )
    if size < 0:
        return ProtocolDecodeError(
            f"a frame of the negative size {size} was announced; the peer does not speak Kafka"
        )
    return FrameTooLargeError(
        f"a frame of {size} bytes was announced, above the limit of {max_frame_bytes} bytes: "
        "ask for less at a time, or check that the peer speaks Kafka",
        size=size,
        limit=max_frame_bytes,
    )


class FrameSplitter:
    """Cuts a stream into frames, from chunks of any size. Do not feed it again after an error."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._pending = bytearray()

    def feed(self, data: bytes | bytearray | memoryview) -> Iterator[bytes]:
        """Take the next chunk and yield the frames it completes, without their size, in order.

        The chunk is taken at once. The frames are cut as the caller iterates.

        Raises: as `frame_size`, as soon as the 4 bytes have arrived.
        """
        self._pending += data
        return self._complete_frames()

    def _complete_frames(self) -> Iterator[bytes]:
        prefix_size = SIZE_PREFIX.size
        while len(self._pending) >= prefix_size:
            end = prefix_size + frame_size(self._pending, self._max_frame_bytes)
            if len(self._pending) < end:
                return
            frame = bytes(self._pending[prefix_size:end])
            del self._pending[:end]
            yield frame


__all__ = ["MAX_FRAME_BYTES", "SIZE_PREFIX", "FrameSplitter", "frame_size"]
