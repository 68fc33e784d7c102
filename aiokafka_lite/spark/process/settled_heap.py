"""Takes what a worker process has imported out of the garbage collector's sight.

PySpark's daemon collects all garbage after each task of a worker that it keeps. With PySpark,
pyarrow and the clients imported, that takes 40 ms of CPU, several times the task's own work. When
the first object of ours arrives, PySpark is imported. So its objects are frozen, and neither the
imports of the first task nor the collection behind it looks at them. When a second task of a kind
arrives, the first has imported everything, and its garbage was collected a moment ago. What is left
stays, so it is frozen, too. A later collection is over in a millisecond.
"""

import gc
import os
from collections.abc import Mapping
from typing import Final

KEPT_WORKER: Final = "SPARK_REUSE_WORKER"
"""Spark sets it for the processes that it keeps for later tasks. Others collect no garbage."""

_arrived: set[str] = set()
_settled: set[str] = set()


def note_arrival(kind: str, environment: Mapping[str, str] = os.environ) -> None:
    """Note that an object of Spark's work has arrived. Freeze the heap at the first one, and at the
    second of a kind.

    Frozen objects are released like others when nothing refers to them. Only their cycles stay.
    """
    if KEPT_WORKER not in environment or kind in _settled:
        return
    if kind in _arrived:
        _settled.add(kind)
    if kind in _arrived or not _arrived:
        gc.freeze()
    _arrived.add(kind)


__all__ = ["KEPT_WORKER", "note_arrival"]
