"""What the loop reads becomes frames, in memory that connections share."""

import pytest

from aiokafka_lite.errors import KafkaConnectionError, ProtocolDecodeError
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.frame_stream import LARGE_FRAME_BYTES, SCRATCH_BYTES
from tests.net.support.pool_bytes import idle_bytes, pooled_bytes
from tests.net.support.recorded_frames import RecordedFrames, feed, transport_without_socket
from tests.net.support.scripted_node import framed


def test_small_frames_are_copies_that_later_bytes_do_not_touch() -> None:
    transport, recorded = transport_without_socket()
    feed(transport, framed(b"first") + framed(b"second"))
    feed(transport, framed(b"XXXXX" * 100))
    assert recorded.frames[:2] == [b"first", b"second"]


def test_frames_of_all_sizes_around_the_limits_come_out_as_they_went_in() -> None:
    sizes = [0, 1, LARGE_FRAME_BYTES - 1, LARGE_FRAME_BYTES, LARGE_FRAME_BYTES + 1]
    sizes += [SCRATCH_BYTES - 5, SCRATCH_BYTES - 4, SCRATCH_BYTES, SCRATCH_BYTES + 1, 3_000_000, 7]
    bodies = [bytes([number + 1]) * size for number, size in enumerate(sizes)]
    transport, recorded = transport_without_socket()
    feed(transport, b"".join(framed(body) for body in bodies))
    assert recorded.frames == bodies


def test_connections_that_are_idle_share_the_memory_they_read_into() -> None:
    """A thousand consumers of one process have thousands of connections."""
    places = set()
    for _ in range(10):
        transport, _ = transport_without_socket()
        feed(transport, framed(b"whole"))
        assert transport._scratch is None
        view = transport.get_buffer(-1)
        places.add(id(view.obj))
        view[:4] = framed(b"")
        transport.buffer_updated(4)
    assert len(places) == 1


def test_memory_in_which_a_part_of_a_frame_lies_is_nobody_elses() -> None:
    (one, first), (other, second) = transport_without_socket(), transport_without_socket()
    feed(one, framed(b"in two parts")[:7])
    feed(other, framed(b"XXXXXXXXXXXX"))
    feed(one, framed(b"in two parts")[7:])
    assert (first.frames, second.frames) == ([b"in two parts"], [b"XXXXXXXXXXXX"])


def test_a_large_frame_is_a_view_of_a_pooled_buffer() -> None:
    pool = FrameBufferPool()
    transport, recorded = transport_without_socket(pool)
    feed(transport, framed(bytes(100_000)))
    (view,) = recorded.views
    assert isinstance(view.obj, bytearray)
    assert pooled_bytes(pool) == len(view.obj)
    assert idle_bytes(pool) == 0


def test_a_buffer_is_reused_once_the_last_view_of_its_frame_is_gone() -> None:
    pool = FrameBufferPool()
    transport, recorded = transport_without_socket(pool)
    feed(transport, framed(b"a" * 100_000))
    records = recorded.views.pop()[50:60]
    feed(transport, framed(b"b" * 100_000))
    assert records == b"a" * 10
    recorded.views.clear()
    kept = pooled_bytes(pool)
    del records
    for _ in range(5):
        feed(transport, framed(b"c" * 100_000))
        recorded.views.clear()
    assert pooled_bytes(pool) == kept


def test_an_impossible_size_is_refused_before_a_buffer_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool = FrameBufferPool()
    transport, recorded = transport_without_socket(pool)
    feed(transport, framed(b"fine") + b"\x7f\xff\xff\xff" + b"x" * 1000)
    assert recorded.frames == [b"fine"]
    (error,) = recorded.lost
    assert isinstance(error, ProtocolDecodeError)
    assert transport.error is error
    assert pooled_bytes(pool) == 0


def test_nothing_is_delivered_after_the_handler_closed_the_transport() -> None:
    transport, _ = transport_without_socket()

    class ClosesAtOnce(RecordedFrames):
        def frame_received(self, frame: memoryview) -> None:
            super().frame_received(frame)
            transport.close()

    closing = ClosesAtOnce()
    transport._handler = closing
    feed(transport, framed(b"first") + framed(b"second"))
    assert closing.frames == [b"first"]
    assert closing.lost == []


def test_any_error_of_the_handler_ends_the_transport_with_that_cause() -> None:
    transport, _ = transport_without_socket()

    class Fails(RecordedFrames):
        def frame_received(self, frame: memoryview) -> None:
            raise ZeroDivisionError

    failing = Fails()
    transport._handler = failing
    feed(transport, framed(b"frame"))
    (error,) = failing.lost
    assert isinstance(error, KafkaConnectionError)
    assert isinstance(error.__cause__, ZeroDivisionError)
