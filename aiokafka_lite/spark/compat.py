"""Owns what differs between the releases of PySpark 4: what one of them lacks has a stand-in here.

| | 4.0 | 4.1 | 4.2 |
|---|---|---|---|
| limits of a trigger, several batches by availableNow | no | no | yes |
| filters pushed to the source, streams written as Arrow | no | yes | yes |
"""

from typing import Any

from pyspark.sql import datasource

try:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxRows,
        ReadMinRows,
        SupportsTriggerAvailableNow,
    )
except ImportError:  # before 4.2, which asks for none of it

    class ReadLimit:  # type: ignore[no-redef]
        """How much a trigger may read."""

    class ReadAllAvailable(ReadLimit):  # type: ignore[no-redef]
        """All there is."""

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

__all__ = [
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxRows",
    "ReadMinRows",
    "StreamArrowWriter",
    "SupportsTriggerAvailableNow",
]
