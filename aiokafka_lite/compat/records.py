"""Batches of records as `aiokafka.record` builds and reads them, over `record/`. Does not wait.

Batches of magic 2, in which Kafka stores records since 0.11. Older ones are read as well.
"""

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Any, ClassVar, Final, NamedTuple, Self

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.batch_builder import RecordBatchBuilder, new_buffer, record_upper_bound
from aiokafka_lite.record.batch_header import (
    ATTRIBUTES_OFFSET,
    CODEC_MASK,
    CONTROL,
    CRC_OFFSET,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    LOG_OVERHEAD,
    TRANSACTIONAL,
    check_crc,
    parse_header,
)
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.memory_records import iter_batches
from aiokafka_lite.record.varint import encode_varint as _encoded
from aiokafka_lite.record.varint import read_varint, varint_size

Headers = Iterable[tuple[str, bytes | None]]

CRC_INIT: Final = 0
_MASK: Final = 0xFFFFFFFF
_MOST_RECORDS: Final = 2**31 - 1


class DefaultRecordMetadata(NamedTuple):
    """The place of a record in its batch, and its size in bytes."""

    offset: int
    size: int
    timestamp: int
    crc: None = None


class DefaultRecord(NamedTuple):
    """A record of a batch."""

    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    checksum: None = None


class _Codecs:
    CODEC_MASK: ClassVar[int] = CODEC_MASK
    CODEC_NONE: ClassVar[int] = CompressionType.NONE
    CODEC_GZIP: ClassVar[int] = CompressionType.GZIP
    CODEC_SNAPPY: ClassVar[int] = CompressionType.SNAPPY
    CODEC_LZ4: ClassVar[int] = CompressionType.LZ4
    CODEC_ZSTD: ClassVar[int] = CompressionType.ZSTD


class DefaultRecordBase(_Codecs):
    """The places and bits of a batch's header."""

    ATTRIBUTES_OFFSET: ClassVar[int] = ATTRIBUTES_OFFSET
    CRC_OFFSET: ClassVar[int] = CRC_OFFSET
    AFTER_LEN_OFFSET: ClassVar[int] = LOG_OVERHEAD
    TIMESTAMP_TYPE_MASK: ClassVar[int] = LOG_APPEND_TIME
    TRANSACTIONAL_MASK: ClassVar[int] = TRANSACTIONAL
    CONTROL_MASK: ClassVar[int] = CONTROL
    LOG_APPEND_TIME: ClassVar[int] = 1
    CREATE_TIME: ClassVar[int] = 0
    NO_PARTITION_LEADER_EPOCH: ClassVar[int] = -1


