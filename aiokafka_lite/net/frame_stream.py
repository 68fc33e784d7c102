"""Turns the bytes of one connection into frames, and each frame into one write. Does not wait.

`transport` gives it a place on the event loop, which calls it when bytes have come or have left.

Small frames arrive in a scratch buffer and are copied out of it. A large frame is read straight
into a buffer of the pool and is not copied. A connection has a scratch buffer only during a read,
or while it holds a part of a frame. A process with a thousand consumers has thousands of
connections, most of them idle.
"""

import asyncio
import socket
from contextlib import suppress
from typing import Final, Protocol

from aiokafka_lite.codec.parts import Parts, joined_parts, send_parts
from aiokafka_lite.errors import KafkaConnectionError, KafkaError
from aiokafka_lite.net.connection_errors import connection_error
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES, SIZE_PREFIX, frame_size

SCRATCH_BYTES: Final = 64 * 1024
LARGE_FRAME_BYTES: Final = 32 * 1024
"""A frame above this size gets a buffer of its own. The limit is at most half of the scratch
buffer. So the start of a smaller frame, moved to the front, leaves room for the rest."""
_PREFIX_BYTES: Final = 4
_SPARE_SCRATCHES: Final = 4
"""How many free scratch buffers are kept, for the loops of several threads and for bursts."""
_AWAITED_BYTES: Final = 128 * 1024
"""How many bytes of a large frame are awaited before the loop wakes up (SO_RCVLOWAT of Linux).

A broker sends over TLS in records of 16 KB, and each would wake up the process. With 128 KB a
record of 100 bytes takes 0.41 us instead of 0.77 to read over TLS, from a broker on the same cores.
"""
_PIECE_BYTES: Final = 64 * 1024
"""How many bytes of a frame that the system does not take at once are copied for the loop to send.
The loop says when they have left, and the others follow without a copy."""
_LOOP_PIECE_BYTES: Final = 256 * 1024
"""The same where the loop sends all, as with TLS, which also keeps what it has encrypted. Batches
behind a backlog have at most so many. So a slow node costs little beyond `buffer_memory`."""
_HELD_BACK_BYTES: Final = 20_000
"""The most bytes of a frame that TLS holds back: a part of one record."""


class FrameHandler(Protocol):
    """Receives the events of a transport, in callbacks of the event loop. An event that the peer
    causes must not make it raise."""

    def frame_received(self, frame: memoryview) -> None:
        """Take one frame, without its size prefix. The handler may keep the view."""

    def writing_resumed(self) -> None:
        """Called when all written bytes have left for the kernel, if `can_write` was False."""

    def transport_lost(self, error: KafkaError) -> None:
        """Called once when the transport is lost, with the reason. Not called after `close`."""


_spare_scratches: list[memoryview] = []


