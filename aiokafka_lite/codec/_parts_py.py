"""Joins or sends the parts of a frame: the twin in Python."""

import socket
import sys
from collections.abc import Sequence

_MOST_PLACES = 1024
"""IOV_MAX of Linux and macOS."""
_GATHERED_BYTES = 32 * 1024
"""A smaller frame is joined. Of half a megabyte the copy takes a quarter of the time to send it."""


def send_parts(
    sock: socket.socket, parts: Sequence[bytes | bytearray | memoryview], start: int
) -> int:
    """Send the bytes of `parts` from `start` on, as many as the system takes at once. Return where
    the rest begins; -1: nothing is left. `sock` does not block.

    An error of the system counts as one that takes none now. The loop's write meets it again.
    """
    left = _from(parts, start)
    while left:
        if sum(map(len, left)) < _GATHERED_BYTES:
            left = [b"".join(left)]
        offered = left[:_MOST_PLACES]
        try:
            sent = sock.sendmsg(offered)
        except OSError:
            return start
        start += sent
        if sent < sum(map(len, offered)):
            return start
        left = left[_MOST_PLACES:]
    return -1


def joined_parts(
    parts: Sequence[bytes | bytearray | memoryview], start: int = 0, most: int = sys.maxsize
) -> bytes:
    """Return the bytes of `parts` from `start` on, at most so many."""
    return b"".join(_from(parts, start))[:most]


def _from(
    parts: Sequence[bytes | bytearray | memoryview], start: int
) -> list[bytes | bytearray | memoryview]:
    """Return the parts without their first `start` bytes. They are not copied."""
    for number, part in enumerate(parts):
        if start < len(part):
            return [memoryview(part)[start:], *parts[number + 1 :]]
        start -= len(part)
    return []


__all__ = ["joined_parts", "send_parts"]
