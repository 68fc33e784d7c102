"""Rows of Arrow data as records to send, read by pyarrow: the pure Python twin. Does not wait."""

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aiokafka_lite.arrow.record_schema import require_pyarrow
from aiokafka_lite.errors import SerializationError
from aiokafka_lite.producer.append.arrow.arrow_column_faults import (
    SENT,
    check_columns,
    no_arrow,
    no_batch,
    no_utf8,
    null_in,
    wrong_type,
)
from aiokafka_lite.producer.key_hash.murmur2 import KeyHashes
from aiokafka_lite.record.batch_builder import RecordBatchBuilder

if TYPE_CHECKING:
    import pyarrow as pa

Headers = tuple[tuple[str, bytes | None], ...]
_MAX_TIMESTAMP = 2**63 - 1
_NO_TIMESTAMP = -1  # in Kafka, both of times and of their types
_NO_UTF8 = object()


def arrow_batches(data: Any) -> Iterator["ArrowRows"]:
    """Yield the batches of any object with an Arrow PyCapsule interface, one at a time.

    Raises: SerializationError, before the first batch, for a column that cannot be sent.
    """
    if hasattr(data, "__arrow_c_array__"):
        require_pyarrow()
        import pyarrow as pa  # noqa: PLC0415  the cost is for users of Arrow only

        rows = pa.array(data)
        if not pa.types.is_struct(rows.type):
            raise no_batch()
        _check_schema(pa.schema(list(rows.type)))
        yield ArrowRows(pa.RecordBatch.from_struct_array(rows))  # all fields of a null row are null
    elif hasattr(data, "__arrow_c_stream__"):
        require_pyarrow()
        import pyarrow as pa  # noqa: PLC0415  as above

        with pa.RecordBatchReader.from_stream(data) as reader:
            _check_schema(reader.schema)
            for batch in reader:
                yield ArrowRows(batch)
    else:
        raise no_arrow(data)


class ArrowRows:
    """The rows of one Arrow batch."""

    __slots__ = ("_columns", "_hashes", "_length", "has_partitions", "has_timestamps", "has_topics")

    def __init__(self, batch: "pa.RecordBatch") -> None:
        _check_schema(batch.schema)
        self._length = batch.num_rows
        self._columns: dict[str, list[Any]] = {
            name: _to_list(name, batch.column(name)) for name in batch.schema.names if name in SENT
        }
        self._take_missing_times(batch)
        self._hashes = KeyHashes()
        self.has_topics = "topic" in self._columns
        self.has_partitions = "partition" in self._columns
        self.has_timestamps = "timestamp" in self._columns

    def _take_missing_times(self, batch: "pa.RecordBatch") -> None:
        """Give consumed records of a format without timestamps the time that stands for none."""
        import pyarrow as pa  # noqa: PLC0415  as above

        names, times = batch.schema.names, self._columns.get("timestamp")
        if times is None or "timestamp_type" not in names:
            return
        kinds = batch.column("timestamp_type")
        if pa.types.is_integer(kinds.type):
            for row, kind in enumerate(kinds.to_pylist()):
                if kind == _NO_TIMESTAMP and times[row] is None:
                    times[row] = _NO_TIMESTAMP

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self._length)

    def _field(self, name: str, row: int) -> Any:
        column = self._columns.get(name)
        return None if column is None else column[row]

    def topic(self, row: int) -> str:
        """Return a row's topic. Raises: SerializationError for a null."""
        topic = self._field("topic", row)
        if topic is None:
            raise null_in("topic", row)
        try:
            return str(topic, "utf-8")
        except UnicodeDecodeError:
            raise no_utf8("topic", row) from None

    def partition(self, row: int) -> int | None:
        """Return a row's partition; None for a null."""
        partition: int | None = self._field("partition", row)
        return partition

    def timestamp_ms(self, row: int) -> int | None:
        """Return a row's timestamp; None for a null."""
        timestamp: int | None = self._field("timestamp", row)
        return timestamp

    def timestamps_ms(self, rows: "array[int]", default_ms: int) -> "array[int]":
        """Return the timestamps of `rows`, with `default_ms` for a null."""
        own = map(self.timestamp_ms, rows)
        return array("q", [default_ms if time_ms is None else time_ms for time_ms in own])

    def key(self, row: int) -> bytes | None:
        """Return a row's key."""
        key: bytes | None = self._field("key", row)
        return key

    def value(self, row: int) -> bytes | None:
        """Return a row's value."""
        value: bytes | None = self._field("value", row)
        return value

    def headers(self, row: int) -> Headers:
        """Return a row's headers. Raises: SerializationError for a header without a name."""
        entries = self._field("headers", row)
        if entries is _NO_UTF8:
            raise no_utf8("headers", row)
        if not entries:
            return ()
        headers = []
        for entry in entries:
            if entry is None or entry[0] is None:
                raise null_in("headers", row)
            headers.append(entry)
        return tuple(headers)

    def numbers(self, start: int, stop: int) -> "array[int]":
        """Return the row numbers from `start` up to `stop`, without `stop`."""
        return array("I", range(start, stop))

    def by_topic(self, start: int, stop: int) -> list[tuple[str, "array[int]"]]:
        """Return the rows from `start` up to `stop` by topic; those of a topic keep their order."""
        parts: dict[str, array[int]] = {}
        for row in range(start, stop):
            topic = self.topic(row)
            part = parts.get(topic)
            if part is None:
                part = parts[topic] = array("I")
            part.append(row)
        return list(parts.items())

    def by_partition(
        self, rows: "array[int]", count: int, *, by_key: bool, by_column: bool
    ) -> list[tuple[int | None, "array[int]"]]:
        """Return the `rows` of one topic by partition; those of a partition keep their order.

        The topic has `count` partitions. With `by_column`, a row goes to the partition that its
        column `partition` names, unless that is null. With `by_key`, any other row with a key goes
        to the partition of the key's hash. The remaining rows are under None.
        """
        parts: dict[int | None, array[int]] = {}
        hashes = self._hashes
        for row in rows:
            partition = self.partition(row) if by_column else None
            if partition is None and by_key:
                key = self.key(row)
                if key is not None:
                    partition = hashes[key] % count
            part = parts.get(partition)
            if part is None:
                part = parts[partition] = array("I")
            part.append(row)
        return list(parts.items())

    def append_to(
        self,
        builder: RecordBatchBuilder,
        rows: Sequence[int],
        start: int,
        timestamp_ms: int,
        *,
        use_timestamps: bool,
    ) -> int:
        """Append `rows` to a batch, from index `start` on; return how many the batch has taken.

        It stops at a row without room, or at one that cannot be sent. With `use_timestamps`, a row
        gets its own timestamp unless that is null.
        """
        columns = self._columns
        keys, values = columns.get("key"), columns.get("value")
        times = columns.get("timestamp") if use_timestamps else None
        has_headers = "headers" in columns
        append = builder.append
        at = start
        for at in range(start, len(rows)):
            row = rows[at]
            key = None if keys is None else keys[row]
            value = None if values is None else values[row]
            time_ms = timestamp_ms
            if times is not None and times[row] is not None:
                time_ms = times[row]
            try:
                headers = self.headers(row) if has_headers else ()
            except SerializationError:
                return at - start
            if (key is None and value is None) or abs(time_ms) > _MAX_TIMESTAMP:
                return at - start
            if append(time_ms, key, value, headers) is None:
                return at - start
        return len(rows) - start


