"""Tests of `record/control_record.py`."""

import pytest

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.batch_header import HEADER_BYTES
from aiokafka_lite.record.control_record import (
    ControlRecordType,
    build_control_batch,
    control_type,
)
from tests.support.record_batches import validate_batch


@pytest.mark.parametrize("control", ControlRecordType)
def test_marker_is_written_as_a_coordinator_has_it_written(control):
    batch = build_control_batch(
        control,
        base_offset=77,
        producer_id=9,
        producer_epoch=3,
        timestamp_ms=1_234,
        leader_epoch=5,
        coordinator_epoch=2,
    )
    header = validate_batch(batch)
    assert header.is_control
    assert header.is_transactional
    assert (header.base_offset, header.last_offset, header.records_count) == (77, 77, 1)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 3, -1)
    assert (header.base_timestamp, header.max_timestamp) == (1_234, 1_234)
    assert header.partition_leader_epoch == 5
    # length 16; attributes, deltas; key: version 0, type; value: version 0, coordinator epoch 2; no
    # headers
    assert batch[HEADER_BYTES:].hex() == f"20000000080000000{control:x}0c0000000000" + "0200"
    assert control_type(batch[HEADER_BYTES:]) == control


def test_type_of_a_later_version_comes_as_it_is(raw_record):
    assert control_type(raw_record(0, key=b"\0\1\0\x09more")) == 9


@pytest.mark.parametrize("cut", range(9))
def test_truncated_control_record_is_corrupt(cut):
    with pytest.raises(CorruptRecordException, match="control record"):
        control_type(bytes.fromhex("20000000080000000000")[:cut])


@pytest.mark.parametrize("key", [None, b"", b"abc"])
def test_control_record_without_a_proper_key_is_corrupt(raw_record, key):
    with pytest.raises(CorruptRecordException, match="control record"):
        control_type(raw_record(0, key=key))
