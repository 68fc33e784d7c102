"""Owns the memory of a producer's batches: `buffer_memory` bytes, never more, in order of asking.

Buffers of the usual sizes are kept for the next batches; others are made and dropped. What is kept
counts as free, and is dropped when another size needs its room. `take` waits, the rest does not.
"""

import asyncio
from collections import deque

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import BufferExhaustedError


class _Waiter:
    __slots__ = ("granted", "size")

    def __init__(self, size: int, granted: "asyncio.Future[bytearray]") -> None:
        self.size = size
        self.granted = granted


class BufferPool:
    """Hands out `bytearray`s; `used_bytes + kept bytes <= total_bytes` at any time.

    Whoever takes a buffer gives it back once, with `give`. Nobody overtakes: while somebody
    waits, `take_nowait` gives nothing.
    """

    def __init__(self, total_bytes: int, *kept_sizes: int) -> None:
        self.total_bytes = total_bytes
        self.used_bytes = 0
        self.kept_bytes = 0
        """What lies here unused."""
        self._kept: dict[int, list[bytearray]] = {size: [] for size in kept_sizes}
        self._waiters: deque[_Waiter] = deque()
        self._cause: Exception | None = None

    @property
    def available_bytes(self) -> int:
        """What may still be taken; kept buffers count as available."""
        return self.total_bytes - self.used_bytes

    @property
    def waiting(self) -> int:
        """How many callers of `take` wait for memory."""
        return len(self._waiters)

    def __repr__(self) -> str:
        return (
            f"<BufferPool {self.used_bytes} of {self.total_bytes} bytes used, "
            f"{self.kept_bytes} bytes kept, {self.waiting} waiting>"
        )

    def take_nowait(self, size: int) -> bytearray | None:
        """Return a buffer of `size` bytes, None if its taker would have to wait."""
        if self._waiters or self._cause is not None or self.used_bytes + size > self.total_bytes:
            return None
        return self._grant(size)

    async def take(
        self, size: int, *, clock: Clock, timeout_s: float, max_block_ms: int
    ) -> bytearray:
        """Return a buffer of `size` bytes (at most `total_bytes`), when it is this caller's turn.

        `max_block_ms` is only named in the error: `timeout_s` is what is left of it.
        Raises BufferExhaustedError after `timeout_s`; what `close` was given, once closed.
        Cancelled: nothing stays behind, the next waiter has the turn.
        """
        if self._cause is not None:
            raise self._cause
        buffer = self.take_nowait(size)
        if buffer is not None:
            return buffer
        granted: asyncio.Future[bytearray] = asyncio.get_running_loop().create_future()
        waiter = _Waiter(size, granted)
        self._waiters.append(waiter)
        try:
            async with deadline(clock, timeout_s):
                return await granted
        except TimeoutError:
            if granted.done() and not granted.cancelled():
                return granted.result()  # it came in the very moment the time was over
            raise self.exhausted(size, max_block_ms) from None
        except BaseException:
            # Cancelled while the grant was on its way: nobody else knows of this buffer.
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

    def give(self, buffer: bytearray, *, reusable: bool = True) -> None:
        """Take back a buffer and pass the room on to who waits longest.

        `reusable` False: somebody may still read it, so it is not handed out again.
        """
        self.used_bytes -= len(buffer)
        if reusable:
            self._keep(buffer)
        self._serve()

    def shrink(self, buffer: bytearray, size: int) -> None:
        """Take back a buffer whose content became `size` other bytes, which count from now on.

        At most as many as the buffer has; those are given back with `give_bytes`.
        """
        self.used_bytes -= len(buffer) - size
        self._keep(buffer)
        self._serve()

    def give_bytes(self, size: int) -> None:
        """Take back what `shrink` left."""
        self.used_bytes -= size
        self._serve()

    def close(self, cause: Exception) -> None:
        """Fail those who wait, and who come, with `cause`. Buffers may still be given back."""
        self._cause = cause
        self._make_room(0)
        waiters, self._waiters = self._waiters, deque()
        for waiter in waiters:
            if not waiter.granted.done():
                waiter.granted.set_exception(cause)

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
            if waiter.granted.done():  # cancelled, and not yet run to withdraw itself
                self._waiters.popleft()
            elif waiter.size <= self.available_bytes:
                self._waiters.popleft()
                waiter.granted.set_result(self._grant(waiter.size))
            else:
                return

    def _grant(self, size: int) -> bytearray:
        self.used_bytes += size
        kept = self._kept.get(size)
        if kept:
            self.kept_bytes -= size
            return kept.pop()
        if self.used_bytes + self.kept_bytes > self.total_bytes:
            self._make_room(self.total_bytes - self.used_bytes)
        return bytearray(size)


__all__ = ["BufferPool"]
