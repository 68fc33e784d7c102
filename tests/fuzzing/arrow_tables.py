"""Random Arrow data of every type that `send_arrow` takes: sliced, chunked, with nulls.

Everything comes from one `random.Random`, so a seed is enough to see a failure again.
"""

from random import Random
from typing import Any

import pyarrow as pa

_TEXTS = (pa.string(), pa.large_string(), pa.string_view())
_BYTES = (pa.binary(), pa.large_binary(), pa.binary_view())
_INTEGERS = (
    pa.int8(),
    pa.uint8(),
    pa.int16(),
    pa.uint16(),
    pa.int32(),
    pa.uint32(),
    pa.int64(),
    pa.uint64(),
)
_TIMES = (pa.int64(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us", "UTC"))
_MOMENTS = (
    *(0, 1, 999, 1_700_000_000, 1_700_000_000_123_456),
    *(-1, -7, -1_500, -(2**53), 2**63 - 1, -(2**63)),
)
# An inline string view has up to 12 bytes; a longer one refers to a buffer.
_CONTENTS = ("", "a", "hellö", "x" * 12, "y" * 13, "z" * 50)


def random_table(rng: Random) -> Any:
    """Return a RecordBatch, Table or StructArray of records to send."""
    rows = rng.randrange(40)
    columns: dict[str, Any] = {"value": _column(rng, rows, rng.choice((*_TEXTS, *_BYTES)))}
    if rng.random() < 0.6:
        columns["key"] = _column(rng, rows, rng.choice((*_TEXTS, *_BYTES)))
    if rng.random() < 0.4:
        columns["partition"] = _numbers(rng, rows, rng.choice(_INTEGERS), (0, 1, 2, 5, 100))
    if rng.random() < 0.4:
        columns["timestamp"] = _numbers(rng, rows, rng.choice(_TIMES), _MOMENTS)
        if rng.random() < 0.4:
            kind = rng.choice((pa.int8(), pa.int32(), pa.int64(), pa.null(), pa.float64()))
            types = (None,) if pa.types.is_null(kind) else (-1, 0, 1)
            columns["timestamp_type"] = _numbers(rng, rows, kind, types)
    if rng.random() < 0.3:
        columns["topic"] = _column(rng, rows, rng.choice(_TEXTS), nulls=0)
    if rng.random() < 0.5:
        columns["headers"] = _headers(rng, rows)
    return _shaped(rng, pa.RecordBatch.from_pydict(columns))


def _shaped(rng: Random, batch: pa.RecordBatch) -> Any:
    if rng.random() < 0.6 and batch.num_rows:
        start = rng.randrange(batch.num_rows)
        batch = batch.slice(start, rng.randrange(batch.num_rows - start + 1))
    shape = rng.random()
    if shape < 0.5:
        return batch
    if shape < 0.8:
        pieces = [batch, batch.slice(batch.num_rows // 2), batch.slice(0, 1)]
        return pa.Table.from_batches(pieces, batch.schema)
    return pa.StructArray.from_arrays(batch.columns, batch.schema.names)


def _content(rng: Random, kind: pa.DataType) -> str | bytes:
    text = rng.choice(_CONTENTS)
    return text if kind in _TEXTS else text.encode()


def _column(rng: Random, rows: int, kind: pa.DataType, nulls: float = 0.3) -> pa.Array:
    values = [None if rng.random() < nulls else _content(rng, kind) for _ in range(rows)]
    return pa.array(values, kind)


def _numbers(rng: Random, rows: int, kind: pa.DataType, values: tuple[int | None, ...]) -> pa.Array:
    return pa.array([None if rng.random() < 0.2 else rng.choice(values) for _ in range(rows)], kind)


def _headers(rng: Random, rows: int) -> pa.Array:
    names, values = rng.choice(_TEXTS), rng.choice((*_BYTES, *_TEXTS))
    content = [
        None
        if rng.random() < 0.2
        else [
            (_content(rng, names), None if rng.random() < 0.3 else _content(rng, values))
            for _ in range(rng.randrange(4))
        ]
        for _ in range(rows)
    ]
    if rng.random() < 0.4:
        return pa.array(content, pa.map_(names, values))
    pair = pa.struct([("key", names), ("value", values)])
    listed = rng.choice([pa.list_, pa.large_list])(pair)
    dictionaries = [
        None if row is None else [{"key": name, "value": value} for name, value in row]
        for row in content
    ]
    return pa.array(dictionaries, listed)
