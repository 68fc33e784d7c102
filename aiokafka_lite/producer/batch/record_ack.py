"""Chooses the acks: the native twin if it was built, the pure one otherwise."""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.producer.batch._record_ack")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.producer.batch._record_ack_py import (
        BEHIND_ALL,
        BatchAck,
        BatchOutcome,
        Listener,
        RecordAck,
    )
else:
    BEHIND_ALL = _twin.BEHIND_ALL
    BatchAck = _twin.BatchAck
    BatchOutcome = _twin.BatchOutcome
    Listener = _twin.Listener
    RecordAck = _twin.RecordAck

__all__ = ["BEHIND_ALL", "BatchAck", "BatchOutcome", "Listener", "RecordAck"]
