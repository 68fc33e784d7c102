"""Chooses the `RecordBatchBuilder` at import: the pure one, until it has a native twin."""

from aiokafka_lite.record._batch_builder_py import RecordBatchBuilder, record_upper_bound

__all__ = ["RecordBatchBuilder", "record_upper_bound"]
