"""Chooses the ready awaitable: `_ready` if it was built, `_ready_py` otherwise. Never waits.

For a plain `def` on a path that is taken once per record and rarely has to wait: it returns
`ready(value)`, or the coroutine of a slow path. The gain comes with the native twin; the pure one
costs what a coroutine costs. Either is awaited once.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.native import native

_twin = native("aiokafka_lite.concurrency._ready")
USES_C = _twin is not None

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.concurrency._ready_py import ready
else:
    ready = _twin.ready

__all__ = ["USES_C", "ready"]