def _check_schema(schema: "pa.Schema") -> None:
    """Raise SerializationError for an unknown column, or for a column of a wrong type."""
    check_columns(schema.names)
    for field in schema:
        if field.name in SENT and not _is_taken(field.name, field.type):
            raise wrong_type(field.name, str(field.type))


def _is_taken(name: str, kind: "pa.DataType") -> bool:
    from pyarrow import types  # noqa: PLC0415  as above

    if types.is_null(kind):
        return name != "topic"
    if name == "topic":
        return _is_text(kind)
    if name == "partition":
        return bool(types.is_integer(kind))
    if name == "timestamp":
        return bool(types.is_timestamp(kind) or types.is_int64(kind))
    if name in ("key", "value"):
        return _is_text(kind) or _is_binary(kind)
    if types.is_map(kind):
        return _is_text(kind.key_type) and (_is_text(kind.item_type) or _is_binary(kind.item_type))
    if not (types.is_list(kind) or types.is_large_list(kind)):
        return False
    entry = kind.value_type
    return (
        bool(types.is_struct(entry))
        and entry.num_fields == 2
        and _is_text(entry.field(0).type)
        and (_is_text(entry.field(1).type) or _is_binary(entry.field(1).type))
    )


def _is_text(kind: "pa.DataType") -> bool:
    from pyarrow import types  # noqa: PLC0415  as above

    is_view = getattr(types, "is_string_view", types.is_string)(kind)
    return bool(types.is_string(kind) or types.is_large_string(kind) or is_view)


def _is_binary(kind: "pa.DataType") -> bool:
    from pyarrow import types  # noqa: PLC0415  as above

    is_view = getattr(types, "is_binary_view", types.is_binary)(kind)
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or is_view)


def _to_list(name: str, column: "pa.Array") -> list[Any]:
    """Return a column's values as they are sent: bytes, str for names, milliseconds for times."""
    import pyarrow as pa  # noqa: PLC0415  as above

    if name == "timestamp" and pa.types.is_timestamp(column.type):
        unit_ns = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[column.type.unit]
        ticks = column.cast(pa.int64()).to_pylist()
        return [None if tick is None else tick * unit_ns // 10**6 for tick in ticks]
    if name in ("topic", "key", "value") and _is_text(column.type):
        column = column.cast(pa.large_binary())
    if name == "headers":
        return _headers_list(column)
    listed: list[Any] = column.to_pylist()
    return listed


def _headers_list(column: "pa.Array") -> list[Any]:
    """Return the headers of each row, or `_NO_UTF8` for a row with text that is not UTF-8."""
    try:
        listed = column.to_pylist()
    except UnicodeDecodeError:
        listed = [_row_of(column, row) for row in range(len(column))]
    return [
        entries if entries is None or entries is _NO_UTF8 else [_pair(entry) for entry in entries]
        for entries in listed
    ]


def _row_of(column: "pa.Array", row: int) -> Any:
    try:
        return column[row].as_py()
    except UnicodeDecodeError:
        return _NO_UTF8


def _pair(entry: Any) -> tuple[str, bytes | None] | None:
    """Return one header: a tuple if the column is a map, a dict if it is a list of structs."""
    if entry is None:
        return None
    name, value = entry if isinstance(entry, tuple) else entry.values()
    return name, value.encode() if isinstance(value, str) else value


__all__ = ["ArrowRows", "arrow_batches"]
