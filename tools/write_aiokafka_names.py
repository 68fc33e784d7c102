"""Writes the names of aiokafka's modules that `compat` shows: `make aiokafka-names`.

Source: the wheel of aiokafka 0.14.0 that is installed for the tests. The names, kinds and schemas
are read from its modules. Nothing of its code is taken over.
"""

import enum
import importlib
import importlib.metadata
import inspect
import logging
import pkgutil
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from aiokafka_lite.compat.module_names import API_VERSION, STANDS_FOR, offers

ROOT: Final = Path(__file__).parents[1]
FILE: Final = "aiokafka_lite/compat/inside_names.py"
PACKAGE: Final = "aiokafka_lite"
WIDTH: Final = 100

_HEAD: Final = '''"""The names in the modules of aiokafka {version}, and their kinds. Does not wait.

Made by `make aiokafka-names` from the wheel of aiokafka {version}. `inside` reads it.
A section begins with the path of a module. It has the names that no other file stands for. A line
is a name, its kind, and what the kind needs. A line with `<` has names that come from another
module, and one with `*` has modules. An indented line continues the one before it.
"""

from typing import Final

NAMES: Final = """\\
'''
_TAIL: Final = '''"""

__all__ = ["NAMES"]
'''
_TYPES: Final = {
    "Int8": "i8",
    "Int16": "i16",
    "Int32": "i32",
    "UInt32": "u32",
    "Int64": "i64",
    "Float64": "f64",
    "Boolean": "bool",
    "Bytes": "bytes",
    "String": "str",
    "CompactString": "cstr",
    "CompactBytes": "cbytes",
    "TaggedFields": "tags",
}
_PLAIN: Final = (int, str, bytes, float, type(None), tuple, dict)
_OF_EACH_REQUEST = {"API_KEY", "API_VERSION", "ALLOW_UNKNOWN_API_VERSION", "FLEXIBLE_VERSION"}


def text() -> str:
    """Return the text of the file."""
    if importlib.metadata.version("aiokafka") != API_VERSION:
        raise SystemExit(f"install aiokafka {API_VERSION} first")
    lines = [line for path in paths() for line in section(path)]
    return _HEAD.format(version=API_VERSION) + "\n".join(lines) + "\n" + _TAIL


def paths() -> list[str]:
    """Return the paths of the modules below `aiokafka`, "" for the top."""
    top = importlib.import_module("aiokafka")
    found = pkgutil.walk_packages(top.__path__, "aiokafka.")
    return ["", *sorted(each.name.removeprefix("aiokafka.") for each in found)]


def section(path: str) -> Iterator[str]:
    """Yield the lines of one module."""
    module = importlib.import_module(f"aiokafka.{path}".rstrip("."))
    offered: set[str] = set()
    for stands in STANDS_FOR.get(path, ()):
        if stands == "compat.views":
            continue  # which gets its other members from this table
        ours = importlib.import_module(f"{PACKAGE}.{stands}".rstrip("."))
        offered |= {name for name in vars(module) if offers(ours, name)}
    moved: dict[str, list[str]] = {}
    lines: list[str] = []
    schemas: dict[str, str] = {}
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") or name in offered:
            continue
        if isinstance(value, types.ModuleType) and value.__name__ == f"{module.__name__}.{name}":
            continue  # a module below this one
        head, *rest = described(module, name, value).split(" ")
        if head == "from" and rest[0].partition(":")[2] == name:
            moved.setdefault(f"< {rest[0].partition(':')[0]}", []).append(name)
        elif head == "module" and rest == [name]:
            moved.setdefault("*", []).append(name)
        else:
            if head in ("request", "response"):
                schema = rest[-1]
                rest[-1] = schemas.get(schema, schema)
                schemas.setdefault(schema, f"={name}")
            lines += wrapped([name, head, *filter(None, rest)])
    yield f"[{path}]"
    for home, names in sorted(moved.items()):
        yield from wrapped([*home.split(" "), *names])
    yield from lines


def wrapped(words: list[str]) -> Iterator[str]:
    """Yield the line of these words, with its continuations."""
    line = words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > WIDTH - 1 and line.strip():
            yield line
            line = " " + word
        else:
            line += " " + word
    yield line


