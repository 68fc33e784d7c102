"""Owns the large buffers that responses are received into, and hands them out again. It does not
wait.

A response of a megabyte is read straight into one `bytearray`; the record bytes in it stay views of
that buffer until the application has taken the records. Nobody says when the last view is gone, so
nobody can forget to: a `memoryview` holds a reference to the object below it, and a buffer whose
reference count is back at the pool's own is free. A fresh `bytearray` costs a page fault per 4 KiB;
a reused one costs none, which is the larger part of receiving (measured: 5 ms instead of 32 ms for
50 MB).

Where reference counts are not exact (free-threaded builds, PyPy) or read differently from what this
module expects, the pool allocates and keeps nothing: correct, and slower.
"""

import sys
from typing import Final

DEFAULT_POOL_BYTES: Final = 64 * 1024 * 1024
_MAX_POOLED_BUFFERS: Final = 256  # bounds the search; the byte limit alone allows thousands
_PAGE_BYTES: Final = 4096
_FREED_ONCE_BYTES: Final = 2 * 1024 * 1024


class FrameBufferPool:
    """Buffers for frames, at most `max_bytes` of them kept; larger needs are met by buffers that
    are not kept.

    One pool may serve every connection of an event loop; it is not for several threads.
    """

    __slots__ = ("_buffers", "_bytes", "max_bytes")

    def __init__(self, max_bytes: int = DEFAULT_POOL_BYTES) -> None:
        self.max_bytes = max_bytes
        self._buffers: list[bytearray] = []  # oldest first
        self._bytes = 0

    def take(self, size: int) -> bytearray:
        """Return a buffer of at least `size` bytes, its content undefined.

        It is the caller's for as long as anything refers to it, and is handed out again after that.
        Slicing or viewing keeps it; resizing it is forbidden.
        """
        index = self._find_idle(size)
        if index is not None:
            return self._buffers[index]
        buffer = bytearray(_rounded_up(size))
        if _REFCOUNTS_ARE_EXACT and self._make_room(len(buffer)):
            self._buffers.append(buffer)
            self._bytes += len(buffer)
        return buffer

    def _find_idle(self, size: int) -> int | None:
        """Return the index of the smallest idle buffer that fits without wasting more than half of
        itself."""
        buffers = self._buffers
        best: int | None = None
        best_size = 2 * _rounded_up(size) + 1
        for index in range(len(buffers)):
            buffer_size = len(buffers[index])
            if size <= buffer_size < best_size and _is_idle(buffers, index):
                best, best_size = index, buffer_size
        return best

    def _make_room(self, size: int) -> bool:
        """Drop idle buffers, oldest first, until `size` bytes more fit; False if they cannot."""
        if size > self.max_bytes:
            return False
        index = 0
        while self._bytes + size > self.max_bytes or len(self._buffers) >= _MAX_POOLED_BUFFERS:
            if index >= len(self._buffers):
                return False
            if _is_idle(self._buffers, index):
                self._bytes -= len(self._buffers.pop(index))
            else:
                index += 1
        return True


def _rounded_up(size: int) -> int:
    """Round up in steps of an eighth, so that responses of about the same size share buffers."""
    step = max(_PAGE_BYTES, 1 << max(0, size.bit_length() - 4))
    return -(-size // step) * step


def _is_idle(buffers: list[bytearray], index: int) -> bool:
    return sys.getrefcount(buffers[index]) <= _IDLE_REFCOUNT


def _measure_idle_refcount() -> int:
    """Return what `getrefcount` says, in the very expression of `_is_idle`, of a buffer that only a
    list holds."""
    probe = [bytearray(1)]

    def count(buffers: list[bytearray], index: int) -> int:
        return sys.getrefcount(buffers[index])

    return count(probe, 0)


def _refcounts_are_exact() -> bool:
    """Return whether a view, and a view of a view, show in the count, and whether their end shows,
    too."""
    gil_enabled = getattr(sys, "_is_gil_enabled", lambda: True)
    if sys.implementation.name != "cpython" or not gil_enabled():
        return False
    probe = [bytearray(8)]
    idle_before = _is_idle(probe, 0)
    outer = memoryview(probe[0])
    inner = outer[2:4][:1]
    del outer
    idle_while_viewed = _is_idle(probe, 0)
    del inner
    return idle_before and not idle_while_viewed and _is_idle(probe, 0)


def _keep_freed_memory() -> None:
    """Let the C library keep the memory of one poll's records for the next poll.

    glibc returns free memory at the end of its heap to the system from 128 KiB on. It raises that
    limit to twice the size of the largest block it mapped and saw freed (mallopt(3),
    M_MMAP_THRESHOLD). Records of 1 KB are freed by the hundred after each poll; without this, their
    pages are returned and faulted in again, depending on what lies behind them. No page of the
    block is touched, so it costs two system calls. Other C libraries are not affected.
    """
    bytearray(_FREED_ONCE_BYTES)


_keep_freed_memory()
_IDLE_REFCOUNT: Final = _measure_idle_refcount()
_REFCOUNTS_ARE_EXACT: Final = _refcounts_are_exact()


__all__ = ["FrameBufferPool"]
