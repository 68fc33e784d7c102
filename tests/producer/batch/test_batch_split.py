"""A batch that was too large becomes several, and no record or acknowledgement is lost (2d-14)."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.producer.batch.batch_split import split_batch
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.batch_reader import RecordCursor
from tests.producer.batches import TP, make_batch, values


def of_sizes(*sizes: int, codec: CompressionType = CompressionType.NONE) -> ProducerBatch:
    buffer = bytearray(100_000)
    rng = random.Random(1)
    batch = ProducerBatch(TP, RecordBatchBuilder(buffer, compression=codec), buffer, 3.0)
    for number, size in enumerate(sizes):
        index = batch.append(100 + number, b"%d" % number, rng.randbytes(size), [("n", None)])
        assert index == number
    batch.close()
    batch.attempts = 1
    batch.drain_number = 4
    batch.wire()
    return batch


def split(batch: ProducerBatch, piece_bytes: int) -> list[ProducerBatch]:
    return split_batch(batch, piece_bytes, RecordBatchBuilder)


def test_records_stay_as_they_are_in_pieces_of_the_size() -> None:
    batch = of_sizes(*[100] * 10)
    before = RecordCursor(batch.wire(), topic="orders", partition=0, fetch_offset=0).take(99)
    pieces = split(batch, 400)
    assert [piece.record_count for piece in pieces] == [3, 3, 3, 1]
    assert all(piece.size_in_bytes <= 400 for piece in pieces)
    after = [
        record
        for piece in pieces
        for record in RecordCursor(piece.wire(), topic="orders", partition=0, fetch_offset=0).take(
            99
        )
    ]
    for was, now in zip(before, after, strict=True):
        now.offset = was.offset
        assert now == was


def test_pieces_keep_age_attempts_and_turn() -> None:
    batch = of_sizes(10, 10)
    batch.piece_number = (1,)
    batch.last_error = KafkaError("too large")
    first, second = split(batch, 80)
    for piece in (first, second):
        assert (piece.created_s, piece.attempts, piece.drain_number) == (3.0, 1, 4)
        assert piece.last_error is batch.last_error
        assert piece.is_closed
        assert piece.buffer is None
        assert piece.append(1, None, b"", ()) is None
    assert (first.piece_number, second.piece_number) == ((1, 0), (1, 1))


def test_sequence_numbers_go_on_in_order_and_wrap() -> None:
    """Pieces of a split batch carry its sequence numbers on and wrap to 0 (2d-11)."""
    batch = make_batch(5)
    batch.set_sequence(7, 2, 2**31 - 2)
    pieces = split(batch, 80)
    numbers = [(piece.producer_id, piece.producer_epoch, piece.base_sequence) for piece in pieces]
    assert [piece.record_count for piece in pieces] == [3, 2]
    assert numbers == [(7, 2, 2**31 - 2), (7, 2, 1)]
    assert bytes(pieces[1].wire())[43:57] == (7).to_bytes(8, "big") + bytes.fromhex("000200000001")


def test_without_idempotence_there_are_no_numbers() -> None:
    assert not any(piece.has_sequence for piece in split(make_batch(4), 80))


def test_it_always_helps_even_below_the_size_asked_for() -> None:
    """Java would make the same batch again and again when max.message.bytes is below batch.size."""
    batch = of_sizes(*[10] * 8)
    assert len(split(batch, 16_384)) >= 2


def test_a_large_record_is_alone() -> None:
    pieces = split(of_sizes(10, 5000, 10), 300)
    assert [piece.record_count for piece in pieces] == [1, 1, 1]


@pytest.mark.parametrize("codec", list(CompressionType))
def test_compressed_batches_are_split_by_what_they_hold(codec: CompressionType) -> None:
    batch = of_sizes(*[200] * 50, codec=codec)

    def make_builder(buffer: bytearray) -> RecordBatchBuilder:
        return RecordBatchBuilder(buffer, compression=codec)

    before = values(batch.wire())
    pieces = split_batch(batch, 2000, make_builder)
    assert [value for piece in pieces for value in values(piece.wire())] == before
    assert all(piece.is_sealed for piece in pieces)
    assert len(pieces) > 3


@given(st.lists(st.integers(0, 450), min_size=2, max_size=60), st.integers(0, 2000))
def test_pieces_are_the_batch_whatever_its_records(sizes: list[int], piece_bytes: int) -> None:
    batch = of_sizes(*sizes)
    before = values(batch.wire())
    pieces = split(batch, piece_bytes)
    assert len(pieces) > 1
    assert [value for piece in pieces for value in values(piece.wire())] == before
    places = [batch.place_of(index) for index in range(len(sizes))]
    assert places == [(piece, index) for piece in pieces for index in range(piece.record_count)]
