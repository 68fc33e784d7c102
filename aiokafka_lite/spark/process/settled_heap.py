"""Takes what a worker process has imported out of the garbage collector's sight.

PySpark's daemon collects all garbage after each task of a worker that it keeps. With PySpark,
pyarrow and the clients imported, that takes 40 ms of CPU, several times the task's own work. When
the first object of ours arrives, PySpark is imported. So its objects are frozen, and neither the
imports of the first task nor the collection behind it looks at them. The process that plans a
stream is not kept, but its imports collect garbage, too. When a second task of a kind arrives, the
first has imported everything, and its garbage was collected a moment ago. What is left stays, so it
is frozen, too. A later collection is over in a millisecond.
"""

import gc
import os
from collections.abc import Mapping
from typing import Final

STARTED_BY_SPARK: Final = (
    "PYTHON_WORKER_FACTORY_PORT",
    "PYTHON_WORKER_FACTORY_SOCK_PATH",
    "PYTHON_WORKER_FACTORY_SECRET",
)
"""Spark sets one or more for each Python process that it starts. A driver has none of them."""
KEPT_WORKER: Final = "SPARK_REUSE_WORKER"
"""Spark sets it for the processes that it keeps for later tasks. Others collect no garbage."""

_arrived: set[str] = set()
_settled: set[str] = set()


def note_arrival(kind: str, environment: Mapping[str, str] = os.environ) -> None:
    """Note that an object of Spark's work has arrived. Freeze the heap at the first one. In a kept
    worker, freeze it again at the second one of a kind.

    Frozen objects are released like others when nothing refers to them. Only their cycles stay.
    """
    is_kept = KEPT_WORKER in environment
    if kind in _settled or not (is_kept or any(name in environment for name in STARTED_BY_SPARK)):
        return
    is_first = not _arrived
    is_second = is_kept and kind in _arrived
    _arrived.add(kind)
    if is_second:
        _settled.add(kind)
    if is_first or is_second:
        gc.freeze()


__all__ = ["KEPT_WORKER", "STARTED_BY_SPARK", "note_arrival"]
