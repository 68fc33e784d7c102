"""Chooses the acks: the native twin if it was built, the pure one otherwise.

A future per record would cost more than all the rest of `send`. So an ack is (batch, index), and a
future is made per waiter.

In an `await ack` the native twin plays the future to the task. One callback of the event loop
resumes all tasks that wait for one batch, each in its context. A callback per task would be a
seventh of the cost of a task that awaits its ack. What `send_and_wait` returns is the coroutine of
the task and its future in one object. A record of a task costs 49.1 thousand instructions. A task
that awaits a future in an `async def`, and sends nothing, costs 54.7 (callgrind, 28 November 2026).

The native ack has 56 bytes, and the garbage collector does not track it. It refers only to its
batch, which drops its listeners with the outcome. A batch may never get an outcome, when a loop is
dropped with an open producer. A callback added to such an ack is never collected.
"""

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
