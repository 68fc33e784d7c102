"""The public call of several steps that is being made, so that errors about time can name it."""

from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

OUTER_CALL: Final = ContextVar[str]("aiokafka_lite.admin.outer_call", default="")
"""The name of that call; empty without one."""


def of_several_steps(call: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Let errors about time name this public call, and not the one that is its present step."""

    @wraps(call)
    async def named(*arguments: P.args, **options: P.kwargs) -> T:
        before = OUTER_CALL.set(OUTER_CALL.get() or f"{call.__name__}()")
        try:
            return await call(*arguments, **options)
        finally:
            OUTER_CALL.reset(before)

    return named


__all__ = ["OUTER_CALL", "of_several_steps"]
