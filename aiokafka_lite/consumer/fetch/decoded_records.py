"""Chooses at import what hands out records one by one: the native leaf, else its twin in Python."""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.consumer.fetch._decoded_records")
USES_C = _twin is not None

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.consumer.fetch._decoded_records_py import DecodedRecords, RecordIteration
else:
    DecodedRecords = _twin.DecodedRecords
    RecordIteration = _twin.RecordIteration

__all__ = ["USES_C", "DecodedRecords", "RecordIteration"]
