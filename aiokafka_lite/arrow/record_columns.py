"""Chooses `RecordColumnsBuilder` and `RecordColumns` at import: native if built, else the pure
twins.

The native twin keeps columns in C memory with a count of references. So an export copies nothing
and needs no pyarrow. Any thread may release an array, even after the interpreter has ended.
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
