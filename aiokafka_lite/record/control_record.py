"""The markers that end a transaction.

Reads the type of a marker, and builds markers for brokers under test. A control batch holds one
record. Its key is (version int16, type int16). The value of an end-transaction marker is (version
int16, coordinator epoch int32). Source: Kafka's ControlRecordType, EndTransactionMarker.
"""

from enum import IntEnum
from struct import Struct

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.batch_header import (
    CONTROL,
    HEADER_BYTES,
    TRANSACTIONAL,
    BatchHeader,
    write_header,
)
from aiokafka_lite.record.varint import encode_varint, read_varint


class ControlRecordType(IntEnum):
    """The types of control records. Consumers skip the numbers of later versions."""

    ABORT = 0
    COMMIT = 1


_KEY = Struct(">hh")
_VALUE = Struct(">hi")


def control_type(payload: bytes) -> int:
    """Return the type in the first record of a control batch's (decompressed) records.

    Types other than `ControlRecordType`'s are returned as numbers. Raises: CorruptRecordException
    without such a record.
    """
    try:
        _, position = read_varint(payload, 0)
        _, position = read_varint(payload, position + 1)  # attributes, timestamp delta
        _, position = read_varint(payload, position)
        key_size, position = read_varint(payload, position)
        if key_size < _KEY.size or position + key_size > len(payload):
            raise CorruptRecordException(f"a control record with a key of {key_size} bytes")
    except IndexError as error:
        raise CorruptRecordException("a truncated control record") from error
    kind: int = _KEY.unpack_from(payload, position)[1]
    return kind


def build_control_batch(
    control: ControlRecordType,
    *,
    base_offset: int,
    producer_id: int,
    producer_epoch: int,
    timestamp_ms: int,
    leader_epoch: int = -1,
    coordinator_epoch: int = 0,
) -> bytes:
    """Return a whole batch with one marker, as a transaction coordinator writes it."""
    key = _KEY.pack(0, control)
    value = _VALUE.pack(0, coordinator_epoch)
    body = b"".join(
        (b"\0\0\0", encode_varint(len(key)), key, encode_varint(len(value)), value, b"\0")
    )
    record = encode_varint(len(body)) + body
    batch = bytearray(HEADER_BYTES) + record
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        partition_leader_epoch=leader_epoch,
        magic=2,
        crc=0,
        attributes=TRANSACTIONAL | CONTROL,
        last_offset_delta=0,
        base_timestamp=timestamp_ms,
        max_timestamp=timestamp_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=-1,
        records_count=1,
    )
    write_header(batch, header)
    return bytes(batch)


__all__ = ["ControlRecordType", "build_control_batch", "control_type"]
