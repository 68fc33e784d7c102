"""Builds one batch of records in a lent buffer: the pure `RecordBatchBuilder`.

Owns the bytes of one batch from the first record to the finished header. The caller decides when a
batch is full enough, and owns the buffer's memory. Does not wait. `append` is the hot path: varints
come out of a table, and each record is joined and copied once.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Final

from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import compress
from aiokafka_lite.record.batch_header import (
    ATTRIBUTES_OFFSET,
    CRC_OFFSET,
    HEADER,
    HEADER_BYTES,
    LOG_OVERHEAD,
    TRANSACTIONAL,
)
from aiokafka_lite.record.varint import encode_varint, varint_size

Headers = Sequence[tuple[str, bytes | None]]

_MAX_RECORD_OVERHEAD: Final = 21
"""Length 5, attributes 1, timestamp delta 10, offset delta 5. Source: DefaultRecord."""
_NULL: Final = b"\x01"
_NO_HEADERS: Final = b"\0"
_FLUSH_MASK: Final = 127
_HALF: Final = 1 << 63
_CRC: Final = Struct(">I")
_NO_PRODUCER: Final = (-1, -1, -1)


_TABLE_SIZE: Final = 8192  # varints of this many numbers have one or two bytes
_VARINTS: Final[list[bytes]] = []
_WITH_LENGTH: Final[list[int]] = []
"""Size of a field together with its length prefix."""
_ATTRIBUTES_AND_VARINTS: Final[list[bytes]] = []
"""A record's attributes (0) and its timestamp delta, which are adjacent."""


def _fill_tables() -> None:
    for number in range(_TABLE_SIZE):
        varint = encode_varint(number)
        _VARINTS.append(varint)
        _WITH_LENGTH.append(number + len(varint))
        _ATTRIBUTES_AND_VARINTS.append(b"\0" + varint)


def new_buffer(size: int) -> bytearray:
    """Return memory for a batch. Nobody may read what was not written to it."""
    return bytearray(size)


def record_upper_bound(key: bytes | None, value: bytes | None, headers: Headers = ()) -> int:
    """Return an upper limit for a batch of only this record, with its header of 61 bytes.

    Source: AbstractRecords.estimateSizeInBytesUpperBound.
    """
    size = HEADER_BYTES + _MAX_RECORD_OVERHEAD + _field_size(key) + _field_size(value)
    size += varint_size(len(headers)) if headers else 1
    for name, content in headers:
        size += _field_size(name.encode()) + _field_size(content)
    return size


def _field_size(content: bytes | None) -> int:
    """Return the size of a field together with its length prefix."""
    if content is None:
        return 1
    try:
        return _WITH_LENGTH[len(content)]
    except IndexError:  # beyond the table, or before the first builder filled it
        return varint_size(len(content)) + len(content)


