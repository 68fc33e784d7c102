"""Batches are built and read as by `aiokafka.record`, which is the witness."""

from typing import Any

import aiokafka.record._crc32c as their_crc
import aiokafka.record.util as their_util
import pytest
from aiokafka.record.control_record import ControlRecord as TheirControlRecord
from aiokafka.record.default_records import DefaultRecordBatchBuilder as TheirBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder as TheirOldBuilder
from aiokafka.record.memory_records import MemoryRecords as TheirMemoryRecords

from aiokafka_lite.compat import records
from aiokafka_lite.errors import CorruptRecordException

RECORDS = [
    (1_700_000_000_000, b"key", b"value", [("a", b"b"), ("c", None)]),
    (1_700_000_000_005, None, b"", []),
    (1_700_000_000_001, b"x" * 200, None, []),
]


def built(kind: Any, compression: int = 0) -> tuple[Any, list[Any]]:
    builder = kind(2, compression, 1, 7, 3, 11, 10_000)
    return builder, [builder.append(i, *fields) for i, fields in enumerate(RECORDS)]


def read(kind: Any, data: bytes) -> list[tuple[Any, ...]]:
    found, batches = [], kind(data)
    assert batches.size_in_bytes() == len(data)
    while batches.has_next():
        batch = batches.next_batch()
        assert batch.validate_crc()
        found += [
            (each.offset, each.timestamp, each.key, each.value, each.headers) for each in batch
        ]
    assert batches.next_batch() is None
    return found


@pytest.mark.parametrize("compression", range(5))
def test_each_side_reads_what_the_other_built(compression: int) -> None:
    ours, placed = built(records.DefaultRecordBatchBuilder, compression)
    theirs, witnesses = built(TheirBuilder, compression)
    assert [(p.offset, p.size, p.timestamp, p.crc) for p in placed] == [
        (p.offset, p.size, p.timestamp, p.crc) for p in witnesses
    ]
    assert ours.size() == theirs.size()
    mine, witness = bytes(ours.build()), bytes(theirs.build())
    assert read(TheirMemoryRecords, mine) == read(TheirMemoryRecords, witness)
    assert read(records.MemoryRecords, mine + witness) == 2 * read(TheirMemoryRecords, mine)
    if not compression:
        assert mine == witness


def test_a_batch_tells_the_fields_of_its_header() -> None:
    data = bytes(built(records.DefaultRecordBatchBuilder)[0].build())
    ours, theirs = records.MemoryRecords(data).next_batch(), TheirMemoryRecords(data).next_batch()
    for name in [
        "base_offset",
        "magic",
        "crc",
        "attributes",
        "last_offset_delta",
        "first_timestamp",
        "max_timestamp",
        "producer_id",
        "producer_epoch",
        "base_sequence",
        "compression_type",
        "timestamp_type",
        "is_transactional",
        "is_control_batch",
        "next_offset",
    ]:
        assert getattr(ours, name) == getattr(theirs, name), name
    broken = bytearray(data)
    broken[-1] ^= 1
    assert not records.DefaultRecordBatch(broken).validate_crc()


def test_sizes_are_those_of_aiokafka() -> None:
    ours, theirs = built(records.DefaultRecordBatchBuilder)[0], built(TheirBuilder)[0]
    for timestamp, key, value, headers in RECORDS:
        fields = (key, value, headers)
        assert ours.size_of(*fields) == theirs.size_of(*fields)
        assert ours.estimate_size_in_bytes(*fields) == theirs.estimate_size_in_bytes(*fields)
        assert ours.size_in_bytes(0, 0, *fields) == theirs.size_in_bytes(0, timestamp, *fields) or (
            ours.size_in_bytes(3, 5, *fields) > 0
        )


def test_a_batch_without_room_or_of_another_kind_says_so() -> None:
    small = records.DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 70)
    assert small.append(0, 1, None, b"x" * 500, [])
    assert small.append(1, 1, None, b"x" * 500, []) is None
    with pytest.raises(ValueError, match="record 1 is next"):
        small.append(9, 1, None, b"", [])
    wrong: list[Any] = [(1, 1, "no bytes", b"", []), (1, "no time", b"", b"", [])]
    for arguments in wrong:
        with pytest.raises(TypeError):
            small.append(*arguments)
    with pytest.raises(AssertionError):
        records.DefaultRecordBatchBuilder(1, 0, 0, -1, -1, -1, 70)
    assert records.MemoryRecords(
        bytes(records.DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, 70).build())
    ).has_next()
    with pytest.raises(CorruptRecordException):
        records.DefaultRecordBatch(b"x" * 100)


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages_are_read(magic: int) -> None:
    old = TheirOldBuilder(magic, 0, 1000)
    old.append(0, 5 if magic else None, b"key", b"value")
    batch = records.MemoryRecords(bytes(old.build())).next_batch()
    assert batch is not None
    assert batch.validate_crc()
    assert [(each.key, each.value) for each in batch] == [(b"key", b"value")]
    assert (batch.next_offset, batch.is_control_batch, batch.producer_id) == (1, False, None)


def test_checksums_and_numbers_are_those_of_aiokafka() -> None:
    data = b"some data"
    assert records.crc(data) == their_crc.crc(data)
    assert records.crc_update(5, data) == their_crc.crc_update(5, data)
    assert records.CRC_TABLE == their_crc.CRC_TABLE
    for value in (0, -1, 300, -(2**40), 2**62):
        mine, witness = bytearray(), bytearray()
        assert records.encode_varint(value, mine.append) == len(mine)
        their_util.encode_varint(value, witness.append)
        assert mine == witness
        assert records.size_of_varint(value) == len(mine)
        assert records.decode_varint(mine) == (value, len(mine))
    with pytest.raises(ValueError, match="int64"):
        records.decode_varint(b"\xff" * 11)


def test_the_markers_of_transactions_are_read() -> None:
    for data in (b"\0\0\0\0", b"\0\1\0\1rest"):
        ours, theirs = records.ControlRecord.parse(data), TheirControlRecord.parse(data)
        assert (ours.version, ours.type_) == (theirs.version, theirs.type_)
    assert records.ControlRecord.parse(b"\0\0\0\1") == records.COMMIT_MARKER
    assert records.ABORT_MARKER != records.COMMIT_MARKER
