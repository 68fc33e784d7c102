"""The form of records in Spark: the schema of its own Kafka source, and the exact Arrow types.

Spark accepts a batch only with exactly these types. pyarrow is imported at the first use. Does not
wait.
"""

import functools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa

_HEADERS: Final = "array<struct<key:string,value:binary>>"
COLUMNS: Final = {
    "key": ("key", "binary"),
    "value": ("value", "binary"),
    "topic": ("topic", "string"),
    "partition": ("partition", "int"),
    "offset": ("offset", "bigint"),
    "timestamp": ("timestamp", "timestamp"),
    "timestampType": ("timestamp_type", "int"),
    "headers": ("headers", _HEADERS),
}
"""By Spark's name: the name of the `getmany_arrow` column, and Spark's type."""

_NO_TIMESTAMP_MS: Final = -1
"""The timestamp that Spark's own source gives a record without one."""


def default_columns(*, include_headers: bool) -> list[str]:
    """Return the columns of a read whose user names none."""
    return [name for name in COLUMNS if include_headers or name != "headers"]


def ddl(names: Iterable[str]) -> str:
    """Return the schema of a read of these columns, as DDL."""
    return ", ".join(f"{name} {COLUMNS[name][1]}" for name in names)


@functools.cache
def _types() -> "dict[str, pa.DataType]":
    import pyarrow as pa  # noqa: PLC0415

    entry = pa.struct([("key", pa.string()), ("value", pa.binary())])
    return {
        "key": pa.binary(),
        "value": pa.binary(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", "UTC"),
        "timestampType": pa.int32(),
        "headers": pa.list_(pa.field("element", entry)),
    }


class SparkColumns:
    """The columns of one read, in Spark's order. Holds plain values, because it travels."""

    def __init__(self, fields: Iterable[tuple[str, str]]) -> None:
        """`fields` are names and Spark's types, from the user's schema.

        Raises: ValueError for an unknown column or another type.
        """
        self.names = tuple(_checked(name, kind) for name, kind in fields)
        if not self.names:
            raise ValueError(
                f"a read needs a column at least; the columns are {', '.join(COLUMNS)}"
            )

    @property
    def asked(self) -> Sequence[str]:
        """The columns to request from `getmany_arrow`, with the offsets to find the end of a
        range.
        """
        return [*{COLUMNS[name][0]: None for name in (*self.names, "offset")}]

    def schema(self) -> "pa.Schema":
        """Return the Arrow schema that Spark compares with."""
        import pyarrow as pa  # noqa: PLC0415

        return pa.schema([(name, _types()[name]) for name in self.names])

    def convert(self, batch: "pa.RecordBatch", end: int) -> "pa.RecordBatch":
        """Return a batch of one partition in Spark's form, without rows at or behind `end`.

        Most columns share the memory of the input.
        """
        import pyarrow as pa  # noqa: PLC0415

        columns = [_convert(name, batch) for name in self.names]
        converted = pa.RecordBatch.from_arrays(columns, schema=self.schema())
        offsets = batch.column("offset")
        rows = bisect_left(range(batch.num_rows), end, key=lambda row: int(offsets[row].as_py()))
        return converted if rows == batch.num_rows else converted.slice(0, rows)


def _checked(name: str, kind: str) -> str:
    if name not in COLUMNS:
        raise ValueError(f"records have no column {name!r}; the columns are {', '.join(COLUMNS)}")
    if kind != COLUMNS[name][1]:
        raise ValueError(f"column {name} is {COLUMNS[name][1]}, not {kind}; cast it afterwards")
    return name


def _convert(name: str, batch: "pa.RecordBatch") -> Any:
    column = batch.column(COLUMNS[name][0])
    if name == "timestamp":
        return _timestamps(column)
    if name == "headers":
        return _headers(column)
    return column


def _timestamps(column: "pa.Array") -> "pa.Array":
    import pyarrow as pa  # noqa: PLC0415

    if column.null_count:
        column = column.fill_null(pa.scalar(_NO_TIMESTAMP_MS, column.type))
    return column.cast(_types()["timestamp"])


def _headers(column: "pa.Array") -> "pa.Array":
    """Return NULL for a record without headers, and nullable keys, as in Spark's types."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    kind = _types()["headers"]
    entries = column.values
    if not len(entries):
        return pa.nulls(len(column), kind)
    fields = [entries.field(number) for number in range(2)]
    made = pa.StructArray.from_arrays(fields, fields=list(kind.value_type))
    is_empty = pc.equal(pc.list_value_length(column), 0)
    return pa.ListArray.from_arrays(column.offsets, made, type=kind, mask=is_empty)


__all__ = ["COLUMNS", "SparkColumns", "ddl", "default_columns"]
