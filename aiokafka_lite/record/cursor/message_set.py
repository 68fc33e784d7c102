"""Messages of magic 0 and 1, the formats before Kafka 0.11: read only, whole wrappers at a time.

| offset | size | field                          |
|--------|------|--------------------------------|
| 0      | 8    | offset                         |
| 8      | 4    | length of what follows         |
| 12     | 4    | CRC-32 of 16 ... end           |
| 16     | 1    | magic                          |
| 17     | 1    | attributes: bits 0-2 codec, 3 timestamp type (magic 1) |
| 18     | 8    | timestamp (magic 1 only)       |
|        | 4+n  | key, length -1 for none        |
|        | 4+n  | value, likewise                |

A message with a codec is a wrapper: its value holds messages. Inside a magic 1 wrapper offsets are
relative; the wrapper has the last message's offset. Under log-append time all messages have the
wrapper's timestamp. Source: KIP-31, KIP-32.
"""

import struct
import zlib
from collections.abc import Iterator
from struct import Struct
from typing import Final

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import decompress
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import ConsumerRecord, TimestampType
from aiokafka_lite.record.batch_header import (
    CODEC_MASK,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    MIN_RECORD_BYTES,
)
from aiokafka_lite.record.memory_records import next_batch_size

_PREFIX = Struct(">qiIbb")
_INT64 = Struct(">q")
_INT32 = Struct(">i")
_MAGIC_OFFSET: Final = 16


class Message(NamedTuple):
    """One message with an absolute offset. Its key and value are copies."""

    offset: int
    timestamp: int
    """Milliseconds since the epoch, -1 for magic 0."""
    timestamp_type: int
    crc: int
    key: bytes | None
    value: bytes | None

    @property
    def size_in_bytes(self) -> int:
        """The approximate size: key, value and the smallest overhead of a record."""
        return len(self.key or b"") + len(self.value or b"") + MIN_RECORD_BYTES

    def record(self, topic: str, partition: int) -> ConsumerRecord[bytes, bytes]:
        """Return the message as a record for the user; it has no headers."""
        key, value = self.key, self.value
        return ConsumerRecord(
            topic,
            partition,
            self.offset,
            self.timestamp,
            self.timestamp_type,
            key,
            value,
            self.crc,
            -1 if key is None else len(key),
            -1 if value is None else len(value),
            (),
        )


class _Entry(NamedTuple):
    magic: int
    codec: int
    message: Message


def read_messages(
    data: bytes | bytearray | memoryview, *, check_crcs: bool, max_decompressed_bytes: int
) -> list[Message]:
    """Return the messages in one plain message or one wrapper, in offset order.

    `data` is exactly that message. Raises: CorruptRecordException for a wrong CRC-32, lengths that
    do not fit, or a wrapper inside a wrapper.
    """
    entry = _read_entry(memoryview(data), check_crcs)
    if not entry.codec:
        return [entry.message]
    outer = entry.message
    if outer.value is None:
        raise CorruptRecordException("a compressed message without a value")
    value = outer.value
    if entry.magic == 0 and entry.codec == CompressionType.LZ4:
        from aiokafka_lite.compression import lz4_codec  # noqa: PLC0415  of Kafka 0.8 to 0.10 only

        value = lz4_codec.with_right_header_checksum(value)
    content = memoryview(decompress(entry.codec, value, max_decompressed_bytes))
    inner = [_inner(part, entry, check_crcs) for part in _messages(content)]
    if not inner:
        raise CorruptRecordException("a compressed message that holds no message")
    if entry.magic == 0:
        return inner
    shift = outer.offset - inner[-1].offset
    if outer.timestamp_type == TimestampType.LOG_APPEND_TIME:
        return [
            message._replace(
                offset=message.offset + shift,
                timestamp=outer.timestamp,
                timestamp_type=TimestampType.LOG_APPEND_TIME,
            )
            for message in inner
        ]
    return [message._replace(offset=message.offset + shift) for message in inner]


def _messages(content: memoryview) -> Iterator[memoryview]:
    """Yield the messages of a decompressed set."""
    position = 0
    while position < len(content):
        size = next_batch_size(content, position)
        if not size:
            raise CorruptRecordException("a compressed message set ends within a message")
        yield content[position : position + size]
        position += size


def _inner(view: memoryview, wrapper: _Entry, check_crcs: bool) -> Message:
    entry = _read_entry(view, check_crcs)
    if entry.magic != wrapper.magic or entry.codec:
        raise CorruptRecordException(
            f"a magic {wrapper.magic} wrapper holds a message of magic {entry.magic}"
            f" and codec {entry.codec}"
        )
    return entry.message


def _read_entry(view: memoryview, check_crcs: bool) -> _Entry:
    try:
        offset, length, crc, magic, attributes = _PREFIX.unpack_from(view)
        position = _PREFIX.size
        timestamp, timestamp_type = -1, TimestampType.NO_TIMESTAMP
        if magic == 1:
            (timestamp,) = _INT64.unpack_from(view, position)
            timestamp_type = 1 if attributes & LOG_APPEND_TIME else 0
            position += 8
        key, position = _read_bytes(view, position)
        value, position = _read_bytes(view, position)
    except struct.error as error:
        raise CorruptRecordException("a truncated message") from error
    if magic not in (0, 1) or position != length + LOG_OVERHEAD or position != len(view):
        raise CorruptRecordException(
            f"a magic {magic} message of {length:,} bytes does not end where its fields do"
        )
    if check_crcs:
        actual = zlib.crc32(view[_MAGIC_OFFSET:])
        if actual != crc:
            raise CorruptRecordException(
                f"the message's CRC-32 is {actual:#010x}, its header says {crc:#010x}"
            )
    message = Message(offset, timestamp, timestamp_type, crc, key, value)
    return _Entry(magic, attributes & CODEC_MASK, message)


def _read_bytes(view: memoryview, position: int) -> tuple[bytes | None, int]:
    (size,) = _INT32.unpack_from(view, position)
    position += 4
    if size == -1:
        return None, position
    if not 0 <= size <= len(view) - position:
        raise CorruptRecordException(
            f"a length of {size:,} bytes where {len(view) - position:,} are left"
        )
    return bytes(view[position : position + size]), position + size


__all__ = ["Message", "read_messages"]
