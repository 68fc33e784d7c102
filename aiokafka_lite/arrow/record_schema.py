"""Owns the Arrow schema of records, and imports pyarrow at its first use.

| column         | type                                              | null                      |
|----------------|---------------------------------------------------|---------------------------|
| topic          | string                                            | never                     |
| partition      | int32                                             | never                     |
| offset         | int64                                             | never                     |
| timestamp      | timestamp[ms, UTC]                                | in messages of magic 0    |
| timestamp_type | int32: 0 create time, 1 log-append time, -1 none  | never                     |
| key, value     | binary                                            | as in the record          |
| headers        | list<struct<key: string not null, value: binary>> | values; no headers: empty |

Spark, Polars and DuckDB accept these types without a conversion. Strings are plain, since Spark
refuses dictionaries. A RecordBatch holds the rows of all partitions of a poll, since Spark refuses
lists of batches. Users, too, make tables of one batch per poll. Offsets have 32 bits, which limits
a column of one batch to 2 GiB.
"""

import functools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from aiokafka_lite.checks.quoted import quoted

if TYPE_CHECKING:
    import pyarrow as pa

FIELDS: Final = (
    "topic",
    "partition",
    "offset",
    "timestamp",
    "timestamp_type",
    "key",
    "value",
    "headers",
)
ALL_FIELDS: Final = (1 << len(FIELDS)) - 1
"""A mask stands for a set of columns; bit 0 is the first column."""


def field_mask(columns: Iterable[str] | None) -> int:
    """Return the mask of these columns; None means all of them.

    Raises: ValueError for unknown columns or an empty selection.
    """
    if columns is None:
        return ALL_FIELDS
    mask = 0
    for name in [columns] if isinstance(columns, str) else columns:
        if name not in FIELDS:
            raise ValueError(
                f"{quoted(name)} is not a column of a record; the columns are {', '.join(FIELDS)}"
            )
        mask |= 1 << FIELDS.index(name)
    if not mask:
        raise ValueError(f"no column is named; the columns are {', '.join(FIELDS)}")
    return mask


def require_pyarrow() -> None:
    """Raise ImportError, with the remedy, if pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401, ICN001, PLC0415  the cost is for users of Arrow only
    except ImportError as error:
        raise ImportError(
            "this needs pyarrow: pip install 'aiokafka-lite[arrow]'; other Arrow libraries take"
            " the object getmany_columns() returns"
        ) from error


@functools.cache
def record_schema(mask: int = ALL_FIELDS) -> "pa.Schema":
    """Return the schema with these columns. Raises: ImportError without pyarrow."""
    require_pyarrow()
    import pyarrow as pa  # noqa: PLC0415

    header = pa.struct([pa.field("key", pa.string(), nullable=False), ("value", pa.binary())])
    types = {
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("ms", "UTC"),
        "timestamp_type": pa.int32(),
        "key": pa.binary(),
        "value": pa.binary(),
        "headers": pa.list_(header),
    }
    return pa.schema([(name, types[name]) for i, name in enumerate(FIELDS) if mask >> i & 1])


def import_record_batch(address: int, mask: int) -> "pa.RecordBatch":
    """Return the batch in the ArrowArray struct at `address`. The struct is emptied.

    The schema is known here, so this costs a quarter of an import by capsule.
    """
    schema = record_schema(mask)
    import pyarrow as pa  # noqa: PLC0415

    return pa.RecordBatch._import_from_c(address, schema)


__all__ = [
    "ALL_FIELDS",
    "FIELDS",
    "field_mask",
    "import_record_batch",
    "record_schema",
    "require_pyarrow",
]
