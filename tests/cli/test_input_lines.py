"""Lines come in chunks, from files, pipes and objects in memory, and nothing waits in a thread."""

import asyncio
import io
import os
import sys
from pathlib import Path

import pytest

from aiokafka_lite.cli import input_lines
from aiokafka_lite.cli.input_lines import LineSplitter, lines_of


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_any_cut_of_the_input_gives_the_same_lines(size: int) -> None:
    data = b"one\r\n\ntwo\nthree and more\nlast\r"
    splitter = LineSplitter()
    lines = []
    for begin in range(0, len(data), size):
        lines += splitter.feed(data[begin : begin + size])
    assert lines + splitter.rest() == [b"one", b"", b"two", b"three and more", b"last"]
    assert splitter.rest() == []


def test_a_line_without_an_end_is_refused_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_lines, "MAX_LINE_BYTES", 10)
    splitter = LineSplitter()
    splitter.feed(b"12345")
    with pytest.raises(ValueError, match="more than 10 bytes"):
        splitter.feed(b"678901")


async def all_of(files: list[Path]) -> list[bytes]:
    return [line async for lines in lines_of(files) for line in lines]


async def test_files_come_one_after_the_other(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1\n2")
    (tmp_path / "b").write_bytes(b"3\n")
    assert await all_of([tmp_path / "a", tmp_path / "b"]) == [b"1", b"2", b"3"]


async def test_an_object_in_memory_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x\ny\n")))
    assert await all_of([]) == [b"x", b"y"]


async def test_a_closed_standard_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input is closed"):
        await all_of([])


async def test_an_open_pipe_keeps_nothing_waiting_and_is_left_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as target:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(source))
        lines = lines_of([])
        waiting = asyncio.ensure_future(anext(lines))
        await asyncio.sleep(0)
        target.write(b"now\nhal")
        assert await waiting == [b"now"]
        waiting = asyncio.ensure_future(anext(lines))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not asyncio.get_running_loop().remove_reader(reading)
