"""Attributes of aiokafka's inside that health checks, metrics and frameworks read on our clients.

They cost nothing until a program reads or sets one. `compat.views` then answers. It stands on a
floor above the clients, so it is found by its name. Does not wait.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

KindT = TypeVar("KindT", bound=type)

_VIEWS = "aiokafka_lite.compat.views"


class PrivateRead:
    """One of these attributes. A program may set it, too: it then has what was set."""

    def __init__(self, kind: str, name: str) -> None:
        """`kind` says which row of `compat.views` answers."""
        self._kind = kind
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Return what aiokafka would. Raises: AttributeError if there is nothing like it."""
        if instance is None:
            return self
        return import_module(_VIEWS).read(self._kind, self._name, instance)

    def __set__(self, instance: object, value: object) -> None:
        import_module(_VIEWS).write(self._name, instance, value)


def with_private_reads(kind: str, names: str) -> Callable[[KindT], KindT]:
    """Return a decorator of classes that gives a class these attributes; `names` has spaces."""

    def give(owner: KindT) -> KindT:
        for name in names.split():
            setattr(owner, name, PrivateRead(kind, name))
        return owner

    return give


__all__ = ["PrivateRead", "with_private_reads"]
