"""Tests of `codec/parts.py`: both twins join and send the parts of a frame alike."""

import socket
import sys
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.codec import _parts_py, parts
from aiokafka_lite.record.batch_builder import RecordBatchBuilder

TWINS = list({module.send_parts.__module__: module for module in (_parts_py, parts)}.values())
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no gather write")


@pytest.fixture(params=TWINS, ids=lambda twin: twin.send_parts.__module__.rpartition(".")[2])
def twin(request):
    return request.param


@contextmanager
def connected_pair():
    """A socket that does not block and has a small buffer, and its peer."""
    sender, receiver = socket.socketpair()
    with sender, receiver:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        sender.setblocking(False)
        yield sender, receiver


@pytest.fixture
def pair():
    with connected_pair() as pair:
        yield pair


def batch_of(sizes):
    """Return a sealed batch with a value of each size: a part, and the same bytes joined."""
    builder = RecordBatchBuilder(bytearray(100 + sum(sizes) + 32 * len(sizes)))
    for number, size in enumerate(sizes):
        assert builder.append(number, b"key", bytes([number % 251]) * size) == number
    builder.stamp(1, 2, 3)
    return builder.part(), bytes(builder.wire())


kinds = st.sampled_from((bytes, bytearray, memoryview))
plain = st.builds(lambda kind, data: (kind(data), data), kinds, st.binary(max_size=300))
batches = st.lists(st.sampled_from((0, 10, 399, 400, 401, 402, 3_000)), max_size=5).map(batch_of)
frames = st.lists(st.one_of(plain, batches), max_size=6)


@given(frame=frames, start=st.integers(0, 30_000), most=st.integers(0, 30_000))
def test_parts_are_joined_from_any_byte_on(frame, start, most):
    whole = b"".join(data for _, data in frame)
    for each in TWINS:
        given_parts = [part for part, _ in frame]
        assert each.joined_parts(given_parts) == whole
        assert each.joined_parts(given_parts, start) == whole[start:]
        assert each.joined_parts(given_parts, start, most) == whole[start : start + most]


@given(frame=frames)
def test_a_part_has_the_length_and_the_bytes_of_its_batch(frame):
    for part, data in frame:
        assert len(part) == len(data)
        view = memoryview(part)
        assert bytes(view) == data
        assert (view.itemsize, view.ndim, view.contiguous) == (1, 1, True)


@given(frame=frames)
def test_what_one_call_sends_may_end_anywhere_and_the_next_goes_on_there(frame):
    whole = b"".join(data for _, data in frame)
    for each in TWINS:
        with connected_pair() as (sender, receiver):
            arrived = sent_through(each, sender, receiver, [part for part, _ in frame])
        assert arrived == whole


def sent_through(twin, sender, receiver, given_parts):
    """Send all parts, and read at most 1,000 bytes whenever the system takes no more."""
    arrived = b""
    at = twin.send_parts(sender, given_parts, 0)
    while at >= 0:
        before = at
        arrived += receiver.recv(1000)
        at = twin.send_parts(sender, given_parts, at)
        assert at < 0 or at >= before
    sender.close()
    while data := receiver.recv(100_000):
        arrived += data
    return arrived


@pytest.mark.parametrize("count", [1_023, 1_024, 1_025, 2_048, 5_000])
def test_more_parts_than_one_call_of_the_system_takes(twin, pair, count):
    given_parts = [bytes([number % 251]) * 40 for number in range(count)]
    assert sent_through(twin, pair[0], pair[1], given_parts) == b"".join(given_parts)


@pytest.mark.parametrize("count", [511, 512, 513, 1_500])
def test_more_values_than_one_call_of_the_system_takes(twin, pair, count):
    part, data = batch_of([401] * count)
    assert (
        sent_through(twin, pair[0], pair[1], [b"head", part, b"tail"]) == b"head" + data + b"tail"
    )


def test_nothing_to_send_is_sent(twin, pair):
    assert twin.send_parts(pair[0], [], 0) == -1
    assert twin.send_parts(pair[0], [b""], 0) == -1
    assert twin.send_parts(pair[0], [b"ab", b"c"], 3) == -1


def test_a_socket_that_takes_nothing_leaves_everything(twin, pair):
    sender, receiver = pair
    assert twin.send_parts(sender, [b"x" * 10_000_000], 0) > 0
    assert twin.send_parts(sender, [b"more"], 0) == 0
    receiver.close()
    assert twin.send_parts(sender, [b"more"], 2) == 2
    sender.close()
    assert twin.send_parts(sender, [b"more"], 0) == 0
