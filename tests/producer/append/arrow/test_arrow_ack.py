"""Tests of `producer/append/arrow/arrow_ack.py`; `test_arrow_send.py` sees it filled."""

import asyncio
from array import array

import pytest

from aiokafka_lite.errors import InvalidRecordError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.append.arrow.arrow_ack import ArrowAck
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.record.batch_builder import RecordBatchBuilder


def batch(partition: int, count: int) -> ProducerBatch:
    buffer = bytearray(1000)
    made = ProducerBatch(TopicPartition("t", partition), RecordBatchBuilder(buffer), buffer, 0.0)
    for n in range(count):
        made.append(n, None, b"v", ())
    made.close()
    return made


async def test_numbers_are_those_of_rows_whatever_the_order_of_sending() -> None:
    first, second = batch(0, 2), batch(1, 3)
    ack = ArrowAck()
    ack._add(first, 0, 2, 50)
    ack._note_rows(array("I", [1, 4]), array("q", [10, 40]))
    ack._add(second, 0, 3, 60)
    ack._note_rows(array("I", [0]), array("q", [0]))
    ack._note_rows(array("I", [0, 1]), array("q", [20, 30]), 2)
    with pytest.raises(asyncio.InvalidStateError):
        list(ack.metadata())
    first.succeed(100)
    second.succeed(7)
    await ack
    assert [(m.partition, m.offset, m.timestamp) for m in ack.metadata()] == [
        (1, 7, 0),
        (0, 100, 10),
        (1, 8, 20),
        (1, 9, 30),
        (0, 101, 40),
    ]
    assert list(ack.errors()) == []


async def test_the_first_error_is_that_of_the_first_row() -> None:
    first, second = batch(0, 2), batch(1, 1)
    ack = ArrowAck()
    ack._add(first, 0, 2, 50)
    ack._note_rows(array("I", [1, 2]), None)
    ack._add(second, 0, 1, 60)
    ack._note_rows(array("I", [0]), None)
    first.fail(InvalidRecordError("later"))
    second.fail(InvalidRecordError("sooner"))
    with pytest.raises(InvalidRecordError, match="sooner"):
        await ack
    assert [(row, str(error)[-6:]) for row, error in ack.errors()] == [
        (0, "sooner"),
        (1, " later"),
        (2, " later"),
    ]
