"""Makes named tuples in a fifth of the time that `typing.NamedTuple` takes.

The standard base compiles a constructor for each class. The import of both clients makes thirty of
them, and a client has few instances of most. Here the constructor is a closure. It is compiled once
it has made `_COMPILED_FROM` instances, and when a mistake or a signature is to be told.

The classes have all that named tuples have: `_fields`, `_replace`, `_asdict`, `_make`, patterns,
`copy` and `pickle`. Type checkers see the standard base. Does not wait.
"""

import sys
from collections import _tuplegetter  # type: ignore[attr-defined]  # its namedtuple takes it, too
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from aiokafka_lite.checks.quoted import field_text

_COMPILED_FROM: Final = 20
"""A constructor that is called this often is compiled, as that of a `light_dataclass`."""
_new_tuple: Final = tuple.__new__
_UnexpectedFieldError: Final = TypeError if sys.version_info >= (3, 13) else ValueError
"""What `_replace` of a standard named tuple raises, by version of Python."""


class _Maker(type):
    """Turns a class body into a class of tuples, which is not an instance of this metaclass."""

    def __new__(mcs, name: str, _: tuple[type, ...], body: dict[str, Any]) -> Any:
        fields = tuple(_annotations(body))
        defaults = {each: body[each] for each in fields if each in body}
        for at, each in enumerate(fields):
            body[each] = _tuplegetter(at, f"Alias for field number {at}")
        body.setdefault("__slots__", ())
        body.update(_METHODS, _fields=fields, _field_defaults=defaults, __match_args__=fields)
        body.setdefault("__repr__", _repr)
        made = type(name, (tuple,), body)
        made.__new__ = _generic_new(made, fields, defaults)  # type: ignore[method-assign]
        return made


def _annotations(body: dict[str, Any]) -> Iterable[str]:
    if sys.version_info >= (3, 14):
        import annotationlib  # noqa: PLC0415 - these Pythons evaluate annotations on demand

        annotate = annotationlib.get_annotate_from_class_namespace(body)
        if annotate is not None:
            return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
    found: Iterable[str] = body.get("__annotations__", ())
    return found


def _generic_new(
    owner: Any, fields: tuple[str, ...], defaults: dict[str, object]
) -> Callable[..., Any]:
    """Return a constructor that knows the fields, and that a compiled one replaces in the end."""
    count = len(fields)
    made = 0

    def __new__(_cls: Any, *values: object, **named: object) -> Any:  # noqa: N807
        nonlocal made
        made += 1
        if made == _COMPILED_FROM:
            _compile_new(owner)
        if len(values) != count or named:
            given = {**dict(zip(fields, values, strict=False)), **named}
            found = {**defaults, **given}
            if len(given) < len(values) + len(named) or found.keys() != frozenset(fields):
                return _compile_new(owner)(_cls, *values, **named)  # it names the mistake
            values = tuple([found[each] for each in fields])
        return _new_tuple(_cls, values)

    return __new__


def _compile_new(owner: Any) -> Callable[..., Any]:
    """Give a class the constructor that `collections.namedtuple` would have given it."""
    arguments = "".join(f"{each}, " for each in owner._fields)
    source = f"lambda _cls, {arguments}: _new_tuple(_cls, ({arguments}))"
    compiled = eval(source, {"_new_tuple": _new_tuple})  # noqa: S307 - of names of fields
    compiled.__name__ = "__new__"
    compiled.__qualname__ = f"{owner.__qualname__}.__new__"
    compiled.__defaults__ = tuple(owner._field_defaults.values())
    compiled.__annotations__ = dict(owner.__annotations__)
    owner.__new__ = compiled
    found: Callable[..., Any] = compiled
    return found


class _Signature:
    """The signature of the constructor, for those who ask."""

    def __get__(self, _: object, owner: Any) -> object:
        if "_fields" not in vars(owner):
            raise AttributeError("__signature__")  # a subclass has a constructor of its own
        import inspect  # noqa: PLC0415 - it is rarely asked for

        whole = inspect.signature(_compile_new(owner))
        return whole.replace(parameters=list(whole.parameters.values())[1:])


def _make(cls: Any, values: Iterable[object]) -> Any:
    made = _new_tuple(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **changes: object) -> Any:
    made = self._make(map(changes.pop, self._fields, self))
    if changes:
        raise _UnexpectedFieldError(f"Got unexpected field names: {list(changes)!r}")
    return made


def _repr(self: Any) -> str:
    fields = zip(self._fields, self, strict=True)
    shown = ", ".join(f"{name}={field_text(value)}" for name, value in fields)
    return f"{type(self).__name__}({shown})"


def _as_dict(self: Any) -> dict[str, object]:
    return dict(zip(self._fields, self, strict=True))


def _new_arguments(self: Any) -> tuple[object, ...]:
    return tuple(self)


_METHODS: Final = {
    "_make": classmethod(_make),
    "_replace": _replace,
    "__replace__": _replace,
    "_asdict": _as_dict,
    "__getnewargs__": _new_arguments,
    "__signature__": _Signature(),
}

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
