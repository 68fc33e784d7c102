"""Turns columns of records into one Arrow record batch, as a user of a client without Arrow
does.
"""

from typing import Any

import pyarrow as pa


def arrow_batch(
    topics: list[Any],
    partitions: list[Any],
    offsets: list[Any],
    timestamps: list[Any],
    timestamp_types: list[Any],
    keys: list[Any],
    values: list[Any],
) -> Any:
    """Build the batch; headers are left out."""
    return pa.RecordBatch.from_arrays(
        [
            pa.array(topics, pa.string()),
            pa.array(partitions, pa.int32()),
            pa.array(offsets, pa.int64()),
            pa.array(timestamps, pa.int64()),
            pa.array(timestamp_types, pa.int8()),
            pa.array(keys, pa.binary()),
            pa.array(values, pa.binary()),
        ],
        ["topic", "partition", "offset", "timestamp", "timestamp_type", "key", "value"],
    )
