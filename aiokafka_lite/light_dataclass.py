"""Makes dataclasses with slots in a fifth of the time that `dataclasses.dataclass` takes.

The standard decorator writes source text for six methods of a class and compiles it. That was a
third of the CPU time to import the clients. Here the methods are closures over the fields. Only
the constructor is compiled, and only once `_COMPILED_FROM` instances were made.

The classes have slots always, and `fields`, `replace`, `asdict`, pattern matching, `copy` and
`pickle` know them. Type checkers see the standard decorator. Does not wait.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import MISSING, Field, FrozenInstanceError, field, make_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from aiokafka_lite.checks.quoted import field_text

_T = TypeVar("_T")
_Fields = dict[str, Field[Any]]

_COMPILED_FROM = 20
"""A constructor that is called this often is compiled: many classes have one or two instances."""
_store = object.__setattr__


def _light_dataclass(
    *,
    slots: bool,
    init: bool = True,
    repr: bool = True,  # noqa: A002 - the standard decorator's name
    eq: bool = True,
    frozen: bool = False,
    kw_only: bool = False,
) -> Callable[[type[_T]], type[_T]]:
    """Return a decorator that turns a class into a dataclass with slots.

    Raises: TypeError without slots.
    """
    if not slots:
        raise TypeError("slots=False: these classes have slots; take dataclasses.dataclass instead")

    def decorate(cls: type[_T]) -> type[_T]:
        own, body = _declared(cls, kw_only=kw_only)
        table = {**_inherited(cls), **own}
        body["__light_fields__"] = table
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            body[name] = _FromStandard(name, frozen=frozen)
        in_init = [each for each in table.values() if each.init]
        positional = tuple(each.name for each in in_init if not each.kw_only)
        body.setdefault("__match_args__", positional)
        if init and "__init__" not in body:
            body["__init__"] = _generic_init(table, positional)
        if repr and "__repr__" not in body:
            body["__repr__"] = _repr(tuple(each.name for each in table.values() if each.repr))
        if eq:
            _add_equality(body, table, frozen=frozen)
        if frozen:
            body.update(_FROZEN)
        metaclass: Any = type(cls)
        made: type[_T] = metaclass(cls.__name__, cls.__bases__, body)
        made.__qualname__ = cls.__qualname__
        return made

    return decorate


def _declared(cls: type, *, kw_only: bool) -> tuple[_Fields, dict[str, Any]]:
    """Return the fields of a class body, and what else belongs into the class."""
    body = {
        name: value
        for name, value in vars(cls).items()
        if name not in ("__dict__", "__weakref__", "__qualname__")
    }
    found: _Fields = {}
    for name, annotation in cls.__annotations__.items():
        if _is_class_variable(annotation):
            continue
        declared = body.pop(name, MISSING)
        each: Any = declared if isinstance(declared, Field) else field(default=declared)
        each.name = name
        each.type = annotation
        if each.kw_only is MISSING:
            each.kw_only = kw_only
        found[name] = each
    inherited = _inherited(cls)
    body["__slots__"] = tuple(name for name in found if name not in inherited)
    return found, body


def _is_class_variable(annotation: object) -> bool:
    text = annotation if isinstance(annotation, str) else repr(annotation)
    return text.startswith(("ClassVar", "typing.ClassVar"))


def _inherited(cls: type) -> _Fields:
    table: _Fields = {}
    for base in reversed(cls.__mro__[1:]):
        table.update(vars(base).get("__light_fields__", {}))
    return table


def _generic_init(table: _Fields, positional: tuple[str, ...]) -> Callable[..., None]:
    """Return a constructor that reads the fields, and that a compiled one replaces in the end."""
    accepted = frozenset(name for name, each in table.items() if each.init)
    defaults = {name: each.default for name, each in table.items() if each.default is not MISSING}
    made = 0

    def constructor(self: Any, /, *values: object, **named: Any) -> None:
        nonlocal made
        made += 1
        if made == _COMPILED_FROM:
            _replace_init(type(self), constructor, table)
        if values:
            _name_values(self, values, positional, named)
        if not named.keys() <= accepted:
            strange = min(named.keys() - accepted)
            raise TypeError(_refusal(self, f"got an unexpected keyword argument {strange!r}"))
        known = {**defaults, **named}
        for name in table:
            value = known[name] if name in known else _default(self, table[name])
            _store(self, name, value)
        after = getattr(self, "__post_init__", None)
        if after is not None:
            after()

    return constructor


def _name_values(
    made: object, values: tuple[object, ...], positional: tuple[str, ...], named: dict[str, Any]
) -> None:
    if len(values) > len(positional):
        most, given = len(positional), len(values)
        raise TypeError(_refusal(made, f"takes {most} positional arguments, {given} were given"))
    for name, value in zip(positional, values, strict=False):
        if name in named:
            raise TypeError(_refusal(made, f"got multiple values for argument {name!r}"))
        named[name] = value


def _default(made: object, each: Field[Any]) -> object:
    if each.default_factory is not MISSING:
        return each.default_factory()
    raise TypeError(_refusal(made, f"missing argument {each.name!r}"))


def _refusal(made: object, what: str) -> str:
    return f"{type(made).__name__}() {what}"


def _replace_init(cls: type, generic: Callable[..., None], table: _Fields) -> None:
    """Put a compiled constructor in the place of the generic one."""
    owner: Any = next(each for each in cls.__mro__ if vars(each).get("__init__") is generic)
    known: dict[str, Any] = {"_store": _store, "_MISSING": MISSING}
    positional, named, lines = ["self"], ["*"], []
    statement = "_store(self, {0!r}, {1})" if _is_frozen(owner) else "self.{0} = {1}"
    for name, each in table.items():
        parameter, source = _in_source(each, known)
        if each.init:
            (named if each.kw_only else positional).append(parameter)
        lines.append(statement.format(name, source))
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(positional + (named if len(named) > 1 else []))
    body = "\n    ".join(lines)
    exec(f"def __init__({parameters}):\n    {body}", known)  # noqa: S102 - of names of fields
    compiled = known["__init__"]
    compiled.__qualname__ = f"{owner.__qualname__}.__init__"
    owner.__init__ = compiled


def _is_frozen(owner: type) -> bool:
    return vars(owner).get("__setattr__") is _refuse_assignment


def _in_source(each: Field[Any], known: dict[str, Any]) -> tuple[str, str]:
    """Return the parameter of a field and the expression of its value; `known` gets the names."""
    name = each.name
    if each.default is not MISSING:
        known[f"_default_{name}"] = each.default
        return f"{name}=_default_{name}", name if each.init else f"_default_{name}"
    if each.default_factory is not MISSING:
        known[f"_factory_{name}"] = each.default_factory
        made = f"_factory_{name}()"
        given = f"{made} if {name} is _MISSING else {name}"
        return f"{name}=_MISSING", given if each.init else made
    return name, name


def _repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    def shown(self: Any) -> str:
        values = ", ".join(f"{name}={field_text(getattr(self, name))}" for name in names)
        return f"{type(self).__qualname__}({values})"

    return shown


def _add_equality(body: dict[str, Any], table: _Fields, *, frozen: bool) -> None:
    compared = [each.name for each in table.values() if each.compare]
    values: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _: ()

    def is_equal(self: Any, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return values(self) == values(other)

    def hash_of(self: Any) -> int:
        return hash(values(self))

    body.setdefault("__eq__", is_equal)
    if body.get("__hash__") is None:
        body["__hash__"] = hash_of if frozen else None


def _refuse_assignment(_: object, name: str, __: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(made: Any) -> list[object]:
    return [getattr(made, name) for name in made.__light_fields__]


def _restore(made: Any, state: list[object]) -> None:
    for name, value in zip(made.__light_fields__, state, strict=True):
        object.__setattr__(made, name, value)


_FROZEN: Mapping[str, object] = {
    "__setattr__": _refuse_assignment,
    "__delattr__": _refuse_deletion,
    "__getstate__": _state,
    "__setstate__": _restore,
}
"""What a frozen class has: nobody assigns, and `copy` and `pickle` fill it all the same."""


class _FromStandard:
    """An attribute of dataclasses, made when `fields`, `replace` or a subclass asks for it."""

    def __init__(self, name: str, *, frozen: bool) -> None:
        self._name = name
        self._frozen = frozen

    def __get__(self, made: object, owner: Any) -> object:
        table: _Fields = owner.__light_fields__
        specs = [(name, each.type, copy(each)) for name, each in table.items()]
        documented = {"__doc__": owner.__doc__ or owner.__name__}  # or its signature is made
        standard = make_dataclass(
            owner.__name__,
            specs,
            namespace=documented,
            init=False,
            repr=False,
            eq=False,
            frozen=self._frozen,
        )
        found = vars(standard)[self._name]
        type.__setattr__(owner, self._name, found)
        return found


def fields_by_name(cls: type) -> Mapping[str, Field[Any]]:
    """Return the fields of a dataclass of either kind, or of a class below one; bases first."""
    for owner in cls.__mro__:
        own = vars(owner)
        found: _Fields | None = own.get("__light_fields__") or own.get("__dataclass_fields__")
        if found is not None:
            return found
    raise TypeError(f"{cls.__name__} is no dataclass")


def _replace(value: Any, /, **changes: object) -> Any:
    """Return a copy with other values in some fields, as `dataclasses.replace` does."""
    for name, each in type(value).__light_fields__.items():
        if each.init:
            changes.setdefault(name, getattr(value, name))
    return type(value)(**changes)


if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:
    dataclass = _light_dataclass
    replace = _replace

__all__ = ["dataclass", "fields_by_name", "replace"]
