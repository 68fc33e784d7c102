"""Bridges the differences between the releases of PySpark 4 with replacements for missing parts.

| | 4.0 | 4.1 | 4.2 |
|---|---|---|---|
| limits of a trigger, several batches by availableNow | no | no | yes |
| filters pushed to the source, streams written as Arrow | no | yes | yes |
| functions of columns as Arrow | no | yes | yes |
"""

from typing import Any, Final

from pyspark.sql import datasource
from pyspark.sql.pandas import functions

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxRows,
        ReadMinRows,
        SupportsTriggerAvailableNow,
    )

    HAS_READ_LIMITS = True
    """Whether Spark passes a stream its position and a limit when it asks for the next offsets."""
except ImportError:  # before 4.2, which passes neither
    HAS_READ_LIMITS = False

    class ReadLimit:  # type: ignore[no-redef]
        """A limit on what a trigger may read."""

    class ReadAllAvailable(ReadLimit):  # type: ignore[no-redef]
        """No limit: a trigger reads everything available."""

    class ReadMaxBytes(ReadLimit):  # type: ignore[no-redef]
        """At most this many bytes."""

        def __init__(self, max_bytes: int) -> None:
            self.max_bytes = max_bytes

    class ReadMaxRows(ReadLimit):  # type: ignore[no-redef]
        """At most this many rows."""

        def __init__(self, max_rows: int) -> None:
            self.max_rows = max_rows

    class ReadMinRows(ReadLimit):  # type: ignore[no-redef]
        """At least this many rows."""

        def __init__(self, min_rows: int) -> None:
            self.min_rows = min_rows

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """Marks a stream that can read the available records and then end."""


StreamArrowWriter: Any = getattr(datasource, "DataSourceStreamArrowWriter", None)
"""None before 4.1: a stream then cannot be written as Arrow."""

HAS_PUSHDOWN: Final = hasattr(datasource.DataSourceReader, "pushFilters")
"""Whether Spark passes the filters of a query to a reader."""

arrow_udf: Any = getattr(functions, "arrow_udf", None)
"""None before 4.1."""

__all__ = [
    "HAS_PUSHDOWN",
    "HAS_READ_LIMITS",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxBytes",
    "ReadMaxRows",
    "ReadMinRows",
    "StreamArrowWriter",
    "SupportsTriggerAvailableNow",
    "arrow_udf",
]
