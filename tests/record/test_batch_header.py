"""Tests of `record/batch_header.py`."""

import struct

import pytest

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.batch_header import (
    HEADER_BYTES,
    LOG_APPEND_TIME,
    assign_offsets,
    parse_header,
)
from aiokafka_lite.record.batch_reader import RecordCursor
from tests.support.record_batches import validate_batch

# One record (key "a", value "b") of producer 1, epoch 0, sequence 0, laid out by hand from 2g-1.
GOLDEN = bytes.fromhex(
    "0000000000000005 0000003a 00000007 02 00000000"
    "0010 00000000 0000018bcfe56800 0000018bcfe56800 0000000000000001 0000 00000000 00000001"
    "10 00 00 00 02 61 02 62 00"
)


def with_crc(batch):
    from aiokafka_lite.codec.crc32c import crc32c

    return batch[:17] + struct.pack(">I", crc32c(batch[21:])) + batch[21:]


@pytest.fixture
def batch():
    return bytearray(with_crc(GOLDEN))


def test_every_field_is_read_from_its_place(batch):
    """Each field of the 61-byte header is read from its place (2g-1)."""
    header = validate_batch(batch)
    assert header._asdict() == {
        "base_offset": 5,
        "batch_length": 58,
        "partition_leader_epoch": 7,
        "magic": 2,
        "crc": header.crc,
        "attributes": 0x10,
        "last_offset_delta": 0,
        "base_timestamp": 1_700_000_000_000,
        "max_timestamp": 1_700_000_000_000,
        "producer_id": 1,
        "producer_epoch": 0,
        "base_sequence": 0,
        "records_count": 1,
    }
    assert (header.size, header.last_offset, header.codec) == (70, 5, 0)
    assert (header.is_transactional, header.is_control, header.timestamp_type) == (True, False, 0)


def test_header_is_read_at_a_position(batch):
    assert parse_header(b"xyz" + batch, 3) == parse_header(batch)


@pytest.mark.parametrize("attributes", range(0x80))
def test_attribute_bits(attributes, raw_batch, raw_record):
    header = parse_header(raw_batch([raw_record(0)], attributes=attributes & ~7 | attributes % 5))
    assert header.timestamp_type == bool(attributes & 8)
    assert header.is_transactional == bool(attributes & 0x10)
    assert header.is_control == bool(attributes & 0x20)
    assert header.codec == attributes % 5


@pytest.mark.parametrize(
    ("offset", "form", "value", "words"),
    [
        (0, ">q", -1, "offsets"),
        (0, ">q", 2**63 - 1, "offsets"),
        (8, ">i", -1, "batch length"),
        (8, ">i", 48, "batch length"),
        (8, ">i", 59, "batch length"),
        (8, ">i", 2**31 - 1, "batch length"),
        (16, ">b", 1, "magic 1"),
        (16, ">b", 3, "magic 3"),
        (16, ">b", -1, "magic -1"),
        (21, ">h", 5, "codec 5"),
        (21, ">h", 7, "codec 7"),
        (23, ">i", -1, "offsets"),
        (57, ">i", -1, "records count -1"),
        (57, ">i", 2, "does not fit 9 bytes"),
        (57, ">i", 2**31 - 1, "does not fit"),
    ],
)
def test_impossible_fields_are_refused_by_name(batch, offset, form, value, words):
    struct.pack_into(form, batch, offset, value)
    with pytest.raises(CorruptRecordException, match=words):
        parse_header(batch)


@pytest.mark.parametrize("size", [0, 1, HEADER_BYTES - 1])
def test_less_than_a_header_is_refused(batch, size):
    with pytest.raises(CorruptRecordException, match="shorter than its header"):
        parse_header(batch[:size])


@pytest.mark.parametrize("position", [17, 21, 24, 43, 61, 68])
def test_any_flipped_bit_under_the_checksum_is_found(batch, position):
    batch[position] ^= 0x40 if position != 21 else 0x08
    with pytest.raises(CorruptRecordException, match="CRC-32C"):
        validate_batch(batch)


def test_broker_assigns_offsets_outside_the_checksum(batch):
    crc = validate_batch(batch).crc
    assign_offsets(batch, 123_456, 9)
    header = validate_batch(batch)
    assert (header.base_offset, header.partition_leader_epoch, header.crc) == (123_456, 9, crc)


def test_broker_sets_log_append_time_and_the_checksum(batch):
    """Log-append time replaces the records' timestamps by the batch's largest (2g-3)."""
    following = b"another batch"
    both = batch + following
    assign_offsets(memoryview(both), 10, 0, log_append_time=1_800_000_000_000)
    assert both.endswith(following)
    header = validate_batch(both)
    assert header.attributes == 0x10 | LOG_APPEND_TIME
    assert header.max_timestamp == 1_800_000_000_000
    (record,) = RecordCursor(both[: header.size], topic="t", partition=0, fetch_offset=10).take(9)
    assert (record.timestamp, record.timestamp_type) == (1_800_000_000_000, 1)
