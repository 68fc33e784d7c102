"""Records as Arrow columns, made from lists by pyarrow.

The pure twin. A field is a slice of the batch's bytes; no object is made per record. The Arrow
interfaces are those of the pyarrow.RecordBatch, so this twin needs pyarrow.
"""

from array import array
from collections.abc import Sequence
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING, Any, Final

from aiokafka_lite.arrow.record_schema import ALL_FIELDS, FIELDS, record_schema
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.cursor.record_start import read_headers
from aiokafka_lite.record.varint import read_varint

if TYPE_CHECKING:
    import pyarrow as pa

Headers = Sequence[tuple[str, bytes | None]]

_MAX_ROWS: Final = 8_000_000  # one column holds this many topic names of 249 bytes
_KEY, _VALUE, _HEADERS = (1 << FIELDS.index(name) for name in ("key", "value", "headers"))
_ONE: Final = tuple((byte >> 1) ^ -(byte & 1) for byte in range(128))


class RecordColumnsBuilder:
    """Columns for up to `max_records` records and about `max_bytes` bytes.

    A single record of any size fits. `fields` is a mask of the wanted columns. `max_column_bytes`
    is the range of a column's 32-bit offsets; only tests pass less. Call `begin` before the records
    of each partition, and `finish` once at the end.
    """

    __slots__ = (
        "_columns",
        "_has_no_room",
        "_header_bytes",
        "_is_finished",
        "_key_bytes",
        "_max_bytes",
        "_max_column_bytes",
        "_max_records",
        "_partition",
        "_topic",
        "_value_bytes",
        "next_offset",
        "position",
        "records_read",
        "size_in_bytes",
    )

    def __init__(
        self,
        max_records: int,
        max_bytes: int | None = None,
        *,
        fields: int = ALL_FIELDS,
        max_column_bytes: int = 2**31 - 1,
    ) -> None:
        self._columns = RecordColumns(fields)
        self._max_records = min(max_records, _MAX_ROWS)
        self._max_bytes = 2**63 - 1 if max_bytes is None else max_bytes
        self._max_column_bytes = max_column_bytes
        self._key_bytes = self._value_bytes = self._header_bytes = 0
        self._topic = ""
        self._partition = 0
        self._has_no_room = False
        self._is_finished = False
        self.size_in_bytes = 0
        """Bytes of the records in their batches, decompressed."""
        self.position = 0
        """The position behind the last record that `decode` has read, without a bad one."""
        self.records_read = 0
        """How many records `decode` has read, with those before the wanted offset."""
        self.next_offset = 0
        """The offset behind the last row."""

    def __len__(self) -> int:
        """Rows so far."""
        return len(self._unfinished().offsets)

    def _unfinished(self) -> "RecordColumns":
        if self._is_finished:
            raise ValueError("the columns are finished")
        return self._columns

    @property
    def is_full(self) -> bool:
        """Whether the columns take no more records."""
        rows = len(self)
        return rows >= self._max_records or (
            rows > 0 and (self.size_in_bytes >= self._max_bytes or self._has_no_room)
        )

    def begin(self, topic: str, partition: int) -> None:
        """Set the topic and partition of the records that follow."""
        self._topic = topic
        self._partition = partition

    def decode(
        self,
        data: bytes | bytearray | memoryview,
        position: int,
        count: int,
        base_offset: int,
        last_offset: int,
        base_timestamp: int,
        timestamp_type: int,
        max_timestamp: int,
        fetch_offset: int,
        end: int = -1,
    ) -> int:
        """Append records of a batch's decompressed `data` until the columns are full; return how
        many.

        `count` records lie between `position` and `end`; -1 means the end of the data. Records
        before `fetch_offset` are skipped. Afterwards `position`, `records_read` and `next_offset`
        say how far it read.

        Raises: CorruptRecordException at a bad record. The rows before that record are appended.
        """
        columns = self._unfinished()
        view = memoryview(data).cast("B")
        if end == -1:
            end = len(view)
        if not 0 <= position <= end <= len(view):
            raise IndexError("position is outside of the data")
        is_whole = isinstance(data, bytes) and end == len(view)
        buffer = data if is_whole else bytes(view[position:end])
        shift = 0 if is_whole else position
        before = len(columns.offsets)
        self.position = position - shift
        self.records_read = 0
        self.next_offset = fetch_offset
        try:
            assert isinstance(buffer, bytes)
            self._decode(buffer, count, base_offset, last_offset, base_timestamp)
        except IndexError as error:
            raise CorruptRecordException("a record ends beyond its batch") from error
        finally:
            self.position += shift
            rows = len(columns.offsets) - before
            if rows:
                if timestamp_type == 1:
                    columns.timestamps[before:] = array("q", repeat(max_timestamp, rows))
                columns.runs.append((self._topic, self._partition, timestamp_type, rows))
        return rows

    def _decode(
        self, buffer: bytes, count: int, base_offset: int, last_offset: int, base_timestamp: int
    ) -> None:
        """Append rows, and move `position`, `records_read`, `next_offset` and `size_in_bytes`
        forward.

        Raises: CorruptRecordException; IndexError for a position beyond the batch.
        """
        columns = self._columns
        fields = columns.fields
        append_offset, append_timestamp = columns.offsets.append, columns.timestamps.append
        room = min(self._max_records - len(columns.offsets), count)
        rows = 0
        while self.records_read < count and rows < room:
            begin = position = self.position
            size, position = read_varint(buffer, position)
            end = position + size
            if size < 1:
                raise CorruptRecordException("a record's fields do not end where it does")
            timestamp, position = read_varint(buffer, position + 1, 10)
            delta, position = _read_short(buffer, position)
            key, position = _read_field(buffer, position, "key")
            value, position = _read_field(buffer, position, "value")
            headers: Headers = ()
            if buffer[position]:
                headers, position = read_headers(buffer, position)
            else:
                position += 1
            if position != end:
                raise CorruptRecordException("a record's fields do not end where it does")
            offset = base_offset + delta
            if offset > last_offset:
                raise CorruptRecordException("a record lies behind its batch's last offset")
            if delta < 0 or (offset < self.next_offset and rows):
                raise CorruptRecordException(f"a record of offset {offset} behind a later one")
            if offset >= self.next_offset:
                if not self._append_fields(
                    key if fields & _KEY else None,
                    value if fields & _VALUE else None,
                    headers if fields & _HEADERS else (),
                ):
                    return
                append_offset(offset)
                append_timestamp(_int64(base_timestamp + timestamp))
                self.next_offset = offset + 1
                self.size_in_bytes += position - begin
                rows += 1
            self.position = position
            self.records_read += 1
            if rows and self.size_in_bytes >= self._max_bytes:
                return

    def append(
        self,
        offset: int,
        timestamp: int,
        timestamp_type: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers = (),
    ) -> bool:
        """Append a record that was decoded elsewhere. Return False if a column lacks room for it.

        `timestamp_type` -1 means: the record has no timestamp, and the column gets a null.
        """
        columns = self._unfinished()
        if not self._append_fields(
            key if columns.fields & _KEY else None,
            value if columns.fields & _VALUE else None,
            headers if columns.fields & _HEADERS else (),
        ):
            return False
        if timestamp_type < 0:
            columns.without_timestamp.append(len(columns.offsets))
        columns.offsets.append(offset)
        columns.timestamps.append(timestamp)
        columns.runs.append((self._topic, self._partition, timestamp_type, 1))
        self.size_in_bytes += 7 + len(key or b"") + len(value or b"")
        self.next_offset = offset + 1
        return True

    def _append_fields(self, key: bytes | None, value: bytes | None, headers: Headers) -> bool:
        """Append the fields of a row. Without room for them, append nothing and return False."""
        columns = self._columns
        keys = self._key_bytes + len(key or b"")
        values = self._value_bytes + len(value or b"")
        in_headers = self._header_bytes
        if headers:
            in_headers += sum(len(name.encode()) + len(content or b"") for name, content in headers)
        if columns.keys and max(keys, values, in_headers) > self._max_column_bytes:
            self._has_no_room = True
            return False
        self._key_bytes, self._value_bytes, self._header_bytes = keys, values, in_headers
        columns.keys.append(key)
        columns.values.append(value)
        columns.headers.append(headers)
        return True

    def finish(self) -> "RecordColumns":
        """Return the columns. Nothing can be appended after that."""
        columns = self._unfinished()
        self._is_finished = True
        return columns


