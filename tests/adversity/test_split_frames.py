"""However the network cuts the stream, the same frames come out."""

import asyncio
import itertools
import random

import pytest

from aiokafka_lite.net import frame_stream
from aiokafka_lite.net.frame_stream import LARGE_FRAME_BYTES
from tests.net.support.connections import answered, ask, connection_to, metadata_named, opened
from tests.net.support.recorded_frames import feed, transport_without_socket
from tests.net.support.scripted_node import (
    ScriptedNode,
    answer_bytes,
    api_versions_response,
    framed,
)
from tests.support.leftovers import nothing_left_behind


@pytest.fixture
def tiny_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so low that every cut of every kind of frame can be tried."""
    monkeypatch.setattr(frame_stream, "SCRATCH_BYTES", 32)
    monkeypatch.setattr(frame_stream, "_spare_scratches", [])
    monkeypatch.setattr(frame_stream, "LARGE_FRAME_BYTES", 16)


# Small, empty, exactly at the limit, just above it, larger than the scratch.
BODIES = [b"small", b"", b"at the limit 016", b"above the limit17", bytes(range(40)), b"x"]
STREAM = b"".join(framed(body) for body in BODIES)


@pytest.mark.usefixtures("tiny_buffers")
def test_a_stream_cut_at_any_two_places_gives_the_same_frames() -> None:
    for first, second in itertools.combinations_with_replacement(range(len(STREAM) + 1), 2):
        transport, recorded = transport_without_socket()
        for chunk in (STREAM[:first], STREAM[first:second], STREAM[second:]):
            feed(transport, chunk)
        assert recorded.frames == BODIES, (first, second)
        assert recorded.lost == []


@pytest.mark.usefixtures("tiny_buffers")
@pytest.mark.parametrize("step", range(1, 40))
def test_a_stream_in_chunks_of_any_size_gives_the_same_frames(step: int) -> None:
    transport, recorded = transport_without_socket()
    for start in range(0, len(STREAM), step):
        feed(transport, STREAM[start : start + step])
    assert recorded.frames == BODIES


def test_large_frames_cut_anywhere_near_their_edges_come_out_whole() -> None:
    bodies = [bytes(range(256)) * 400, b"", random.Random(3).randbytes(LARGE_FRAME_BYTES), b"end"]
    stream = b"".join(framed(body) for body in bodies)
    edges = [0]
    for body in bodies:
        edges.append(edges[-1] + 4 + len(body))
    cuts = {edge + near for edge in edges for near in range(-6, 7)} & set(range(len(stream)))
    for cut in sorted(cuts):
        transport, recorded = transport_without_socket()
        feed(transport, stream[:cut])
        feed(transport, stream[cut:])
        assert recorded.frames == bodies, cut


def test_a_large_frame_one_byte_at_a_time_comes_out_whole() -> None:
    body = random.Random(4).randbytes(LARGE_FRAME_BYTES + 1000)
    transport, recorded = transport_without_socket()
    for byte in framed(body) + framed(b"after"):
        feed(transport, bytes([byte]))
    assert recorded.frames == [body, b"after"]


@pytest.mark.usefixtures("tiny_buffers")
def test_random_streams_in_random_chunks_come_out_as_they_went_in() -> None:
    rng = random.Random(1)
    for _ in range(500):
        bodies = [rng.randbytes(rng.choice((0, 3, 15, 16, 17, 27, 28, 29, 90))) for _ in range(20)]
        stream = memoryview(b"".join(framed(body) for body in bodies))
        transport, recorded = transport_without_socket()
        while stream:
            size = rng.randrange(1, 60)
            feed(transport, bytes(stream[:size]))
            stream = stream[size:]
        assert recorded.frames == bodies


async def test_a_connection_whose_node_writes_byte_by_byte_works() -> None:
    """Handshake and answers, each byte in a packet of its own."""
    async with nothing_left_behind(), ScriptedNode() as node:
        connection = connection_to(node)
        opening = asyncio.ensure_future(connection.open())
        peer = await node.accept()
        _, version, correlation_id = await peer.read_request()
        await peer.send_slowly(answer_bytes(api_versions_response(), version, correlation_id))
        await opening
        calls = [ask(connection) for _ in range(3)]
        for number in range(3):
            _, version, correlation_id = await peer.read_request()
            name = metadata_named(f"answer {number}")
            await peer.send_slowly(answer_bytes(name, version, correlation_id))
        assert [await answered(call) for call in calls] == ["answer 0", "answer 1", "answer 2"]
        connection.close()
        await connection.wait_closed()


async def test_a_connection_cut_after_any_byte_of_an_answer_fails_the_request() -> None:
    answer = answer_bytes(metadata_named("main"), 13, 1)
    for cut in range(len(answer)):
        async with nothing_left_behind(), ScriptedNode() as node, opened(node) as pair:
            connection, peer = pair
            call = ask(connection)
            await peer.read_request()
            peer.send(answer[:cut])
            peer.close()
            (result,) = await asyncio.gather(call, return_exceptions=True)
            assert "closed the connection" in str(result), cut
            assert not connection.is_open
