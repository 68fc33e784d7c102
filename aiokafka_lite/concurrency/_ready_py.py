"""The pure twin of the ready awaitable; never waits."""

from collections.abc import Generator
from typing import Generic, TypeVar

T = TypeVar("T")


class ready(Generic[T]):  # noqa: N801  used like a function: `return ready(value)`
    """An awaitable that gives `value` without suspending, as often as it is awaited."""

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def __await__(self) -> Generator[None, None, T]:
        # A generator that never yields is cheaper than an iterator that raises StopIteration.
        return self._value
        yield  # type: ignore[unreachable]  # what makes this function a generator


__all__ = ["ready"]
