"""Chooses the `RecordCursor` at import: the native twin if it was built, else the pure one."""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.record._batch_reader")
USES_C = _twin is not None

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.record._batch_reader_py import RecordCursor
else:
    RecordCursor = _twin.RecordCursor

__all__ = ["USES_C", "RecordCursor"]
