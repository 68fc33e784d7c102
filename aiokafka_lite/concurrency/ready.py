"""Chooses the ready awaitable: `_ready_c` if it was built, `_ready_py` otherwise. Never waits.

For functions called once per record that rarely have to wait: a plain `def` which returns
`ready(value)` is cheaper than a coroutine. AIOKAFKA_LITE_PURE=1 forces the pure twin.
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
