"""A ready awaitable: the pure twin. A coroutine would do, but it warns when it is dropped."""

from typing import Any, Generic, NoReturn, Self, TypeVar

_T = TypeVar("_T")
_TAKEN: Any = object()


class Ready(Generic[_T]):
    """A coroutine that gives its value without suspending. It can be awaited once."""

    __slots__ = ("_value",)

    def __init__(self, value: _T) -> None:
        self._value = value

    def __await__(self) -> Self:
        return self

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> NoReturn:
        self.send(None)

    def send(self, _value: object, /) -> NoReturn:
        """Return the value, as a coroutine returns one."""
        value, self._value = self._value, _TAKEN
        if value is _TAKEN:
            raise RuntimeError("cannot reuse an awaitable that was awaited")
        raise StopIteration(value)

    def throw(self, kind: Any, value: Any = None, traceback: Any = None, /) -> NoReturn:
        """Raise an exception where it waits."""
        self.close()
        error = kind if isinstance(kind, BaseException) else value
        if not isinstance(error, BaseException):
            error = kind() if value is None else kind(value)
        raise error if traceback is None else error.with_traceback(traceback)

    def close(self) -> None:
        """Forget the value."""
        self._value = _TAKEN


def ready(value: _T, /) -> Ready[_T]:
    """Return an awaitable that gives `value` without suspending. It can be awaited once."""
    return Ready(value)


__all__ = ["Ready", "ready"]
