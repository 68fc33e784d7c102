import asyncio
from types import SimpleNamespace

import pytest

from aiokafka_lite.errors import KafkaError
from aiokafka_lite.producer.append.bulk_ack import BulkAck
from aiokafka_lite.testing.fake_clock import settle


async def waited_for(bulk: BulkAck) -> BulkAck:
    return await bulk


async def test_it_is_awaited_for_all_and_lists_them_in_the_order_of_sending(
    twin: SimpleNamespace,
) -> None:
    """A bulk acknowledgement ends with its last record, and lists all in order (C2, C7)."""
    first, second = twin.make_batch(6), twin.make_batch(3)
    bulk = twin.BulkAck()
    bulk._add(first, 1, 2, 100)
    bulk._add(second, 0, 1, 100)
    bulk._add(first, 3, 1, 100)
    bulk._add(first, 4, 1, 200)
    assert len(bulk) == 5
    assert repr(bulk) == "<BulkAck 5 records in 2 batches, waiting>"
    waiting = asyncio.ensure_future(waited_for(bulk))
    await settle()
    first.succeed(10)
    await settle()
    assert not waiting.done()
    assert not bulk.done()
    for early in (bulk.metadata, bulk.errors):
        with pytest.raises(asyncio.InvalidStateError):
            list(early())
    second.succeed(70)
    assert await waiting is bulk
    assert await bulk is bulk
    assert [(m.offset, m.timestamp) for m in bulk.metadata()] == [
        (11, 100),
        (12, 100),
        (70, 100),
        (13, 100),
        (14, 200),
    ]
    assert (bulk.written_count, bulk.failed_count) == (5, 0)


def test_runs_that_go_on_are_one(twin: SimpleNamespace) -> None:
    batch, other = twin.make_batch(9), twin.make_batch(9)
    bulk = twin.BulkAck()
    for index in (0, 1, 2, 4):
        bulk._add(batch, index, 1, 100)
    bulk._add(other, 0, 2, 100)
    bulk._add(batch, 5, 1, 100)
    assert list(bulk._firsts) == [0, 4, 0, 5]
    assert list(bulk._counts) == [3, 1, 2, 1]
    assert len(bulk) == 7


async def test_the_first_error_in_the_order_of_sending_is_raised_all_are_listed(
    twin: SimpleNamespace,
) -> None:
    good, bad, worse = twin.make_batch(2), twin.make_batch(2), twin.make_batch(1)
    bulk = twin.BulkAck()
    bulk._add(good, 0, 2, 1)
    bulk._add(bad, 0, 2, 1)
    bulk._add(worse, 0, 1, 1)
    worse.fail(KafkaError("worse"))
    bad.fail(KafkaError("innocent"), {1: KafkaError("to blame")})
    good.succeed(0)
    with pytest.raises(KafkaError, match="innocent"):
        await bulk
    assert [(number, str(error)) for number, error in bulk.errors()] == [
        (2, "KafkaError: innocent"),
        (3, "KafkaError: to blame"),
        (4, "KafkaError: worse"),
    ]
    assert (bulk.written_count, bulk.failed_count) == (2, 3)
    seen = bulk.metadata()
    assert [next(seen).offset, next(seen).offset] == [0, 1]
    with pytest.raises(KafkaError, match="innocent"):
        next(seen)


async def test_records_are_followed_into_the_pieces_of_a_split_batch(twin: SimpleNamespace) -> None:
    """A bulk acknowledgement follows its records into the pieces of a split batch (2d-14)."""
    batch = twin.make_batch(3)
    bulk = twin.BulkAck()
    bulk._add(batch, 0, 3, 1)
    pieces = twin.make_batch(1), twin.make_batch(2)
    batch.split_into(pieces)
    pieces[0].succeed(4)
    assert not bulk.done()
    pieces[1].fail(KafkaError("no"))
    assert bulk.done()
    assert [number for number, _ in bulk.errors()] == [1, 2]
    assert next(bulk.metadata()).offset == 4


async def test_nothing_sent_is_done(twin: SimpleNamespace) -> None:
    bulk = twin.BulkAck()
    assert await bulk is bulk
    assert list(bulk.metadata()) == []
    assert len(bulk) == 0


async def test_a_cancelled_wait_leaves_nothing(twin: SimpleNamespace) -> None:
    batch = twin.make_batch()
    bulk = twin.BulkAck()
    bulk._add(batch, 0, 1, 1)
    waiting = asyncio.ensure_future(waited_for(bulk))
    await settle()
    waiting.cancel()
    await asyncio.wait([waiting])
    assert batch._listeners == {}


def test_runs_of_two_batches_are_two_even_where_their_numbers_go_on(twin: SimpleNamespace) -> None:
    batch, other = twin.make_batch(9), twin.make_batch(9)
    bulk = twin.BulkAck()
    for each, index in ((batch, 0), (other, 5), (batch, 6)):
        bulk._add(each, index, 1, 100)
    assert list(bulk._places) == [0, 1, 0]
    assert list(bulk._firsts) == [0, 5, 6]


def test_a_bulk_ack_offers_outcomes_only(twin: SimpleNamespace) -> None:
    offered = {name for name in dir(twin.BulkAck) if not name.startswith("_")}
    assert offered == {"done", "errors", "failed_count", "metadata", "written_count"}