class DefaultRecordBatchBuilder(DefaultRecordBase):
    """A batch to be filled by `append` and finished by `build`. Sizes are bytes.

    Raises: AssertionError for another magic than 2.
    """

    MAX_RECORD_OVERHEAD: ClassVar[int] = 21

    def __init__(
        self,
        magic: int,
        compression_type: int,
        is_transactional: int,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        batch_size: int,
    ) -> None:
        assert magic >= 2, "batches of magic 0 and 1 are read only"
        self._kind = (CompressionType(compression_type), None, bool(is_transactional))
        self._batch_size = batch_size
        self._builder: Any = None
        self._room: Any = None
        self.set_producer_state(producer_id, producer_epoch, base_sequence)

    def set_producer_state(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Say which producer sends the batch, and the number of its first record."""
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.base_sequence = base_sequence

    def append(
        self,
        offset: int,
        timestamp: int | None,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> DefaultRecordMetadata | None:
        """Add the record number `offset`, counted from 0; None without room for it.

        `timestamp` in ms; None is the present time. The first record always has room. Raises:
        TypeError for another key, value or timestamp; ValueError for another number.
        """
        for name, content in (("key", key), ("value", value)):
            if not isinstance(content, bytes | bytearray | memoryview | None):
                raise TypeError(f"Unsupported type for {name}: {type(content)}")
        if timestamp is None:
            timestamp = int(SYSTEM_CLOCK.time() * 1000)
        elif type(timestamp) is not int:
            raise TypeError(type(timestamp))
        fields = (key, value, tuple(headers))
        if self._builder is None:
            self._room = new_buffer(max(self._batch_size, record_upper_bound(*fields)))
            self._builder = RecordBatchBuilder(self._room, *self._kind)
        if offset != self._builder.record_count:
            raise ValueError(f"record {self._builder.record_count} is next, not {offset}")
        before = self._builder.uncompressed_size
        if self._builder.append(timestamp, *fields) is None:
            return None
        return DefaultRecordMetadata(offset, self._builder.uncompressed_size - before, timestamp)

    def build(self) -> bytearray:
        """Return the bytes of the batch, which takes no more records."""
        if self._builder is None:
            self._builder = RecordBatchBuilder(new_buffer(HEADER_BYTES), *self._kind)
        if not self._builder.is_sealed:
            self._builder.seal()
        self._builder.stamp(self.producer_id, self.producer_epoch, self.base_sequence)
        return bytearray(self._builder.wire())

    def size(self) -> int:
        """Return the size of the batch so far; before compression until it is built."""
        return HEADER_BYTES if self._builder is None else int(self._builder.size_in_bytes)

    def size_in_bytes(
        self,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
    ) -> int:
        """Return the size of such a record."""
        body = 1 + varint_size(offset) + varint_size(timestamp) + self.size_of(key, value, headers)
        return body + varint_size(body)

    @classmethod
    def size_of(cls, key: bytes | None, value: bytes | None, headers: Headers) -> int:
        """Return the size of the key, value and headers with their lengths."""
        around = HEADER_BYTES + cls.MAX_RECORD_OVERHEAD
        return cls.estimate_size_in_bytes(key, value, headers) - around

    @classmethod
    def estimate_size_in_bytes(
        cls, key: bytes | None, value: bytes | None, headers: Headers
    ) -> int:
        """Return the most that a batch of this record takes."""
        return record_upper_bound(key, value, tuple(headers))


class DefaultRecordBatch(DefaultRecordBase):
    """The records of one batch: iterate over it. Raises: CorruptRecordException."""

    def __init__(self, buffer: bytes | bytearray | memoryview) -> None:
        self._buffer = memoryview(buffer)
        self._header = header = parse_header(self._buffer)
        self._records = _records(self._buffer, header.base_offset)
        self.base_offset, self.magic, self.crc = header.base_offset, header.magic, header.crc
        self.attributes, self.last_offset_delta = header.attributes, header.last_offset_delta
        self.first_timestamp, self.max_timestamp = header.base_timestamp, header.max_timestamp
        self.producer_id, self.producer_epoch = header.producer_id, header.producer_epoch
        self.base_sequence = header.base_sequence
        self.compression_type, self.timestamp_type = header.codec, header.timestamp_type
        self.is_transactional, self.is_control_batch = header.is_transactional, header.is_control
        self.next_offset = header.last_offset + 1

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> DefaultRecord:
        return next(self._records)

    def validate_crc(self) -> bool:
        """Say whether the checksum is right."""
        try:
            check_crc(self._buffer, self._header)
        except CorruptRecordException:
            return False
        return True


class _OldRecordBatch(_Codecs):
    """A message of magic 0 or 1, or several in a compressed one."""

    is_control_batch = is_transactional = False
    producer_id = None

    def __init__(self, buffer: memoryview, last_offset: int) -> None:
        self._buffer = buffer
        self.next_offset = last_offset + 1

    def __iter__(self) -> Iterator[DefaultRecord]:
        return _records(self._buffer, 0)

    def validate_crc(self) -> bool:
        """Say whether the checksum is right."""
        try:
            _ = [*self]
        except CorruptRecordException:
            return False
        return True


def _records(batch: memoryview, first_offset: int) -> Iterator[DefaultRecord]:
    cursor = RecordCursor(
        batch, topic="", partition=0, fetch_offset=first_offset, check_crcs=batch[16] < 2
    )
    for each in cursor.take(_MOST_RECORDS):
        fields = (each.timestamp_type, each.key, each.value, list(each.headers))
        yield DefaultRecord(each.offset, each.timestamp, *fields)


class MemoryRecords:
    """The batches in the bytes of a partition, as a fetch brings them.

    A batch that is cut off is left out. Raises: CorruptRecordException, at its batch.
    """

    def __init__(self, bytes_data: bytes) -> None:
        self._size = len(bytes_data)
        self._batches = iter_batches(bytes_data)
        self._next = next(self._batches, None)

    def size_in_bytes(self) -> int:
        """Return the size of all batches."""
        return self._size

    def has_next(self) -> bool:
        """Say whether a batch is left."""
        return self._next is not None

    def next_batch(self) -> DefaultRecordBatch | _OldRecordBatch | None:
        """Return the next batch; None at the end."""
        found = self._next
        if found is None:
            return None
        self._next = next(self._batches, None)
        if found.magic < 2:
            return _OldRecordBatch(found.view, found.last_offset)
        return DefaultRecordBatch(found.view)


# Checksums and numbers…


def crc_update(crc: int, data: Iterable[int]) -> int:
    """Return the CRC-32C of data behind others of the CRC `crc`."""
    return crc32c(bytes(data), crc)  # type: ignore[call-arg]  # the type has the shorter form


def crc_finalize(crc: int) -> int:
    """Return the checksum of the last `crc_update`."""
    return crc & _MASK


def crc(data: Iterable[int]) -> int:
    """Return the CRC-32C of data."""
    return crc_update(CRC_INIT, data)


def _crc_table() -> tuple[int, ...]:
    # The CRC of one byte gives its entry: both ends of a CRC are inverted.
    return tuple(crc(bytes([byte ^ 0xFF])) ^ _MASK ^ 0x00FFFFFF for byte in range(256))


CRC_TABLE: Final = _crc_table()


def encode_varint(value: int, write: Any) -> int:
    """Write a number of variable length, byte by byte; return how many bytes it has."""
    encoded = _encoded(value)
    for byte in encoded:
        write(byte)
    return len(encoded)


def decode_varint(buffer: bytes | bytearray | memoryview, pos: int = 0) -> tuple[int, int]:
    """Return the number at a place, and the place behind it. Raises: ValueError."""
    try:
        return read_varint(buffer, pos, 10)
    except CorruptRecordException as error:
        raise ValueError("Out of int64 range") from error


size_of_varint = size_of_varint_py = size_of_varint_cython = varint_size
calc_crc32c = calc_crc32c_py = crc32c_py = crc32c_cython = crc
encode_varint_py = encode_varint_cython = encode_varint
decode_varint_py = decode_varint_cython = decode_varint
_DefaultRecordPy = DefaultRecord
_DefaultRecordMetadataPy = DefaultRecordMetadata
_DefaultRecordBatchPy = DefaultRecordBatch
_DefaultRecordBatchBuilderPy = DefaultRecordBatchBuilder
_MemoryRecordsPy = MemoryRecords


_SCHEMA: Final = Struct(">HH")


class ControlRecord(NamedTuple):
    """The key of a record that ends a transaction."""

    version: int
    type_: int

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read it. Raises: ValueError for too few bytes."""
        if len(data) < 4:
            raise ValueError(f"a control record has 4 bytes at least, not {len(data)}")
        return cls(*_SCHEMA.unpack_from(data))


ABORT_MARKER: Final = ControlRecord(0, 0)
COMMIT_MARKER: Final = ControlRecord(0, 1)

__all__ = [
    "ABORT_MARKER",
    "COMMIT_MARKER",
    "CRC_INIT",
    "CRC_TABLE",
    "ControlRecord",
    "DefaultRecord",
    "DefaultRecordBase",
    "DefaultRecordBatch",
    "DefaultRecordBatchBuilder",
    "DefaultRecordMetadata",
    "MemoryRecords",
    "calc_crc32c",
    "calc_crc32c_py",
    "crc",
    "crc32c_cython",
    "crc32c_py",
    "crc_finalize",
    "crc_update",
    "decode_varint",
    "decode_varint_cython",
    "decode_varint_py",
    "encode_varint",
    "encode_varint_cython",
    "encode_varint_py",
    "size_of_varint",
    "size_of_varint_cython",
    "size_of_varint_py",
]
