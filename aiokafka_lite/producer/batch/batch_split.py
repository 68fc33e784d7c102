"""Splits a batch that a broker found too large.

The accumulator counts the memory of the pieces and queues them. Does not wait.
Source: ProducerBatch.split, KAFKA-3995.

A piece has at most half of the records. Java makes the same batch again and again if
max.message.bytes is below batch.size.
"""

from collections.abc import Callable

from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, record_upper_bound

MakeBuilder = Callable[[bytearray], RecordBatchBuilder]
_RECORDS_AT_ONCE = 1000


def split_batch(
    batch: ProducerBatch, piece_bytes: int, make_builder: MakeBuilder
) -> list[ProducerBatch]:
    """Return batches with the records of a sealed `batch` of two records or more, in order.

    A piece has about `piece_bytes` before compression, and at most half of the records, so that
    splitting always helps. A larger record gets a piece of its own. The pieces keep the age, the
    attempts and the sequence numbers of the batch. The acks of the records belong to the pieces
    from now on.
    """
    pieces = _pieces(batch, piece_bytes, make_builder)
    sequence = batch.base_sequence
    for number, piece in enumerate(pieces):
        piece.close()
        piece.attempts = batch.attempts
        piece.drain_number = batch.drain_number
        piece.piece_number = (*batch.piece_number, number)
        piece.last_error = batch.last_error
        if batch.has_sequence:
            piece.set_sequence(batch.producer_id, batch.producer_epoch, sequence)
            sequence = (piece.last_sequence + 1) & 0x7FFFFFFF
        piece.leave_buffer()
        piece.wire()  # compressed now: several uncompressed pieces would need more memory
        piece.reserved_bytes = 0
    batch.split_into(pieces)
    return pieces


def _pieces(
    batch: ProducerBatch, piece_bytes: int, make_builder: MakeBuilder
) -> list[ProducerBatch]:
    most_records = (batch.record_count + 1) // 2
    left = 0
    topic, partition = batch.topic_partition
    from aiokafka_lite.record.batch_reader import RecordCursor  # noqa: PLC0415  rare

    cursor = RecordCursor(
        batch.wire(), topic=topic, partition=partition, fetch_offset=0, check_crcs=False
    )
    pieces: list[ProducerBatch] = []
    while records := cursor.take(_RECORDS_AT_ONCE):
        for record in records:
            left -= 1
            if left < 0 or _append(pieces[-1], record) is None:
                left = most_records - 1
                size = record_upper_bound(record.key, record.value, record.headers)
                buffer = bytearray(max(piece_bytes, size))
                piece = ProducerBatch(
                    batch.topic_partition, make_builder(buffer), buffer, batch.created_s
                )
                pieces.append(piece)
                index = _append(piece, record)
                assert index == 0, "the first record of a batch has room"
    cursor.release()
    return pieces


def _append(piece: ProducerBatch, record: ConsumerRecord[bytes, bytes]) -> int | None:
    return piece.append(record.timestamp, record.key, record.value, record.headers)


__all__ = ["split_batch"]