def described(module: types.ModuleType, name: str, value: Any) -> str:
    """Return the kind of a value, and what is needed to make it."""
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, logging.Logger):
        return f"log {value.name}"
    if isinstance(value, TypeVar):
        return "typevar"
    if isinstance(value, types.UnionType):
        return "union " + " ".join(each.__name__ for each in value.__args__)
    if name == "annotations":
        return "from __future__:annotations"
    home = getattr(value, "__module__", None)
    is_alias = inspect.isclass(value) and (home != module.__name__ or value.__name__ != name)
    if home == "typing" or is_alias:
        return f"from {home}:{getattr(value, '__qualname__', None) or value._name}"
    if inspect.isroutine(value) and home and home != module.__name__:
        return f"from {home}:{value.__name__}"
    if inspect.isclass(value):
        return described_class(value)
    if inspect.isroutine(value):
        return "async" if inspect.iscoroutinefunction(value) else "function"
    if isinstance(value, _PLAIN) and not _has_objects(value):
        return f"value {value!r}"
    raise SystemExit(f"{module.__name__}.{name} is of a kind that this program does not know")


def _has_objects(value: Any) -> bool:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, tuple | list):
        return any(map(_has_objects, value))
    return not isinstance(value, _PLAIN)


def described_class(kind: Any) -> str:
    """Return the kind of a class, its bases, and what is needed to make it."""
    api = importlib.import_module("aiokafka.protocol.api")
    struct = importlib.import_module("aiokafka.protocol.struct").Struct
    if issubclass(kind, enum.Enum):
        members = " ".join(f"{each.name}={each.value!r}" for each in kind)
        return f"enum {kind.__bases__[-1].__name__} {members}"
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return f"tuple {' '.join(kind._fields)}"
    if issubclass(kind, api.RequestStruct) and kind is not api.RequestStruct:
        flexible = "+" if kind.FLEXIBLE_VERSION else ""
        head = f"{kind.API_KEY} {kind.API_VERSION}{flexible} {kind.RESPONSE_TYPE.__name__}"
        return " ".join((f"request {head}", *constants(kind), schema_text(kind.SCHEMA)))
    if issubclass(kind, api.Response) and kind is not api.Response:
        return f"response {kind.API_KEY} {kind.API_VERSION} {schema_text(kind.SCHEMA)}"
    if issubclass(kind, api.Request) and kind is not api.Request:
        parameters = [*inspect.signature(kind).parameters.values()]
        told = [
            each.name if each.default is each.empty else f"{each.name}={each.default!r}"
            for each in parameters
        ]
        versions = ",".join(each.__name__ for each in kind._CLASSES)
        unknown = "?" if kind.ALLOW_UNKNOWN_API_VERSION else ""
        return " ".join((f"builder {kind.API_KEY}{unknown} {versions}", *told, *constants(kind)))
    if issubclass(kind, struct) and kind is not struct and "SCHEMA" in vars(kind):
        return f"struct {schema_text(kind.SCHEMA)}"
    return described_shell(kind)


def constants(kind: Any) -> list[str]:
    """Return the constants of a request which programs read, as words."""
    return [
        f"@{name}={value!r}".replace(" ", "")
        for name, value in vars(kind).items()
        if name.isupper() and name[0] != "_" and name not in _OF_EACH_REQUEST
        if isinstance(value, _PLAIN) and not _has_objects(value)
    ]


def described_shell(kind: Any) -> str:
    """Return the bases and members of a class that nothing stands for."""
    bases = [f"{each.__module__}:{each.__qualname__}" for each in kind.__bases__]
    members = []
    for name, value in vars(kind).items():
        if (name.startswith("__") and name.endswith("__")) or name.startswith("_abc_"):
            continue
        if name in ("_is_protocol", "_is_runtime_protocol"):
            continue
        plain = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        if isinstance(value, int | str | bytes | tuple) and not _has_objects(value):
            plain_value = int(value) if isinstance(value, enum.IntEnum) else value
            members.append(f"{name}={plain_value!r}".replace(" ", ""))
        elif inspect.iscoroutinefunction(plain):
            members.append(f"{name}!")
        elif callable(plain):
            members.append(f"{name}()")
        else:
            members.append(name)
    return f"class {','.join(bases)} {' '.join(members)}"


def schema_text(schema: Any) -> str:
    """Return a schema as `name:type,…`; `[type]` is an array, `<type>` a compact one."""
    pairs = zip(schema.names, schema.fields, strict=True)
    return ",".join(f"{name}:{type_text(each)}" for name, each in pairs) or "-"


def type_text(field: Any) -> str:
    """Return the word for a field's type."""
    name = field.__name__ if inspect.isclass(field) else type(field).__name__
    if name == "Schema":
        return f"({schema_text(field)})"
    if name in ("Array", "CompactArray"):
        opening, closing = "[]" if name == "Array" else "<>"
        return f"{opening}{type_text(field.array_of)}{closing}"
    return _TYPES[name]


def main() -> None:
    """Write the file."""
    (ROOT / FILE).write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()


__all__ = ["FILE", "text"]
