"""The public call of several steps that is being made, so that errors about time can name it."""

from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from aiokafka_lite.errors import IllegalStateError, KafkaConnectionError

P = ParamSpec("P")
T = TypeVar("T")

OUTER_CALL: Final = ContextVar[str]("aiokafka_lite.admin.outer_call", default="")
"""The name of that call; empty without one."""


def of_several_steps(
    call: Callable[Concatenate[Any, P], Awaitable[T]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Let errors about time name this public call, and not the one that is its present step. If the
    client is closed between two steps, the call fails as one that waits does.
    """

    @wraps(call)
    async def named(admin: Any, /, *arguments: P.args, **options: P.kwargs) -> T:
        admin._running()
        before = OUTER_CALL.set(OUTER_CALL.get() or f"{call.__name__}()")
        try:
            return await call(admin, *arguments, **options)
        except IllegalStateError as error:
            if _takes_calls(admin):
                raise
            raise KafkaConnectionError("the client is closed") from error
        finally:
            OUTER_CALL.reset(before)

    return named


def _takes_calls(admin: Any) -> bool:
    try:
        admin._running()
    except IllegalStateError:
        return False
    return True


__all__ = ["OUTER_CALL", "of_several_steps"]
