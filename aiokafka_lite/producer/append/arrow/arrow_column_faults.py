"""Makes the errors for wrong Arrow data, with the same text for both twins. Does not wait."""

from collections.abc import Sequence
from typing import Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import SerializationError

SENT: Final = ("topic", "partition", "timestamp", "key", "value", "headers")
"""The columns that are sent."""
PASSED_OVER: Final = ("offset", "timestamp_type")
"""The other columns of `getmany_arrow`, which a broker sets.

A type of -1 says that a record has no timestamp.
"""

TAKEN: Final = {
    "topic": "string",
    "partition": "an integer",
    "timestamp": "timestamp, or int64 with milliseconds since the epoch",
    "key": "binary or string",
    "value": "binary or string",
    "headers": "list<struct<key: string, value: binary>> or map<string, binary>",
}


def check_columns(names: Sequence[str]) -> None:
    """Raise SerializationError for unknown, repeated or missing columns."""
    for name in names:
        if name not in SENT and name not in PASSED_OVER:
            raise SerializationError(
                f"column {quoted(name)} is no part of a record; rename or drop it: send_arrow() "
                f"takes {', '.join(SENT)}, and passes over {' and '.join(PASSED_OVER)}"
            )
        if list(names).count(name) > 1:
            raise SerializationError(
                f"there is more than one column {quoted(name)}; drop the others"
            )
    if "key" not in names and "value" not in names:
        raise SerializationError(
            f"there is no column 'value' or 'key', only {', '.join(names) or 'none at all'}; rename"
            " the one that holds the records' values to 'value'"
        )


def wrong_type(name: str, kind: str) -> SerializationError:
    """Return the error for a column of an Arrow type that is not taken for it."""
    return SerializationError(
        f"column {quoted(name)} is of the Arrow type {kind}, which send_arrow() does not take for "
        f"it; cast it to {TAKEN[name]}"
    )


def no_arrow(obj: object) -> SerializationError:
    """Return the error for an object that brings no Arrow data."""
    return SerializationError(
        f"{type(obj).__name__} has no Arrow data: send_arrow() takes a pyarrow RecordBatch or"
        " Table, a Polars DataFrame, or anything else with __arrow_c_array__ or"
        " __arrow_c_stream__; send_many() takes Python objects"
    )


def no_batch() -> SerializationError:
    """Return the error for Arrow data without columns."""
    return SerializationError("the Arrow data is one column, not a batch with a column 'value'")


def no_utf8(name: str, row: int) -> SerializationError:
    """Return the error for text that a record cannot have."""
    return SerializationError(
        f"column {quoted(name)} has text that is no UTF-8 in row {row:,}; only text can be a topic "
        "or the name of a header"
    )


def null_in(name: str, row: int) -> SerializationError:
    """Return the error for a null where there can be none."""
    if name == "topic":
        remedy = "fill it, or name one topic for all by send_arrow(..., topic=...)"
    else:
        remedy = "leave such headers out"
    return SerializationError(f"column {quoted(name)} has a null in row {row:,}; {remedy}")


__all__ = [
    "PASSED_OVER",
    "SENT",
    "TAKEN",
    "check_columns",
    "no_arrow",
    "no_batch",
    "no_utf8",
    "null_in",
    "wrong_type",
]
