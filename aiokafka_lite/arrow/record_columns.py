"""Chooses `RecordColumnsBuilder` and `RecordColumns` at import: native if built, else the pure
twins.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.arrow._record_columns")
if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.arrow._record_columns_py import RecordColumns, RecordColumnsBuilder
else:
    RecordColumns = _twin.RecordColumns
    RecordColumnsBuilder = _twin.RecordColumnsBuilder

USES_NATIVE_COLUMNS = _twin is not None
"""False: pyarrow makes the columns."""

__all__ = ["USES_NATIVE_COLUMNS", "RecordColumns", "RecordColumnsBuilder"]
