"""The base of every struct of the protocol: keyword-only constructor, slots, equality, repr.

A class body declares fields as `name: Type = field(...)`. The first use resolves the annotations
and builds the constructor. So a struct may refer to structs further down in its module.
`compiler.py` turns structs into bytes. Does not wait.
"""

import sys
from collections.abc import Callable
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    NoReturn,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.schema.compiled_functions import compiled_function
from aiokafka_lite.schema.field_types import ABSENT, ArrayOf, FieldSpec, Primitive
from aiokafka_lite.schema.source_text import SourceText
from aiokafka_lite.schema.version_range import VersionRange


@dataclass(frozen=True, slots=True, eq=False)
class StructField:
    """One resolved field.

    A list has the `default` None, because each message gets a list of its own.
    """

    name: str
    type: Any
    """A `Primitive`, an `ArrayOf`, or a `Struct` class."""
    versions: VersionRange
    nullable: VersionRange
    tag: int | None
    tagged: VersionRange
    default: Any
    has_list_default: bool
    ignorable: bool
    flexible: VersionRange | None
    needs: str
    doc: str


# There are no field_specifiers: to a type checker every `= field(...)` is then a default, and every
# field has one.
@dataclass_transform(kw_only_default=True)
class StructType(type):
    """Turns field declarations into slots.

    Builds the constructor when the first instance is made.
    """

    _specs: dict[str, FieldSpec]
    _fields: tuple[StructField, ...] | None
    _shared_default: Any

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> "StructType":
        specs = {key: value for key, value in namespace.items() if isinstance(value, FieldSpec)}
        for key in specs:
            del namespace[key]
        namespace.setdefault("__slots__", tuple(specs))
        if specs:
            namespace["__init__"] = _first_init
        cls = super().__new__(mcs, name, bases, namespace, **kwargs)
        cls._specs = specs
        cls._fields = None
        cls._shared_default = None
        return cls


class Struct(metaclass=StructType):
    """A value with declared fields. Mutable, hence not hashable.

    It equals another value of the same class with equal fields.
    """

    _specs: ClassVar[dict[str, FieldSpec]]

    def __eq__(self, other: object) -> bool:
        cls = declared_class(type(self))
        if not isinstance(other, cls):
            return NotImplemented
        names = tuple(cls._specs)
        if not names:
            return True
        values = attrgetter(*names)
        return bool(values(self) == values(other))

    __hash__ = None  # type: ignore[assignment]  # the form in which Python marks a mutable value

    def __repr__(self) -> str:
        shown = []
        for field in fields_of(type(self)):
            value = getattr(self, field.name)
            if _is_default(field, value):
                continue
            shown.append(f"{field.name}={_display(field, value)}")
        return f"{type(self).__name__}({', '.join(shown)})"


def _is_default(field: StructField, value: Any) -> bool:
    if field.has_list_default:
        return value is not None and len(value) == 0
    return bool(value == field.default)


def _display(field: StructField, value: Any) -> str:
    # Payloads and SASL secrets must not reach a log through the repr of a message.
    if (
        isinstance(field.type, Primitive)
        and field.type.name in {"bytes", "records"}
        and value is not None
    ):
        return f"<{len(value)} bytes>"
    return repr(value)


def fields_of(cls: type[Struct]) -> tuple[StructField, ...]:
    """Return the fields of a struct in wire order.

    Raises: TypeError for a declaration that contradicts itself, naming class and field.
    """
    declared = declared_class(cls)
    fields: tuple[StructField, ...] | None = declared._fields
    if fields is None:
        hints = _type_hints(declared)
        fields = declared._fields = tuple(
            _resolve(declared, name, spec, hints[name]) for name, spec in declared._specs.items()
        )
    return fields


def _type_hints(cls: type[Struct]) -> dict[str, Any]:
    """Return what `typing.get_type_hints` returns for a class body, in a sixth of its time.

    Every message passes here at its first use, mostly before a client's first record.
    """
    texts: dict[str, Any] = cls.__annotations__
    if not all(isinstance(text, str) for text in texts.values()):
        return get_type_hints(cls, include_extras=True)
    names = vars(owner_module(cls))
    return {
        # Most annotations are one word, such as `Int32`.
        name: names[text] if text in names else eval(text, names, vars(cls))  # noqa: S307  own text
        for name, text in texts.items()
    }


def shared_default(cls: type[Struct]) -> Any:
    """Return the one read-only instance that is the default of every field of type `cls`.

    Because it is shared, "is this field set?" is an identity test, and decoding makes fewer
    objects. Writing to it raises an error that names the remedy.
    """
    declared = declared_class(cls)
    if declared._shared_default is None:
        read_only: Any = StructType(
            cls.__name__,
            (cls,),
            {
                "__slots__": (),
                "__module__": cls.__module__,
                "__qualname__": cls.__qualname__,
                "__setattr__": _refuse_write,
                "__copy__": lambda self: self,
                "__deepcopy__": lambda self, _memo: self,
            },
        )
        instance: Any = object.__new__(read_only)
        for field in fields_of(cls):
            object.__setattr__(
                instance, field.name, [] if field.has_list_default else field.default
            )
        declared._shared_default = instance
    return declared._shared_default


