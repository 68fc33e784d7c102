"""A pool of large buffers that responses are received into. Does not wait.

The transport reads a large response straight into one `bytearray`. The record bytes remain views of
that buffer until the application has taken the records. No code returns a buffer to the pool. A
`memoryview` holds a reference to its buffer, so a buffer is free when only the pool refers to it.
A new `bytearray` costs a page fault per 4 KiB, and a reused one costs none. That is the larger part
of receiving (measured: 5 ms instead of 32 ms for 50 MB).

Without exact reference counts (free-threaded builds, PyPy) the pool allocates each buffer and keeps
none. That is correct, and slower.

So no code can forget to return a buffer, and none can use a buffer after its return.
"""

import sys
from typing import Final

DEFAULT_POOL_BYTES: Final = 64 * 1024 * 1024
_MAX_POOLED_BUFFERS: Final = 256  # bounds the search; the byte limit alone allows thousands
_PAGE_BYTES: Final = 4096
_FREED_ONCE_BYTES: Final = 2 * 1024 * 1024


class FrameBufferPool:
    """Buffers for frames. The pool keeps at most `max_bytes`; beyond that a buffer is not kept.

    One pool may serve all connections of an event loop. It is not safe for several threads.
    """

    __slots__ = ("_buffers", "_bytes", "max_bytes")

    def __init__(self, max_bytes: int = DEFAULT_POOL_BYTES) -> None:
        self.max_bytes = max_bytes
        self._buffers: list[bytearray] = []  # oldest first
        self._bytes = 0

    def take(self, size: int) -> bytearray:
        """Return a buffer of at least `size` bytes with undefined content.

        It belongs to the caller while anything refers to it, such as a view. Then the pool returns
        it again. The caller must not resize it.
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
        """Return the index of the smallest idle buffer of which at least half would be used."""
        buffers = self._buffers
        best: int | None = None
        best_size = 2 * _rounded_up(size) + 1
        for index in range(len(buffers)):
            buffer_size = len(buffers[index])
            if size <= buffer_size < best_size and _is_idle(buffers, index):
                best, best_size = index, buffer_size
        return best

    def _make_room(self, size: int) -> bool:
        """Drop idle buffers, oldest first, until `size` more bytes fit. False: they do not fit."""
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
    """Return the reference count that `_is_idle` sees for a buffer which only a list holds."""
    probe = [bytearray(1)]

    def count(buffers: list[bytearray], index: int) -> int:
        return sys.getrefcount(buffers[index])

    return count(probe, 0)


def _refcounts_are_exact() -> bool:
    """Return whether the reference count rises with views of a buffer, and falls after them."""
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


def keep_freed_memory(block_bytes: int) -> None:
    """Let the C library keep freed memory for what comes next, up to twice `block_bytes`.

    glibc returns free memory at the end of its heap to the system from 128 KiB on. It raises that
    limit to twice the size of the largest block it mapped and saw freed (mallopt(3),
    M_MMAP_THRESHOLD). Hundreds of records of 1 KB are freed after each poll. Without this call,
    their pages may be returned and faulted in again, depending on what lies behind them. Other C
    libraries are not affected.

    CPython takes `bytes` of zeros from the system as they are, so no page of the block is touched.
    A `bytearray` writes its zeros, which cost 513 page faults at import.
    """
    bytes(block_bytes)


keep_freed_memory(_FREED_ONCE_BYTES)
_IDLE_REFCOUNT: Final = _measure_idle_refcount()
_REFCOUNTS_ARE_EXACT: Final = _refcounts_are_exact()


__all__ = ["FrameBufferPool", "keep_freed_memory"]