class RecordBatchBuilder:
    """One record batch (magic 2) under construction in `buffer`, which is never resized.

    Call append for each record, then seal, stamp and wire. A retry may stamp again. The batch uses
    the buffer until it is acknowledged. But a compressed batch leaves the buffer at `seal`.
    """

    __slots__ = (
        "_attributes",
        "_base_timestamp",
        "_buffer",
        "_codec",
        "_flushed",
        "_level",
        "_limit",
        "_parts",
        "_position",
        "_producer",
        "_wire",
        "max_timestamp",
        "record_count",
    )

    def __init__(
        self,
        buffer: bytearray,
        compression: CompressionType = CompressionType.NONE,
        level: int | None = None,
        is_transactional: bool = False,
    ) -> None:
        if not _VARINTS:
            _fill_tables()
        self._buffer: bytearray | None = buffer
        self._limit = len(buffer)
        self._position = HEADER_BYTES  # the next record begins here
        self._flushed = HEADER_BYTES  # the buffer is written up to here; the rest is in parts
        self._parts: list[bytes] = []
        self._codec = compression
        self._level = level
        self._attributes = compression | (TRANSACTIONAL if is_transactional else 0)
        self._base_timestamp = -1
        self._producer = _NO_PRODUCER
        self._wire: memoryview | None = None
        self.max_timestamp = -1
        """The largest of the records' timestamps, ms; -1 without records."""
        self.record_count = 0

    @property
    def is_sealed(self) -> bool:
        """Whether the batch takes no more records."""
        return self._wire is not None

    @property
    def holds_buffer(self) -> bool:
        """Whether the lent buffer is part of the batch. A sealed compressed batch has left it."""
        return self._buffer is not None

    @property
    def uncompressed_size(self) -> int:
        """Bytes of the batch before compression, header included."""
        return self._position

    @property
    def referred_bytes(self) -> int:
        """How many bytes of the batch lie elsewhere: records that are not in the buffer yet."""
        return self._position - self._flushed

    @property
    def size_in_bytes(self) -> int:
        """Bytes of the batch: on the wire once sealed, before compression until then."""
        return self._position if self._wire is None else len(self._wire)

    def __repr__(self) -> str:
        state = "sealed" if self.is_sealed else "open"
        return (
            f"<RecordBatchBuilder {state}, {self.record_count:,} records,"
            f" {self.size_in_bytes:,} bytes>"
        )

    def limit_to(self, size: int) -> None:
        """From now on, accept records only up to `size` bytes before compression. A batch without
        room is in its buffer, so that its bytes are not in memory twice while it waits.
        """
        if size < self._limit:  # noqa: PLR1730  min() is a call, in which it may be lowered
            self._limit = size
        if self._position >= self._limit and self._wire is None:
            self._flush()

    def move_to(self, buffer: bytearray) -> bool:
        """Go on in another buffer, up to its end, with the records so far. The buffer before is
        free then. The same buffer: a limit below its end is lifted. False: a sealed batch keeps its
        buffer.

        Raises: ValueError for a buffer that is too small.
        """
        if self._wire is not None:
            return False
        size = len(buffer)
        while buffer is not self._buffer:
            assert self._buffer is not None
            if size < self._position:
                raise ValueError(f"{self._position} bytes do not fit a buffer of {size}")
            self._flush()
            moved = self._flushed
            buffer[:moved] = self._buffer[:moved]
            if moved == self._position:  # nothing was appended meanwhile
                self._buffer = buffer
        self._limit = size
        return True

    def leave_buffer(self) -> bool:
        """Take no more records, and go on in memory of its own that is no larger than needed. The
        lent buffer is free then. False for a sealed batch, which keeps it.
        """
        if self._wire is not None or self._buffer is None:
            return False
        self._limit = 0
        self._flush()
        own = self._buffer[: self._position]
        if self.is_sealed:  # meanwhile, by a handler of signals that sends
            return False
        self._buffer = own
        return True

    def append(  # noqa: PLR0912, PLR0915  the hot path: calls would double its cost
        self, timestamp_ms: int, key: bytes | None, value: bytes | None, headers: Headers = ()
    ) -> int | None:
        """Add a record; return its offset relative to the first, or None without room for it.

        A sealed batch has no room. A buffer of `record_upper_bound` bytes always takes its first
        record.

        Raises: TypeError for a key or value that is not bytes-like; nothing is added then.
        """
        count = self.record_count
        delta = timestamp_ms - self._base_timestamp if count else 0
        try:
            varints = _VARINTS
            with_length = _WITH_LENGTH
            if 0 <= delta < _TABLE_SIZE:
                stamp = _ATTRIBUTES_AND_VARINTS[delta]
            else:
                delta = (delta + _HALF) % (2 * _HALF) - _HALF  # wraps around like a long in Java
                stamp = b"\0" + encode_varint(delta)
            offset = varints[count]
            size = len(stamp) + len(offset)
            if key is None:
                key_bytes, key_size = b"", _NULL
                size += 1
            else:
                key_bytes = key if key.__class__ is bytes else bytes(memoryview(key))
                length = len(key_bytes)
                key_size = varints[length]
                size += with_length[length]
            if value is None:
                value_bytes, value_size = b"", _NULL
                size += 1
            else:
                value_bytes = value if value.__class__ is bytes else bytes(memoryview(value))
                length = len(value_bytes)
                value_size = varints[length]
                size += with_length[length]
            if headers:
                tail = _encode_headers(headers)
                size += len(tail)
            else:
                tail = _NO_HEADERS
                size += 1
            prefix = varints[size]
            parts = (prefix, stamp, offset, key_size, key_bytes, value_size, value_bytes, tail)
        except IndexError:  # a length or the count is beyond the tables
            parts = _encode_any(delta, count, key, value, headers)
            size = sum(map(len, parts[1:]))
        size += len(parts[0])
        if self.record_count != count:  # a finalizer or a signal handler has appended, too
            return self.append(timestamp_ms, key, value, headers)
        # From here on nothing else runs until the record is counted: there is no call.
        end = self._position + size
        if end > self._limit:
            return None
        self._parts += parts
        self._position = end
        self.record_count = count + 1
        if not count:
            self._base_timestamp = self.max_timestamp = timestamp_ms
        elif timestamp_ms > self.max_timestamp:
            self.max_timestamp = timestamp_ms
        if not count & _FLUSH_MASK:
            self._flush()
        return count

    def _flush(self) -> None:
        """Write the pending parts into the buffer.

        Parts are collected first, because one join of many is cheaper. A finalizer or a handler of
        signals may append or seal during the calls, and seals only what is written.
        """
        while self._flushed != self._position:
            none: list[bytes] = []
            start, end = self._flushed, self._position
            place, joined = slice(start, end), b"".join(self._parts)
            if self._flushed == start and self._position == end:  # there is no call from here on
                assert self._buffer is not None
                self._buffer[place] = joined
                self._parts = none
                self._flushed = end

    # After the last record…

    def seal(self) -> None:
        """Take no more records and write the header. Idempotent.

        A batch with a codec is compressed now, once.
        """
        if self._wire is not None:
            return
        assert self._buffer is not None
        self._limit = 0
        self._flush()
        whole = memoryview(self._buffer)[: self._position]
        if self._codec:
            compressed = compress(self._codec, whole[HEADER_BYTES:], self._level)
            whole = memoryview(bytearray(HEADER_BYTES + len(compressed)))
            whole[HEADER_BYTES:] = compressed
            self._buffer = None
        self._wire = whole
        self._write_header(whole)

    def stamp(self, producer_id: int, producer_epoch: int, base_sequence: int) -> None:
        """Write the producer and the sequence number into the batch; seal it first if necessary.

        May be called again: a batch is renumbered after an epoch bump. Never call it while a write
        of `wire()` is pending.
        """
        self._producer = (producer_id, producer_epoch, base_sequence)
        if self._wire is None:
            self.seal()
        else:
            self._write_header(self._wire)

    def wire(self) -> memoryview:
        """Return the finished batch; seal it first if necessary.

        The result is a view of the lent buffer, or of its own memory if compressed. Natively, with
        large values, each call joins them in new memory.
        """
        self.seal()
        assert self._wire is not None
        return self._wire

    def part(self) -> memoryview:
        """Return `wire()` as a part of a frame.

        Natively it may be the batch itself, which refers to large values where they are. A frame
        needs no more than its length and its bytes by the buffer protocol.
        """
        return self.wire()

    def _write_header(self, whole: memoryview) -> None:
        HEADER.pack_into(
            whole,
            0,
            0,  # the broker sets base offset and leader epoch
            len(whole) - LOG_OVERHEAD,
            -1,
            2,
            0,
            self._attributes,
            max(self.record_count - 1, 0),
            self._base_timestamp,
            self.max_timestamp,
            *self._producer,
            self.record_count,
        )
        _CRC.pack_into(whole, CRC_OFFSET, crc32c(whole[ATTRIBUTES_OFFSET:]))