class FrameStream:
    """The frames of one connection. The base of the transport, which the event loop calls."""

    __slots__ = (
        "_awaited",
        "_frame_pool",
        "_handler",
        "_high_water",
        "_is_handing_on",
        "_large_end",
        "_large_frame",
        "_max_frame_bytes",
        "_peer",
        "_scratch",
        "_scratch_end",
        "_sends_by",
        "_socket",
        "_transport",
        "_unsent",
        "_unsent_at",
        "_was_paused",
        "can_write",
        "error",
    )

    def __init__(
        self,
        handler: FrameHandler,
        peer: str,
        frame_pool: FrameBufferPool,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        # None after the last event.
        self._handler: FrameHandler | None = handler
        self._peer = peer
        self._frame_pool = frame_pool
        self._max_frame_bytes = max_frame_bytes
        self._transport: asyncio.Transport | None = None
        self._high_water = 0
        self.can_write = True
        """Whether every frame written so far has left completely."""
        self.error: KafkaError | None = None
        """The reason why the transport was lost; None after `close()`."""
        self._scratch: memoryview | None = None
        self._scratch_end = 0  # bytes received and not used yet; they begin with a size prefix
        self._large_frame: memoryview | None = None
        self._large_end = 0
        self._socket: socket.socket | None = None  # None where bytes cannot be awaited
        self._awaited = 1
        self._sends_by: socket.socket | None = None  # None where the loop sends all frames
        self._unsent: Parts = []
        self._unsent_at = 0  # so many bytes of `_unsent` have left, or the loop has them
        self._was_paused = False  # since the loop last resumed
        self._is_handing_on = False

    # Sending…

    def write(self, parts: Parts) -> None:
        """Write one whole frame. Does not wait; `can_write` then says whether all of it has left.

        Bytes that have not left are read from `parts` later, so `parts` must not change before
        `writing_resumed`. The handler learns of a failure; the call does not raise.
        """
        transport = self._transport
        if transport is None or self._handler is None or transport.is_closing():
            return  # the handler knows, or learns of it soon
        self._unsent = [*self._unsent, *parts] if self._unsent else parts
        self._send_unsent(transport)

    def _send_unsent(self, transport: asyncio.Transport) -> None:
        """Send as much as the system takes, and let the loop say when it takes more."""
        try:
            sock = self._sends_by
            if sock is None:
                self._send_by_loop(transport)
                return
            while (
                self._unsent
                and not transport.get_write_buffer_size()
                and not transport.is_closing()
            ):
                self._send_now(sock, transport)
        except (OSError, RuntimeError) as error:
            # uvloop raises RuntimeError for a transport that has just closed. The frames of the
            # error hold `parts`, in which a token can be.
            self._fail(connection_error(error.with_traceback(None), self._peer))

    def _send_by_loop(self, transport: asyncio.Transport) -> None:
        """Hand pieces to the loop until it pauses. Its TLS may pause and resume in one call."""
        self._is_handing_on = True
        try:
            while self._unsent and not (self._was_paused or transport.is_closing()):
                self._hand_on(transport, self._unsent_at, _LOOP_PIECE_BYTES)
        finally:
            self._is_handing_on = False
        if not self._was_paused:
            self.can_write = True

    def _send_now(self, sock: socket.socket, transport: asyncio.Transport) -> None:
        """Send what the system takes at once, and let the loop have a piece of what is left."""
        at = send_parts(sock, self._unsent, self._unsent_at)
        if at < 0:
            self._unsent = []
            self._unsent_at = 0
        else:
            self._hand_on(transport, at, _PIECE_BYTES)

    def _hand_on(self, transport: asyncio.Transport, at: int, most: int) -> None:
        """Let the loop have at most so many bytes of the unsent ones, from `at` on."""
        piece = joined_parts(self._unsent, at, most)
        if len(piece) < most:
            self._unsent = []
            self._unsent_at = 0
        else:
            self._unsent_at = at + most
        if piece:
            transport.write(piece)

    def pause_writing(self) -> None:
        self.can_write = False
        self._was_paused = True

    def resume_writing(self) -> None:
        self._was_paused = False
        if self._is_handing_on:
            return  # that goes on by itself
        if self._transport is not None and self._unsent:
            self._send_unsent(self._transport)  # while nobody else can write
        if not self._was_paused:
            self.can_write = True
            if self._handler is not None:
                self._handler.writing_resumed()

    # Receiving…

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  the loop gives it
        if self._large_frame is not None:
            return self._large_frame[self._large_end :]
        scratch = self._scratch
        if scratch is None:
            scratch = self._scratch = _take_scratch()
        return scratch[self._scratch_end :] if self._scratch_end else scratch

    def buffer_updated(self, nbytes: int) -> None:
        try:
            if self._large_frame is None:
                self._scratch_end += nbytes
                self._split_scratch()
            else:
                self._large_end += nbytes
                self._await_bytes(len(self._large_frame) - self._large_end)
                self._finish_large_frame()
        except KafkaError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001  the loop would close without a reason
            fault = KafkaConnectionError(
                f"{self._peer}: an answer could not be processed: {error!r}"
            )
            fault.__cause__ = error
            self._fail(fault)

    def _split_scratch(self) -> None:
        start, end = 0, self._scratch_end
        view = self._scratch
        assert view is not None
        if (
            _PREFIX_BYTES < end <= min(LARGE_FRAME_BYTES, self._max_frame_bytes)
            and end == SIZE_PREFIX.unpack_from(view)[0] + _PREFIX_BYTES
        ):  # one whole frame, as usual
            frame = memoryview(bytes(view[_PREFIX_BYTES:end]))
            self._scratch_end = 0
            self._scratch = None
            _give_back(view)
            self._deliver(frame)
            return
        while end - start >= _PREFIX_BYTES:
            body = start + _PREFIX_BYTES
            size = SIZE_PREFIX.unpack_from(view, start)[0]
            if not 0 <= size <= self._max_frame_bytes:
                frame_size(view[start:end], self._max_frame_bytes)  # raises
            if size > LARGE_FRAME_BYTES:
                start = self._begin_large_frame(view, size, body)
            elif body + size <= end:
                start = body + size
                # The next read overwrites the scratch buffer, and the handler may keep the frame.
                self._deliver(memoryview(bytes(view[body:start])))
            else:
                break
        rest = end - start
        if start and rest:
            view[:rest] = view[start:end]
        self._scratch_end = rest
        if not rest:
            self._scratch = None
            _give_back(view)

    def _begin_large_frame(self, view: memoryview, size: int, body: int) -> int:
        """Move the received part of a large frame to a buffer of its own; return where the rest of
        the scratch buffer begins."""
        arrived = min(size, self._scratch_end - body)
        self._large_frame = memoryview(self._frame_pool.take(size))[:size]
        self._large_frame[:arrived] = view[body : body + arrived]
        self._large_end = arrived
        self._finish_large_frame()
        return body + arrived

    def _await_bytes(self, left: int) -> None:
        """Let the system wake up the loop when enough of a large frame has come.

        `left` bytes are still to come, less those that TLS holds back. The buffer that was offered
        was larger than what was read, unless `left` is 0. So TLS had no whole record left.
        """
        awaited = min(left - _HELD_BACK_BYTES, _AWAITED_BYTES)
        if awaited < _HELD_BACK_BYTES:
            awaited = 1
        if awaited != self._awaited and self._socket is not None:
            self._awaited = awaited
            with suppress(OSError):  # the loop has closed it
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, awaited)

    def _finish_large_frame(self) -> None:
        frame = self._large_frame
        if frame is not None and self._large_end == len(frame):
            self._large_frame = None
            self._deliver(frame)

    def _deliver(self, frame: memoryview) -> None:
        # None if the handler has closed this transport because of an earlier frame.
        if self._handler is not None:
            self._handler.frame_received(frame)

    # Closing…

    def close(self) -> None:
        """Close the socket at once. The handler gets no more events.

        Bytes that have not left are dropped, because a peer that does not read must not keep the
        connection open.
        """
        self._handler = None
        self._unsent = []
        if self._transport is not None:
            self._transport.abort()

    def _fail(self, error: KafkaError) -> None:
        handler, self._handler = self._handler, None
        if handler is None:
            return
        self.error = error
        self._unsent = []
        if self._transport is not None:
            self._transport.abort()
        handler.transport_lost(error)


def _take_scratch() -> memoryview:
    try:
        return _spare_scratches.pop()
    except IndexError:
        return memoryview(bytearray(SCRATCH_BYTES))


def _give_back(scratch: memoryview) -> None:
    if len(_spare_scratches) < _SPARE_SCRATCHES:
        _spare_scratches.append(scratch)


__all__ = ["LARGE_FRAME_BYTES", "SCRATCH_BYTES", "FrameHandler", "FrameStream"]
