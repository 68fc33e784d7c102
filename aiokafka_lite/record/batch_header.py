"""The 61-byte header of a record batch (magic 2): read, checked, and rewritten in place.

| offset | size | field                  | offset | size | field          |
|--------|------|------------------------|--------|------|----------------|
| 0      | 8    | base offset            | 27     | 8    | base timestamp |
| 8      | 4    | length of what follows | 35     | 8    | max timestamp  |
| 12     | 4    | partition leader epoch | 43     | 8    | producer id    |
| 16     | 1    | magic                  | 51     | 2    | producer epoch |
| 17     | 4    | CRC-32C of 21 ... end  | 53     | 4    | base sequence  |
| 21     | 2    | attributes             | 57     | 4    | records count  |
| 23     | 4    | last offset delta      | 61     |      | records        |

Attributes: bits 0-2 codec, 3 timestamp type, 4 transactional, 5 control, 6 delete horizon. Base
offset, length and leader epoch are outside the checksum. So a broker sets them without reading the
batch. Never decodes records. Source: Kafka's DefaultRecordBatch.
"""

from struct import Struct
from typing import Final

from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.light_named_tuple import NamedTuple

HEADER: Final = Struct(">qiibIhiqqqhii")
HEADER_BYTES: Final = 61
LOG_OVERHEAD: Final = 12
"""Base offset and length, which the length does not count."""
LENGTH_OFFSET: Final = 8
LEADER_EPOCH_OFFSET: Final = 12
MAGIC_OFFSET: Final = 16
CRC_OFFSET: Final = 17
ATTRIBUTES_OFFSET: Final = 21
LAST_OFFSET_DELTA_OFFSET: Final = 23
MAX_TIMESTAMP_OFFSET: Final = 35

CODEC_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20

MIN_RECORD_BYTES: Final = 7
"""The fewest bytes of a record: length, attributes, two deltas, two lengths, header count."""
MAX_OFFSET: Final = (1 << 63) - 2
"""The largest offset that has a next offset."""

_INT64 = Struct(">q")
_INT32 = Struct(">i")
_UINT32 = Struct(">I")
_INT16 = Struct(">h")


class BatchHeader(NamedTuple):
    """The header's fields in wire order."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size(self) -> int:
        """Bytes of the whole batch, header included."""
        return self.batch_length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        """Offset of the last record the batch had before any compaction."""
        return self.base_offset + self.last_offset_delta

    @property
    def codec(self) -> int:
        """The number of a `CompressionType`; 5 to 7 are unassigned."""
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> int:
        """0 create time, 1 log-append time."""
        return self.attributes >> 3 & 1

    @property
    def is_transactional(self) -> bool:
        """Whether the records belong to a transaction."""
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Whether the batch holds a marker instead of records."""
        return bool(self.attributes & CONTROL)


def parse_header(view: bytes | bytearray | memoryview, position: int = 0) -> BatchHeader:
    """Return the header at `position`, checked for consistency and against the available bytes.

    The checksum is not checked. Raises: CorruptRecordException naming the contradiction.
    """
    available = len(view) - position
    if available < HEADER_BYTES:
        raise CorruptRecordException(
            f"a batch of {available:,} bytes is shorter than its header of {HEADER_BYTES} bytes"
        )
    header = BatchHeader._make(HEADER.unpack_from(view, position))
    fault = _fault(header, available)
    if fault:
        raise CorruptRecordException(fault)
    return header


def _fault(header: BatchHeader, available: int) -> str:
    """Return what is impossible about the header; "" if nothing is."""
    if header.magic != 2:
        return f"magic {header.magic} is not 2"
    if not HEADER_BYTES <= header.size <= available:
        return f"batch length {header.batch_length:,} does not fit {available:,} bytes"
    if header.base_offset < 0 or header.last_offset_delta < 0 or header.last_offset > MAX_OFFSET:
        return f"offsets {header.base_offset} + {header.last_offset_delta} are impossible"
    if header.codec > CompressionType.ZSTD:
        return f"codec {header.codec} is not one of gzip, snappy, lz4, zstd (1-4)"
    payload = header.size - HEADER_BYTES
    if header.records_count < 0:
        return f"records count {header.records_count:,} is negative"
    if header.codec == 0 and header.records_count * MIN_RECORD_BYTES > payload:
        return f"records count {header.records_count:,} does not fit {payload:,} bytes of records"
    return ""


def check_crc(view: memoryview, header: BatchHeader, position: int = 0) -> None:
    """Raise CorruptRecordException unless the batch has the checksum its header names."""
    actual = crc32c(view[position + ATTRIBUTES_OFFSET : position + header.size])
    if actual != header.crc:
        raise CorruptRecordException(
            f"the batch's CRC-32C is {actual:#010x}, its header says {header.crc:#010x}"
        )


def write_header(data: bytearray, header: BatchHeader) -> None:
    """Write `header` at the start of a whole batch. Length and checksum are made from `data`."""
    HEADER.pack_into(data, 0, *header._replace(batch_length=len(data) - LOG_OVERHEAD))
    _UINT32.pack_into(data, CRC_OFFSET, crc32c(memoryview(data)[ATTRIBUTES_OFFSET:]))


def assign_offsets(
    view: bytearray | memoryview,
    base_offset: int,
    leader_epoch: int,
    log_append_time: int | None = None,
) -> None:
    """Rewrite, in place, the fields that a broker sets when it appends the batch at the start of
    `view`.

    These are base offset and leader epoch. With `log_append_time` (ms since the epoch) they include
    the max timestamp, the timestamp type, and therefore the checksum. The batch was validated
    before. Source: LogValidator.
    """
    _INT64.pack_into(view, 0, base_offset)
    _INT32.pack_into(view, LEADER_EPOCH_OFFSET, leader_epoch)
    if log_append_time is None:
        return
    (attributes,) = _INT16.unpack_from(view, ATTRIBUTES_OFFSET)
    _INT16.pack_into(view, ATTRIBUTES_OFFSET, attributes | LOG_APPEND_TIME)
    _INT64.pack_into(view, MAX_TIMESTAMP_OFFSET, log_append_time)
    (length,) = _INT32.unpack_from(view, LENGTH_OFFSET)
    whole = memoryview(view)
    _UINT32.pack_into(view, CRC_OFFSET, crc32c(whole[ATTRIBUTES_OFFSET : length + LOG_OVERHEAD]))


__all__ = [
    "ATTRIBUTES_OFFSET",
    "CODEC_MASK",
    "CONTROL",
    "CRC_OFFSET",
    "HEADER",
    "HEADER_BYTES",
    "LAST_OFFSET_DELTA_OFFSET",
    "LOG_APPEND_TIME",
    "LOG_OVERHEAD",
    "MAGIC_OFFSET",
    "MAX_OFFSET",
    "MIN_RECORD_BYTES",
    "TRANSACTIONAL",
    "BatchHeader",
    "assign_offsets",
    "check_crc",
    "parse_header",
    "write_header",
]
