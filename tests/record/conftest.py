"""Batches built by hand, field by field: what the builder would never write."""

import struct

import pytest

from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.record.varint import encode_varint


def _raw_record(offset_delta, key=b"k", value=b"v", headers=(), timestamp_delta=0):
    """Return one encoded record of magic 2."""
    body = bytearray(b"\0")
    body += encode_varint(timestamp_delta) + encode_varint(offset_delta)
    for field in (key, value):
        body += b"\x01" if field is None else encode_varint(len(field)) + field
    body += encode_varint(len(headers))
    for name, content in headers:
        body += encode_varint(len(name)) + name
        body += b"\x01" if content is None else encode_varint(len(content)) + content
    return encode_varint(len(body)) + bytes(body)


def _raw_batch(
    records,
    *,
    base_offset=0,
    leader_epoch=-1,
    attributes=0,
    last_offset_delta=None,
    base_timestamp=1_000,
    max_timestamp=1_000,
    producer_id=-1,
    producer_epoch=-1,
    base_sequence=-1,
    count=None,
    compress=bytes,
):
    """Return a whole batch of magic 2; `records` are encoded ones."""
    payload = compress(b"".join(records))
    count = len(records) if count is None else count
    last = count - 1 if last_offset_delta is None else last_offset_delta
    checked = (
        struct.pack(
            ">hiqqqhii",
            attributes,
            last,
            base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            count,
        )
        + payload
    )
    head = struct.pack(">qiibI", base_offset, len(checked) + 9, leader_epoch, 2, crc32c(checked))
    return head + checked


@pytest.fixture(scope="session")
def raw_record():
    """`raw_record(offset_delta, key, value, headers, timestamp_delta)` -> bytes."""
    return _raw_record


@pytest.fixture(scope="session")
def raw_batch():
    """`raw_batch([encoded records], base_offset=..., attributes=..., ...)` -> bytes."""
    return _raw_batch
