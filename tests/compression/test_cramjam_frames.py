"""Frames through cramjam; the codecs' own tests run every shape of frame through it."""

import cramjam
import pytest

from aiokafka_lite.compression.cramjam_frames import decompress_frames
from aiokafka_lite.compression.frames import Frame
from aiokafka_lite.errors import CorruptRecordException


def unpack(frames: list[bytes], bounds: list[int], max_size: int) -> bytes:
    places, position = [], 0
    for frame, bound in zip(frames, bounds, strict=True):
        places.append(Frame(position, position + len(frame), bound))
        position += len(frame)
    view = memoryview(b"".join(frames))
    return decompress_frames("zstd", view, places, cramjam.zstd.decompress_into, max_size)


def frame(content: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(content))


def test_frames_are_joined_in_order() -> None:
    frames = [frame(b"a" * 100), frame(b""), frame(b"b" * 50)]
    assert unpack(frames, [100, 0, 50], 150) == b"a" * 100 + b"b" * 50


def test_the_bound_is_of_all_frames_together() -> None:
    frames = [frame(b"a" * 100), frame(b"b" * 100)]
    with pytest.raises(CorruptRecordException, match=r"bound is 199 bytes"):
        unpack(frames, [100, 100], 199)


def test_garbage_is_malformed() -> None:
    with pytest.raises(CorruptRecordException, match="malformed zstd"):
        unpack([b"garbage"], [100], 1000)
