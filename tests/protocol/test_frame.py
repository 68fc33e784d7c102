"""Sizes in front of frames: cut anywhere, refused when impossible, TLS and HTTP recognised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import FrameTooLargeError, ProtocolDecodeError
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES, SIZE_PREFIX, FrameSplitter, frame_size


def framed(*payloads: bytes) -> bytes:
    return b"".join(SIZE_PREFIX.pack(len(payload)) + payload for payload in payloads)


@pytest.mark.parametrize("size", [0, 1, MAX_FRAME_BYTES])
def test_sizes_up_to_the_limit_pass(size: int) -> None:
    assert frame_size(SIZE_PREFIX.pack(size)) == size


@pytest.mark.parametrize(
    ("prefix", "reported"),
    [
        (b"\xff\xff\xff\xff", "negative size -1"),
        (b"\x80\x00\x00\x00", "negative size -2147483648"),
        (
            SIZE_PREFIX.pack(MAX_FRAME_BYTES + 1),
            "104857601 bytes was announced, above the limit of 104857600 bytes",
        ),
        # The first bytes of a TLS 1.2 alert, as a Java broker's SSL listener answers plain bytes.
        (b"\x15\x03\x03\x00", r"speaks TLS \(alert record.*PLAINTEXT listener"),
        # The first bytes of a TLS 1.3 ClientHello, as an SSL client sends to a plain listener.
        (b"\x16\x03\x01\x02", r"speaks TLS \(handshake record.*security_protocol"),
        (b"HTTP", "speaks HTTP .*check host and port"),
        (b"GET ", "speaks HTTP"),
    ],
)
def test_impossible_sizes_are_refused_with_the_likely_cause(prefix: bytes, reported: str) -> None:
    with pytest.raises(ProtocolDecodeError, match=reported):
        frame_size(prefix)


def test_the_limit_may_be_set() -> None:
    with pytest.raises(FrameTooLargeError, match="above the limit of 10 bytes") as caught:
        frame_size(SIZE_PREFIX.pack(11), 10)
    assert (caught.value.size, caught.value.limit) == (11, 10)


@given(st.lists(st.binary(max_size=20), max_size=5), st.data())
def test_frames_are_the_same_however_the_stream_is_cut(
    payloads: list[bytes], data: st.DataObject
) -> None:
    stream = framed(*payloads)
    splitter = FrameSplitter()
    frames: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        frames += splitter.feed(stream[:size])
        stream = stream[size:]
    assert frames == payloads
    assert list(splitter.feed(framed(b"next"))) == [b"next"]


def test_frames_before_a_bad_one_are_given_first() -> None:
    splitter = FrameSplitter()
    frames = splitter.feed(framed(b"good") + b"\xff\xff\xff\xff")
    assert next(frames) == b"good"
    with pytest.raises(ProtocolDecodeError):
        next(frames)
