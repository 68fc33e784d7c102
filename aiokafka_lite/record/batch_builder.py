"""Chooses the `RecordBatchBuilder`, and what makes its buffers, at import: the native twin if it
was built, else the pure one.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.record._batch_builder")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.record._batch_builder_py import (
        RecordBatchBuilder,
        new_buffer,
        record_upper_bound,
    )
else:
    RecordBatchBuilder = _twin.RecordBatchBuilder
    new_buffer = _twin.new_buffer
    record_upper_bound = _twin.record_upper_bound

__all__ = ["RecordBatchBuilder", "new_buffer", "record_upper_bound"]
