"""Chooses at import what hands out records one by one: the native leaf, else its twin in Python.

A step of `async for` bypasses `getone`, because a coroutine costs more than reading a record. It
does so only while `getone` is our own method, so a `getone` that a user replaces sees every record.
`_own_getone` is the method to compare with. The native twin compares again only after CPython's
version number of the class or of the instance has changed. It also puts its C function into the
`__anext__` slot of the consumer's class. Without that, the interpreter would look up the method by
name at each step. The comparison and the look-up together were an eighth of the instructions of a
record.

`getone` is an `async def` in both twins, unlike `send`. If it took its record at the call, a task
that is cancelled before it runs would lose the record.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.consumer.fetch._decoded_records")
USES_C = _twin is not None

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.consumer.fetch._decoded_records_py import (
        DecodedRecords,
        FetchPlace,
        RecordIteration,
    )
else:
    DecodedRecords = _twin.DecodedRecords
    FetchPlace = _twin.FetchPlace
    RecordIteration = _twin.RecordIteration

__all__ = ["USES_C", "DecodedRecords", "FetchPlace", "RecordIteration"]