def _refuse_write(self: Struct, name: str, value: object) -> NoReturn:
    raise AttributeError(
        f"this {type(self).__name__} is the shared default and cannot take {name}={value!r}; "
        f"assign a new {type(self).__name__}({name}=...) to the field that holds it"
    )


def declared_class(cls: Any) -> Any:
    """Return the class whose body declares the fields: `cls`, or the base of a read-only
    default.
    """
    for candidate in cls.__mro__:
        if candidate.__dict__.get("_specs"):
            return candidate
    return cls


def _resolve(cls: type[Struct], name: str, spec: FieldSpec, hint: Any) -> StructField:
    where = f"{cls.__name__}.{name}"
    wire_type, is_optional = _wire_type(where, hint)
    if spec.nullable is not None and not is_optional:
        raise TypeError(f"{where} is nullable in {spec.nullable}, so its annotation needs '| None'")
    nullable = spec.versions if spec.nullable is None else spec.nullable & spec.versions
    default, has_list_default = _default(where, spec, wire_type, is_optional)
    return StructField(
        name=name,
        type=wire_type,
        versions=spec.versions,
        nullable=nullable if is_optional else VersionRange.NONE,
        tag=spec.tag,
        tagged=spec.tagged & spec.versions,
        default=default,
        has_list_default=has_list_default,
        ignorable=spec.ignorable,
        flexible=spec.flexible,
        needs=spec.needs,
        doc=spec.doc,
    )


def _default(where: str, spec: FieldSpec, wire_type: Any, is_optional: bool) -> tuple[Any, bool]:
    if spec.default is None and not is_optional:
        raise TypeError(f"{where} has the default None, so its annotation needs '| None'")
    if spec.default is not ABSENT:
        if spec.default is not None and not isinstance(wire_type, Primitive):
            raise TypeError(f"{where}: the default of a list or struct is None or not given")
        return spec.default, False
    if isinstance(wire_type, ArrayOf):
        return None, True
    if isinstance(wire_type, Primitive):
        return wire_type.zero, False
    return shared_default(wire_type), False


def _wire_type(where: str, hint: Any) -> tuple[Any, bool]:
    """Return the wire type of an annotation, and whether it allows None."""
    origin = get_origin(hint)
    if origin in {Union, UnionType}:
        options = [option for option in get_args(hint) if option is not NoneType]
        if len(options) == 1:
            return _wire_type(where, options[0])[0], True
    if origin is list:
        return ArrayOf(_wire_type(where, get_args(hint)[0])[0]), False
    if origin is Annotated:
        for mark in hint.__metadata__:
            if isinstance(mark, Primitive):
                return mark, False
    if isinstance(hint, type) and issubclass(hint, Struct):
        return hint, False
    raise TypeError(
        f"{where}: {hint!r} is not a wire type; use those of schema.field_types or a Struct"
    )


def _first_init(self: Struct, **values: Any) -> None:
    cls = declared_class(type(self))
    init: Callable[..., None] = compiled_function(cls, f"init_{cls.__name__}") or _build_init(cls)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    cls.__init__ = init
    init(self, **values)


def _build_init(cls: type[Struct]) -> Callable[..., None]:
    source = init_source(cls)
    exec(source.text(), source.constants)  # noqa: S102  the text is made of declared field names only
    init: Callable[..., None] = source.constants["__init__"]
    return init


def init_source(cls: type[Struct], constants: dict[str, Any] | None = None) -> SourceText:
    """Return the text of the constructor, and its constants."""
    source = SourceText(constants)
    source.constants["_LIST"] = ABSENT
    parameters = []
    lines = []
    for field in fields_of(cls):
        if field.has_list_default:
            parameters.append(f"{field.name}=_LIST")
            lines.append(f"self.{field.name} = [] if {field.name} is _LIST else {field.name}")
        else:
            parameters.append(f"{field.name}={source.literal(field.default)}")
            lines.append(f"self.{field.name} = {field.name}")
    with source.block(f"def __init__(self, *, {', '.join(parameters)}):"):
        for line in lines:
            source.add(line)
    return source


def owner_module(cls: type) -> Any:
    """Return the module that declares a class, in which its forward references are looked up."""
    return sys.modules[cls.__module__]


__all__ = [
    "Struct",
    "StructField",
    "StructType",
    "declared_class",
    "fields_of",
    "init_source",
    "owner_module",
    "shared_default",
]
