"""Looks at what a producer sends as a broker does: at the frame, and then at each record.

A batch that passes comes out as it is stored: with the topic's codec, the right largest timestamp
and the topic's type of timestamps. Does not wait. Source: ProduceRequest.validateRecords,
UnifiedLog.analyzeAndValidateRecords, LogValidator.
"""

from typing import Final, NamedTuple

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import compress, decompress
from aiokafka_lite.errors import (
    CorruptRecordException,
    InvalidRecordError,
    InvalidTimestampError,
    MessageSizeTooLargeError,
    UnknownError,
    UnsupportedCompressionTypeError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_header import (
    CODEC_MASK,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    MAGIC_OFFSET,
    BatchHeader,
    check_crc,
    write_header,
)
from aiokafka_lite.record.memory_records import next_batch_size
from aiokafka_lite.record.record_check import check_records
from aiokafka_lite.record.varint import read_varint
from aiokafka_lite.testing.broker.state.topic_config import TopicConfig

NO_TIMESTAMP: Final = -1
_MAX_WINDOW: Final = 1 << 27
"""The largest window of zstd that Java's reader takes."""
_LZ4_INDEPENDENT: Final = 0x20
_LONG: Final = 1 << 63


class Refused(NamedTuple):
    """A record that makes a batch invalid: its place in it, and the reason."""

    place: int
    why: str


class RecordsRefusedError(Exception):
    """Single records are refused, and the batch with them."""

    def __init__(
        self, error: InvalidRecordError | InvalidTimestampError, records: list[Refused]
    ) -> None:
        super().__init__(error, records)
        self.error = error
        self.records = records


def read_frame(
    records: bytes | memoryview | None, max_message_bytes: int, *, may_be_zstd: bool
) -> tuple[memoryview, BatchHeader]:
    """Return the one batch in `records`, with its header; bytes behind it are not part of it.

    Raises: CorruptRecordException, InvalidRecordError, MessageSizeTooLargeError or
    UnsupportedCompressionTypeError.
    """
    view = memoryview(records or b"")
    size = next_batch_size(view, 0)
    if not size:
        raise InvalidRecordError("a Produce request needs one whole record batch per partition")
    if view[MAGIC_OFFSET] != 2:
        raise InvalidRecordError(f"a batch has magic {view[MAGIC_OFFSET]}; a broker takes only 2")
    if size < len(view):
        if next_batch_size(view, size):
            raise InvalidRecordError("a Produce request needs exactly one batch per partition")
        view = view[:size]
    header = BatchHeader._make(HEADER.unpack_from(view))
    if header.codec == CompressionType.ZSTD and not may_be_zstd:
        raise UnsupportedCompressionTypeError("zstd needs Produce version 7 or newer")
    if size > max_message_bytes:
        raise MessageSizeTooLargeError(
            f"a batch of {size:,} bytes exceeds max.message.bytes of {max_message_bytes:,} bytes"
        )
    check_crc(view, header)
    return view, header


def validate(
    batch: memoryview,
    header: BatchHeader,
    topic_partition: TopicPartition,
    config: TopicConfig,
    span: tuple[int, int],
) -> memoryview | bytearray:
    """Return the batch as it is stored, but for its offsets. `span` has the oldest and the newest
    timestamp that a producer may set.

    Raises: InvalidRecordError; RecordsRefusedError naming records; MessageSizeTooLargeError if
    another codec makes it too large; UnknownError if it cannot be decompressed, as of a real
    broker, whose own error that is.
    """
    _check_header(header)
    payload = _payload(batch[HEADER_BYTES:], header.codec)
    try:
        lowest, highest, keyless, largest = check_records(payload, header.records_count)
    except CorruptRecordException as error:
        raise InvalidRecordError(str(error.args[0])) from None
    if header.codec and largest > config.max_decompressed_bytes:
        raise InvalidRecordError(
            f"a record of {largest:,} bytes exceeds max.decompressed.message.bytes of "
            f"{config.max_decompressed_bytes:,} bytes"
        )
    base = header.base_timestamp
    if config.log_append_time:
        span = -_LONG, _LONG
    in_time = span[0] <= base + lowest and base + highest <= span[1]
    if not in_time or (keyless and config.is_compacted):
        _refuse(payload, header, topic_partition, needs_keys=config.is_compacted, span=span)
    return _as_stored(batch, header, payload, config, max(base + highest, NO_TIMESTAMP))


def _check_header(header: BatchHeader) -> None:
    if header.base_offset:
        raise InvalidRecordError(f"a batch begins at offset {header.base_offset}, not at 0")
    if header.codec > CompressionType.ZSTD:
        raise UnknownError(f"codec {header.codec} is not one of gzip, snappy, lz4, zstd (1-4)")
    if header.records_count < 1 or header.last_offset_delta != header.records_count - 1:
        raise InvalidRecordError(
            f"a batch of {header.records_count} records cannot end at relative offset "
            f"{header.last_offset_delta}"
        )
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise InvalidRecordError(
            f"a batch of producer {header.producer_id} has sequence {header.base_sequence}"
        )
    if header.is_control:
        raise InvalidRecordError("clients may not write control batches")


def _payload(compressed: memoryview, codec: int) -> bytes | bytearray | memoryview:
    """Return the records, decompressed as Java's reader does."""
    if not codec:
        return compressed
    try:
        if codec == CompressionType.LZ4:
            from aiokafka_lite.compression.lz4_codec import first_frame  # noqa: PLC0415  rare

            compressed = first_frame(compressed)
            if not compressed[4] & _LZ4_INDEPENDENT:
                raise UnknownError("Java's reader of lz4 refuses linked blocks")
        elif codec == CompressionType.ZSTD:
            _check_window(compressed)
        return decompress(codec, compressed)
    except CorruptRecordException as error:
        raise UnknownError(f"the records cannot be read: {error.args[0]}") from None


def _check_window(compressed: memoryview) -> None:
    if len(compressed) < 6:
        return
    if compressed[4] & 0x20:  # a frame of one segment has no window
        return
    window = 1 << 10 + (compressed[5] >> 3)
    if window + (window >> 3) * (compressed[5] & 7) > _MAX_WINDOW:
        raise UnknownError(f"a window of zstd above {_MAX_WINDOW:,} bytes is refused")


def _refuse(
    payload: bytes | bytearray | memoryview,
    header: BatchHeader,
    topic_partition: TopicPartition,
    *,
    needs_keys: bool,
    span: tuple[int, int],
) -> None:
    """Raise RecordsRefusedError if records are invalid. The records are whole.

    Source: LogValidator.validateKey, validateTimestamp, processRecordErrors.
    """
    position, refused, of_time = 0, [], False
    where = f"{topic_partition.topic}-{topic_partition.partition}"
    for index in range(header.records_count):
        size, start = read_varint(payload, position)
        delta, at = read_varint(payload, start + 1, 10)
        _, at = read_varint(payload, at)
        key, _ = read_varint(payload, at)
        position = start + size
        timestamp = header.base_timestamp + delta
        if needs_keys and key < 0:
            why = f"Compacted topic cannot accept message without key in topic partition {where}."
            refused.append(Refused(index, why))
        elif timestamp != NO_TIMESTAMP and not span[0] <= timestamp <= span[1]:
            of_time = True
            why = (
                f"Timestamp {timestamp} of message with offset {index} is out of range. The "
                f"timestamp should be within [{span[0]}, {span[1]}]"
            )
            refused.append(Refused(index, why))
    if of_time:
        text = "One or more records have been rejected due to invalid timestamp"
        raise RecordsRefusedError(InvalidTimestampError(text), refused)
    if refused:
        shown = ", ".join(
            f"RecordError(batchIndex={place}, message='{why}')" for place, why in refused[:3]
        )
        text = (
            f"One or more records have been rejected due to {len(refused)} record errors in total, "
            f"and only showing the first three errors at most: [{shown}]"
        )
        raise RecordsRefusedError(InvalidRecordError(text), refused)


def _as_stored(
    batch: memoryview,
    header: BatchHeader,
    payload: bytes | bytearray | memoryview,
    config: TopicConfig,
    max_timestamp: int,
) -> memoryview | bytearray:
    codec = header.codec if config.codec is None else config.codec
    attributes = header.attributes & ~(CODEC_MASK | LOG_APPEND_TIME) | codec
    if attributes == header.attributes and max_timestamp == header.max_timestamp:
        return batch
    stored = bytearray(batch)
    if codec != header.codec:
        stored[HEADER_BYTES:] = compress(CompressionType(codec), payload, config.codec_level)
        if len(stored) > config.max_message_bytes:
            raise MessageSizeTooLargeError(
                f"a batch of {len(stored):,} bytes, in the topic's codec, exceeds "
                f"max.message.bytes of {config.max_message_bytes:,} bytes"
            )
    write_header(stored, header._replace(attributes=attributes, max_timestamp=max_timestamp))
    return stored


__all__ = ["RecordsRefusedError", "Refused", "read_frame", "validate"]
