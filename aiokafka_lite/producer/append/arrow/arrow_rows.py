"""Chooses the reader of Arrow data to send: `_arrow_rows` if it was built, else `_arrow_rows_py`.

Does not wait.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.producer.append.arrow._arrow_rows")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.producer.append.arrow._arrow_rows_py import ArrowRows, arrow_batches
else:
    ArrowRows = _twin.ArrowRows
    arrow_batches = _twin.arrow_batches

__all__ = ["ArrowRows", "arrow_batches"]
