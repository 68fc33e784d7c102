"""Reads lines from files and standard input in chunks, and never keeps the event loop waiting.

A pipe or a terminal is read when it has data, so a signal ends the wait at once. A thread for each
line cost 90 us of CPU, and its `read` could not be interrupted.
"""

import asyncio
import io
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

from aiokafka_lite.concurrency.outcome import give

CHUNK_BYTES: Final = 1 << 18
MAX_LINE_BYTES: Final = 1 << 28
"""The longest line: no record may be longer than a request, and an endless line fills memory."""


class LineSplitter:
    """Cuts chunks into lines, without their ends. Does not wait."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._pending_bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in this chunk.

        Raises: ValueError if a line is longer than MAX_LINE_BYTES.
        """
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines:
            lines[0] = b"".join((*self._pieces, lines[0])).rstrip(b"\r")
            self._pieces.clear()
            self._pending_bytes = 0
        self._pieces.append(rest)
        self._pending_bytes += len(rest)
        if self._pending_bytes > MAX_LINE_BYTES:
            raise ValueError(
                f"a line has more than {MAX_LINE_BYTES} bytes; no record may be so large, so cut it"
            )
        return [line.rstrip(b"\r") for line in lines] if b"\r" in chunk else lines

    def rest(self) -> list[bytes]:
        """Return the last line if it has no end; [] if there is none."""
        last = b"".join(self._pieces)
        self._pieces.clear()
        self._pending_bytes = 0
        return [last.rstrip(b"\r")] if last else []


async def lines_of(files: Sequence[Path]) -> AsyncIterator[list[bytes]]:
    """Yield the lines of the files, one after the other, or of stdin if there are none.

    A list has the lines that one read returned. Lets other tasks run before each read.

    Raises: OSError of a file; ValueError as `LineSplitter`, and if stdin is closed.
    Cancelled: nothing is read any more.
    """
    if not files:
        if sys.stdin is None:
            raise ValueError("standard input is closed; name a file, or write lines into a pipe")
        async for lines in _lines_of_one(sys.stdin.buffer):
            yield lines
    for path in files:
        with path.open("rb", buffering=0) as file:
            async for lines in _lines_of_one(file):
                yield lines


async def _lines_of_one(file: BinaryIO | io.FileIO) -> AsyncIterator[list[bytes]]:
    splitter = LineSplitter()
    while chunk := await _read(file):
        if lines := splitter.feed(chunk):
            yield lines
    if lines := splitter.rest():
        yield lines


async def _read(file: BinaryIO | io.FileIO) -> bytes:
    """Return the next bytes of a file; b"" at its end."""
    try:
        number = file.fileno()
    except io.UnsupportedOperation:  # a stdin that is an object in memory
        await asyncio.sleep(0)
        return file.read(CHUNK_BYTES) or b""
    while True:
        try:
            await _until_readable(number)
        except NotImplementedError:  # the event loop of Windows waits for sockets only
            return await asyncio.to_thread(os.read, number, CHUNK_BYTES)
        with suppress(BlockingIOError):  # another process has read it
            return os.read(number, CHUNK_BYTES)


async def _until_readable(number: int) -> None:
    """Wait until a read does not block. Regular files never block, and selectors refuse them."""
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    try:
        loop.add_reader(number, give, readable, None)
    except PermissionError:
        await asyncio.sleep(0)
        return
    try:
        await readable
    finally:
        loop.remove_reader(number)


__all__ = ["CHUNK_BYTES", "MAX_LINE_BYTES", "LineSplitter", "lines_of"]
