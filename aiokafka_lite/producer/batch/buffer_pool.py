"""Owns the memory of a producer's batches: never more than `buffer_memory`, first come, first
served.

Buffers of the usual sizes are kept for later batches; others are dropped. Kept buffers count as
free, and are dropped when a buffer of another size needs the room. Only `take` waits.
"""

import asyncio
from collections import deque

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.outcome import give, give_error
from aiokafka_lite.errors import BufferExhaustedError
from aiokafka_lite.record.batch_builder import new_buffer

_SCARCE_SHARE = 16


class _Waiter:
    __slots__ = ("granted", "size")

    def __init__(self, size: int, granted: "asyncio.Future[bytearray]") -> None:
        self.size = size
        self.granted = granted


class BufferPool:
    """Hands out `bytearray`s; `used_bytes + kept bytes <= total_bytes` at any time.

    A taken buffer is given back once, with `give`. While a caller of `take` waits, `take_nowait`
    returns None, so that it does not overtake.
    """

    def __init__(self, total_bytes: int, *kept_sizes: int) -> None:
        self.total_bytes = total_bytes
        self.used_bytes = 0
        self.kept_bytes = 0
        """The size of the kept buffers."""
        self._kept: dict[int, list[bytearray]] = {size: [] for size in kept_sizes}
        self._waiters: deque[_Waiter] = deque()
        self._cause: Exception | None = None

    @property
    def available_bytes(self) -> int:
        """How many bytes may still be taken; kept buffers count as available."""
        return self.total_bytes - self.used_bytes

    @property
    def waiting(self) -> int:
        """How many callers of `take` wait for memory."""
        return len(self._waiters)

    def is_scarce(self) -> bool:
        """Say whether so much is used that no memory may be wasted. A batch may waste as much as it
        uses, so up to this point all together have a sixteenth more than `total_bytes` at most.
        """
        return self.used_bytes * _SCARCE_SHARE >= self.total_bytes

    def __repr__(self) -> str:
        return (
            f"<BufferPool {self.used_bytes} of {self.total_bytes} bytes used, "
            f"{self.kept_bytes} bytes kept, {self.waiting} waiting>"
        )

    def take_nowait(self, size: int) -> bytearray | None:
        """Return a buffer of `size` bytes; None: the caller would have to wait."""
        if self._waiters or self._cause is not None or self.used_bytes + size > self.total_bytes:
            return None
        self.used_bytes += size
        return self._buffer_of(size)

    async def take(
        self, size: int, *, clock: Clock, timeout_s: float, max_block_ms: int
    ) -> bytearray:
        """Return a buffer of `size` bytes (at most `total_bytes`), when it is this caller's turn.

        The error names `max_block_ms`; `timeout_s` is what is left of it.
        Raises: BufferExhaustedError after `timeout_s`; the cause given to `close`, once closed.
        Cancelled: nothing is taken, and the next caller has the turn.
        """
        if self._cause is not None:
            raise self._cause
        buffer = self.take_nowait(size)
        if buffer is not None:
            return buffer
        granted: asyncio.Future[bytearray] = asyncio.get_running_loop().create_future()
        waiter = _Waiter(size, granted)
        self._waiters.append(waiter)
        self._serve()  # a call in the middle may have given memory back
        try:
            async with deadline(clock, timeout_s):
                return await granted
        except TimeoutError:
            if granted.done() and not granted.cancelled():
                return granted.result()  # granted in the same turn of the loop
            raise self.exhausted(size, max_block_ms) from None
        except BaseException:
            # Cancelled after the grant: only this call can give the buffer back.
            if granted.done() and not granted.cancelled() and granted.exception() is None:
                self.give(granted.result())
            raise
        finally:
            if not granted.done() or granted.cancelled():
                self._withdraw(waiter)

    def exhausted(self, size: int, max_block_ms: int) -> BufferExhaustedError:
        """Return the error for a call that has waited `max_block_ms` for `size` bytes."""
        return BufferExhaustedError(
            f"no room for a batch of {size} bytes within max_block_ms={max_block_ms}: "
            f"{self.used_bytes} of buffer_memory={self.total_bytes} bytes hold records the "
            f"brokers have not acknowledged; raise buffer_memory, send less, or look at the "
            f"brokers"
        )

    def give(self, buffer: bytearray, reusable: bool = True) -> None:
        """Take back a buffer and serve the callers that wait.

        `reusable` False: a request may still read the buffer, so it is not handed out again.
        """
        size = len(buffer)  # a call in the middle of -= could change what it changes
        self.used_bytes -= size
        if reusable:
            self._keep(buffer)
        self._serve()

    def shrink(self, buffer: bytearray, size: int) -> None:
        """Take back a buffer whose content was compressed into `size` other bytes.

        Those bytes, at most the size of the buffer, count until `give_bytes` gives them back.
        """
        freed_bytes = len(buffer) - size
        self.used_bytes -= freed_bytes
        self._keep(buffer)
        self._serve()

    def give_bytes(self, size: int) -> None:
        """Take back bytes that `shrink` has left."""
        self.used_bytes -= size
        self._serve()

    def close(self, cause: Exception) -> None:
        """Fail present and later calls of `take` with `cause`. Buffers may still be given back."""
        self._cause = cause
        self._make_room(0)
        waiters, self._waiters = self._waiters, deque()
        for waiter in waiters:
            give_error(waiter.granted, cause)

    def _keep(self, buffer: bytearray) -> None:
        size = len(buffer)
        kept = self._kept.get(size)
        if (
            kept is not None
            and self.used_bytes + self.kept_bytes + size <= self.total_bytes
            and self._cause is None
        ):
            kept.append(buffer)
            self.kept_bytes += size

    def _make_room(self, most_bytes: int) -> None:
        """Drop kept buffers, the largest first, until they have at most `most_bytes`."""
        for size in sorted(self._kept, reverse=True):
            kept = self._kept[size]
            while kept and self.kept_bytes > most_bytes:
                kept.pop()
                self.kept_bytes -= size

    def _withdraw(self, waiter: _Waiter) -> None:
        if waiter in self._waiters:
            self._waiters.remove(waiter)
            self._serve()

    def _serve(self) -> None:
        while self._waiters:
            waiter = self._waiters[0]
            is_over = waiter.granted.done()  # cancelled, and its task has not run yet
            if not self._waiters or self._waiters[0] is not waiter:
                continue  # a send in the middle has served it
            if is_over:
                self._waiters.popleft()
                continue
            size = waiter.size
            if size > self.total_bytes - self.used_bytes:
                return
            self.used_bytes += size
            self._waiters.popleft()
            buffer = self._buffer_of(size)
            if not give(waiter.granted, buffer):
                self.used_bytes -= size
                self._keep(buffer)

    def _buffer_of(self, size: int) -> bytearray:
        """Return a buffer that is counted already."""
        kept = self._kept.get(size)
        if kept:
            self.kept_bytes -= size
            return kept.pop()
        if self.used_bytes + self.kept_bytes > self.total_bytes:
            self._make_room(self.total_bytes - self.used_bytes)
        return new_buffer(size)


__all__ = ["BufferPool"]
