"""Chooses the `RecordCursor` at import: the pure one, until its native twin is built beside it."""

from aiokafka_lite.record._batch_reader_py import RecordCursor

__all__ = ["RecordCursor"]
