"""Reads the records of a batch as a broker does before it stores them: whole, but without decoding.

Chooses the native twin if it was built, else the pure one. Does not wait.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.record._record_check")
USES_C = _twin is not None

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.record._record_check_py import check_records
else:
    check_records = _twin.check_records

__all__ = ["USES_C", "check_records"]
