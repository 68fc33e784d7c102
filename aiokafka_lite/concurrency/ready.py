"""Chooses the ready awaitable: `_ready_c` if it was built, `_ready_py` otherwise. Never waits.

For a plain `def` on a path that is taken once per record and rarely has to wait: it returns
`ready(value)`, or the coroutine of a slow path. The gain comes with the native twin; the pure one
costs what a coroutine costs. Either is awaited once. AIOKAFKA_LITE_PURE=1 forces the pure twin.
"""

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING


def _native() -> ModuleType | None:
    if os.environ.get("AIOKAFKA_LITE_PURE") == "1":
        return None
    try:
        return importlib.import_module("aiokafka_lite.concurrency._ready_c")
    except ImportError:
        return None


_twin = _native()
USES_C = _twin is not None

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.concurrency._ready_py import ready
else:
    ready = _twin.ready

__all__ = ["USES_C", "ready"]
