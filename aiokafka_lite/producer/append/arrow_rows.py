"""Chooses who reads Arrow data to send: `_arrow_rows` if it was built, `_arrow_rows_py` otherwise.

Never waits.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.producer.append._arrow_rows")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.producer.append._arrow_rows_py import ArrowRows, arrow_batches
else:
    ArrowRows = _twin.ArrowRows
    arrow_batches = _twin.arrow_batches

__all__ = ["ArrowRows", "arrow_batches"]
