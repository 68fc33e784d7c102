"""Chooses at import what hands out records one by one: the native leaf, else its twin in Python.

A step of `async for` bypasses `getone`, because a coroutine per record costs more than to read it.
It does so only while `getone` is our own method, so a `getone` that a user replaces sees every
record. `own_getone` is the method to compare with. The native twin compares again only when
CPython's version numbers of class and instance have changed. Its C function fills the slot of the
consumer's class, since a class made in Python calls a method in C by name. Both together were an
eighth of the instructions of a record.

`getone` is an `async def` in both twins, unlike `send`. A task may be cancelled before it runs. A
record that a ready awaitable had taken would then be lost.
"""

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