_RecordParts = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes]


def _encode_any(
    delta: int, count: int, key: bytes | None, value: bytes | None, headers: Headers
) -> _RecordParts:
    """Return the parts of a record of any size, starting with its length."""
    key_size, key_bytes = _encode_bytes(key)
    value_size, value_bytes = _encode_bytes(value)
    stamp = b"\0" + encode_varint(delta)
    offset = encode_varint(count)
    tail = _encode_headers(headers)
    fields = (stamp, offset, key_size, key_bytes, value_size, value_bytes, tail)
    return encode_varint(sum(map(len, fields))), *fields


def _encode_bytes(field: bytes | None) -> tuple[bytes, bytes]:
    """Return a nullable field's length as a varint, and its bytes."""
    if field is None:
        return _NULL, b""
    content = bytes(memoryview(field))
    return encode_varint(len(content)), content


def _encode_headers(headers: Headers) -> bytes:
    """Return a record's headers as bytes. Raises: TypeError for a name that is not a str."""
    parts = [encode_varint(len(headers))]
    for name, content in headers:
        if not isinstance(name, str):
            raise TypeError(f"a header's name must be str, got {type(name).__name__}")
        parts += _encode_bytes(name.encode())
        parts += _encode_bytes(content)
    return b"".join(parts)


__all__ = ["RecordBatchBuilder", "new_buffer", "record_upper_bound"]
