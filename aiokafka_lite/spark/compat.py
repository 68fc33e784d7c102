"""Owns what differs between the releases of PySpark 4: what one of them lacks has a stand-in here.

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
    """Whether a stream is asked for the next offsets with its position and a limit."""
except ImportError:  # before 4.2, which asks for none of it
    HAS_READ_LIMITS = False

    class ReadLimit:  # type: ignore[no-redef]
        """How much a trigger may read."""

    class ReadAllAvailable(ReadLimit):  # type: ignore[no-redef]
        """All there is."""

    class ReadMaxBytes(ReadLimit):  # type: ignore[no-redef]
        """So many bytes at most."""

        def __init__(self, max_bytes: int) -> None:
            self.max_bytes = max_bytes

    class ReadMaxRows(ReadLimit):  # type: ignore[no-redef]
        """So many rows at most."""

        def __init__(self, max_rows: int) -> None:
            self.max_rows = max_rows

    class ReadMinRows(ReadLimit):  # type: ignore[no-redef]
        """So many rows at least."""

        def __init__(self, min_rows: int) -> None:
            self.min_rows = min_rows

    class SupportsTriggerAvailableNow:  # type: ignore[no-redef]
        """The mark of a stream that can be told to read what there is, and end."""


StreamArrowWriter: Any = getattr(datasource, "DataSourceStreamArrowWriter", None)
"""None before 4.1: a stream is then not written as Arrow."""

HAS_PUSHDOWN: Final = hasattr(datasource.DataSourceReader, "pushFilters")
"""Whether a reader is told the filters of a query."""

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
