"""Walking a sequence of frames, with a frame that says its own size as the codec."""

import struct

import pytest

from aiokafka_lite.compression.frames import Frame, walk_frames
from aiokafka_lite.errors import CorruptRecordException

MAGIC = 0x0A0B0C0D


def frame(size: int) -> bytes:
    return struct.pack("<II", MAGIC, size) + bytes(size)


def skippable(size: int, nibble: int = 0) -> bytes:
    return struct.pack("<II", 0x184D2A50 + nibble, size) + bytes(size)


def measure(view: memoryview, start: int) -> Frame:
    (size,) = struct.unpack_from("<I", view, start + 4)
    return Frame(start, start + 8 + size, size * 2)


def walked(data: bytes) -> list[Frame]:
    return list(walk_frames("toy", MAGIC, memoryview(data), measure))


def test_frames_come_in_order_with_their_places() -> None:
    assert walked(frame(3) + frame(0)) == [Frame(0, 11, 6), Frame(11, 19, 0)]


@pytest.mark.parametrize("nibble", [0, 15])
def test_skippable_frames_are_passed_over(nibble: int) -> None:
    assert walked(skippable(5, nibble) + frame(1) + skippable(0, nibble)) == [Frame(13, 22, 2)]


def test_nothing_has_no_frames() -> None:
    assert walked(b"") == []


@pytest.mark.parametrize(
    "data", [frame(3)[:-1], frame(1)[:6], skippable(2)[:-1], frame(1) + b"\x0d"]
)
def test_what_is_cut_off_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptRecordException, match=r"toy.*: the stream is truncated"):
        walked(data)


def test_what_is_no_frame_ends_the_walk_where_the_codec_says_so() -> None:
    for tail in (b"\x0d", b"junk", skippable(1, 16)):
        data = memoryview(frame(1) + tail)
        assert list(walk_frames("toy", MAGIC, data, measure, ends_at_tail=True)) == [Frame(0, 9, 2)]
    assert walked(frame(1) + skippable(2)[:-1]) == [Frame(0, 9, 2)]


def test_what_starts_otherwise_is_corrupt_and_named() -> None:
    with pytest.raises(CorruptRecordException, match="no frame starts with 0x184d2a60"):
        walked(frame(1) + skippable(1, 16))