class RecordColumns:
    """Records as columns, for any library that imports Arrow data by the PyCapsule interface.

    pyarrow.record_batch(columns), polars.DataFrame(columns) and others take the memory over without
    a copy. What they imported stays valid without this object.
    """

    __slots__ = (
        "_batch",
        "fields",
        "headers",
        "keys",
        "offsets",
        "runs",
        "timestamps",
        "values",
        "without_timestamp",
    )

    def __init__(self, fields: int) -> None:
        self.fields = fields
        self.offsets = array("q")
        self.timestamps = array("q")
        self.without_timestamp: list[int] = []
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.headers: list[Headers] = []
        self.runs: list[tuple[str, int, int, int]] = []
        """(topic, partition, timestamp type, rows) for each run of rows that share them, in
        order.
        """
        self._batch: pa.RecordBatch | None = None

    def __len__(self) -> int:
        """The number of records."""
        return len(self.offsets)

    def __repr__(self) -> str:
        return f"<RecordColumns {len(self):,} records, {self.nbytes:,} bytes>"

    @property
    def nbytes(self) -> int:
        """The bytes of topics, keys, values and headers."""
        topics = self._runs(lambda run: len(run[0].encode())) if self.fields & 1 else ()
        in_headers = (
            len(name.encode()) + len(content or b"")
            for name, content in chain.from_iterable(self.headers)
        )
        fields = (len(field or b"") for field in chain(self.keys, self.values))
        return sum(chain(topics, fields, in_headers))

    def __arrow_c_schema__(self) -> object:
        """Return the schema, as an "arrow_schema" capsule."""
        return record_schema(self.fields).__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return schema and rows, as capsules; `requested_schema` is ignored."""
        schema, rows = self.to_pyarrow().__arrow_c_array__()
        return schema, rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a stream of one batch, as a capsule; `requested_schema` is ignored."""
        return self.to_pyarrow().__arrow_c_stream__()

    def to_pyarrow(self) -> "pa.RecordBatch":
        """Return a pyarrow.RecordBatch that shares the memory.

        Raises: ImportError without pyarrow.
        """
        if self._batch is None:
            self._batch = self._to_pyarrow()
        return self._batch

    def _to_pyarrow(self) -> "pa.RecordBatch":
        schema = record_schema(self.fields)
        import pyarrow as pa  # noqa: PLC0415  the cost is for users of Arrow only

        timestamps: Any = pa.array(self.timestamps, pa.int64())
        if self.without_timestamp:
            listed: list[int | None] = list(self.timestamps)
            for row in self.without_timestamp:
                listed[row] = None
            timestamps = pa.array(listed, pa.int64())
        makers = {
            "topic": lambda: pa.array(self._runs(lambda run: run[0]), pa.string()),
            "partition": lambda: pa.array(self._runs(lambda run: run[1]), pa.int32()),
            "offset": lambda: pa.array(self.offsets, pa.int64()),
            "timestamp": lambda: timestamps.cast(pa.timestamp("ms", "UTC")),
            "timestamp_type": lambda: pa.array(self._runs(lambda run: run[2]), pa.int32()),
            "key": lambda: pa.array(self.keys, pa.binary()),
            "value": lambda: pa.array(self.values, pa.binary()),
            "headers": lambda: self._header_column(schema.field("headers").type),
        }
        return pa.RecordBatch.from_arrays([makers[name]() for name in schema.names], schema=schema)

    def _runs(self, field: Any) -> list[Any]:
        """Return one field of the runs, repeated for each row."""
        return list(chain.from_iterable(repeat(field(run), run[3]) for run in self.runs))

    def _header_column(self, kind: "pa.ListType") -> "pa.Array":
        import pyarrow as pa  # noqa: PLC0415

        entries = list(chain.from_iterable(self.headers))
        offsets = pa.array(accumulate(map(len, self.headers), initial=0), pa.int32())
        names = pa.array([name for name, _ in entries], pa.string())
        contents = pa.array([content for _, content in entries], pa.binary())
        header = pa.StructArray.from_arrays([names, contents], fields=list(kind.value_type))
        return pa.ListArray.from_arrays(offsets, header, type=kind)


def _read_short(buffer: bytes, position: int) -> tuple[int, int]:
    byte = buffer[position]
    return (_ONE[byte], position + 1) if byte < 128 else read_varint(buffer, position)


def _read_field(buffer: bytes, position: int, what: str) -> tuple[bytes | None, int]:
    """Return a key or value, and the position behind it. Raises: as `_decode`."""
    size, position = _read_short(buffer, position)
    if size > 0:
        end = position + size
        if end > len(buffer):
            raise IndexError
        return buffer[position:end], end
    if size < -1:
        raise CorruptRecordException(f"a {what} of {size:,} bytes")
    return (b"" if size == 0 else None), position


def _int64(number: int) -> int:
    """Return the low 64 bits of a number, signed, as C and Java do on overflow."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


__all__ = ["RecordColumns", "RecordColumnsBuilder"]
