"""Owns how errors, logs and reprs name what a user passed. Does not wait.

What is passed may be a record, or a value in the wrong place. So a text has the type, and shows the
value only if it is short and cannot be the content of a record. Every text of the library names a
value that it refuses by `quoted`.
"""

from collections.abc import Sized
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Final

MOST_SHOWN: Final = 80
"""Characters of one value that a text shows at most."""
_MOST_ITEMS: Final = 4
_MOST_DIGITS: Final = 24
_MOST_INT: Final = 10**_MOST_DIGITS


def quoted(value: object) -> str:
    """Return how a text shows `value`, in at most about `MOST_SHOWN` characters.

    Numbers, short str, members of enums, functions and classes are shown, and so are short lists,
    tuples, sets and dicts of these. Of bytes and of all other objects only the type is told, and
    the size. No `repr` of a user's class is called.
    """
    shown = _shown(value)
    if shown is not None and len(shown) <= MOST_SHOWN:
        return shown
    return kind_of(value)


def kind_of(value: object) -> str:
    """Return the type of `value` and its size, such as `<bytes, 12 long>`; nothing of its content.

    Use it for what may be the content of a record.
    """
    kind = type(value)
    name = cut(kind.__qualname__ if kind.__module__ == "builtins" else kind.__name__)
    if isinstance(value, Sized) and kind.__module__ in ("builtins", "collections"):
        return f"<{name}, {len(value):,} long>"
    return f"<{name}>"


def cut(text: str, most: int = MOST_SHOWN) -> str:
    """Return the text, cut to `most` characters: what other code or a peer has said."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _shown(value: object) -> str | None:
    """Return the text of a value that may be shown; None for one that may not."""
    kind = type(value)
    if value is None or kind in (bool, float):
        return repr(value)
    if isinstance(value, Enum):
        return f"{kind.__name__}.{value.name}"
    if kind is int:
        return repr(value) if -_MOST_INT < value < _MOST_INT else None  # type: ignore[operator]
    if kind is str:
        return repr(value) if len(value) <= MOST_SHOWN else None  # type: ignore[arg-type]
    if isinstance(value, type):
        return f"<class {value.__qualname__}>"
    if isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
        return f"<function {value.__qualname__}>"
    return _shown_items(value)


def _shown_items(value: object) -> str | None:
    if isinstance(value, tuple) and _is_own(type(value)):
        names: tuple[str, ...] = type(value)._fields  # type: ignore[attr-defined]
        fields = (f"{name}={_item(each)}" for name, each in zip(names, value, strict=True))
        return f"{type(value).__name__}({', '.join(fields)})"
    if isinstance(value, dict):
        if type(value) is not dict or len(value) > _MOST_ITEMS:
            return None
        pairs = [(_item(key), _item(each)) for key, each in value.items()]
        return "{" + ", ".join(f"{key}: {each}" for key, each in pairs) + "}"
    if type(value) not in (list, tuple, set, frozenset):
        return None
    assert isinstance(value, list | tuple | set | frozenset)
    if len(value) > _MOST_ITEMS:
        return None
    items = ", ".join(map(_item, value))
    if isinstance(value, tuple):
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, list):
        return f"[{items}]"
    return "{" + items + "}" if value else f"{type(value).__name__}()"


def _is_own(kind: type) -> bool:
    """Say whether it is a named tuple of this package, such as TopicPartition."""
    return kind.__module__.startswith("aiokafka_lite.") and hasattr(kind, "_fields")


def _item(value: object) -> str:
    """Return an item of a collection; the content of a collection within is not shown."""
    is_nested = isinstance(value, list | tuple | dict | set | frozenset)
    if is_nested and not _is_own(type(value)):
        return kind_of(value)
    return quoted(value)


__all__ = ["MOST_SHOWN", "cut", "kind_of", "quoted"]
