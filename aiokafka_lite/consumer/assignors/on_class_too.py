"""Lets the methods of an assignor be called on its class, as those of aiokafka. Does not wait.

aiokafka's assignors have class methods. So a class derived from one says `super().assign(...)` in a
class method of its own, and tests call `RangePartitionAssignor.assign(...)`.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def on_class_too(function: FunctionT) -> FunctionT:
    """Return the method in a form that a call on the class also finds.

    Such a call gets an instance of its own, made without arguments. It remembers nothing.
    """
    return cast("FunctionT", _OnClassToo(function))


class _OnClassToo(Generic[FunctionT]):
    def __init__(self, function: FunctionT) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance: object | None, owner: type) -> Callable[..., Any]:
        bound = self._function.__get__(owner() if instance is None else instance, owner)
        return cast("Callable[..., Any]", bound)


__all__ = ["on_class_too"]
