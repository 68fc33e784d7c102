"""Owns how errors, logs and reprs name what a user passed. Does not wait.

What is passed may be a record, or a value in the wrong place. So a text has the type, and shows the
value only if it is short and plain. Where a record's content may be in the argument, `kind_of` says
the type alone.
"""

import re
from collections.abc import Sized
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, TracebackType
from typing import Final, TypeAlias

MOST_SHOWN: Final = 100
"""Characters of one value that a text shows at most."""
_MOST_BYTES: Final = 16
_MOST_ITEMS: Final = 4
_SHORTEST_PART: Final = 4
_MOST_PART: Final = 8
_MOST_INT: Final = 10**24
_NAME: Final = re.compile(r"[\w./:@+-]{1,300}\Z")
"""What a name or a path looks like. A long one is shown by its beginning and its end."""
_HEAD, _TAIL = 50, 40


def quoted(value: object) -> str:
    """Return how a text shows `value`, in at most `MOST_SHOWN` characters of it.

    Numbers, short str, a few bytes, members of enums, functions and classes are shown, and so are
    short lists, tuples, sets and dicts of these. Of all other objects the type is told, and the
    size. No `repr` of a user's class is called.
    """
    shown = _shown(value)
    return kind_of(value) if shown is None else shown


def kind_of(value: object) -> str:
    """Return the type of `value` and its size, such as `<bytes, 12 long>`; nothing of its content.

    Use it for what may be the content of a record.
    """
    kind = type(value)
    name = cut(kind.__qualname__ if kind.__module__ == "builtins" else kind.__name__)
    if isinstance(value, Sized) and kind.__module__ in ("builtins", "collections"):
        return f"<{name}, {len(value):,} long>"
    return f"<{name}>"


def field_text(value: object) -> str:
    """Return how the repr of a value object shows one of its fields: a long text by its size."""
    is_long = isinstance(value, str | bytes) and len(value) > MOST_SHOWN
    return kind_of(value) if is_long else repr(value)


def record_text(value: object) -> str:
    """Return how the repr of a record shows one of its fields: by type and size if it is long."""
    most = MOST_SHOWN + len("b''")
    if isinstance(value, str | bytes) and len(value) > most:
        return kind_of(value)  # without a text of all its bytes
    text = repr(value)
    return kind_of(value) if len(text) > most else text


def number(value: object) -> str:
    """Return a number as text, and anything else by `kind_of`."""
    return quoted(value) if isinstance(value, int | float | None) else kind_of(value)


def said(error: BaseException, *content: object) -> str:
    """Return the type and the text of an error that a user's code has raised, cut.

    The type alone, if the text has a part of `content`: of the record that the code was called for.
    """
    whole = _repr_or_none(error)
    if whole is None:
        return type(error).__name__
    text = cut(whole)
    return type(error).__name__ if any(_has_part(text, each) for each in content) else text


TraceOf: TypeAlias = BaseException | tuple[type[BaseException], BaseException, TracebackType | None]


def trace_of(error: BaseException, *content: object) -> TraceOf:
    """Return what a log takes as `exc_info`: the error, or, if `said` leaves out its text, the same
    frames under another one.
    """
    chain = _chain(error)
    if all(_may_be_shown(each, content) for each in chain):
        return error
    names = " and ".join(dict.fromkeys(type(each).__name__ for each in chain))
    unsaid = RuntimeError(f"{names}: the text is left out, it is long or has a part of the record")
    return RuntimeError, unsaid, error.__traceback__


def _may_be_shown(error: BaseException, content: tuple[object, ...]) -> bool:
    text = _repr_or_none(error)
    if text is None or any(_has_part(text, each) for each in content):
        return False
    is_own = type(error).__module__.startswith("aiokafka_lite.")  # long, and without a record
    return (is_own or len(text) <= MOST_SHOWN) and all(
        isinstance(note, str)
        and len(note) <= MOST_SHOWN
        and not any(_has_part(note, each) for each in content)
        for note in getattr(error, "__notes__", ())
    )


def _chain(error: BaseException) -> list[BaseException]:
    """Return the error and those behind it, which a traceback shows, too."""
    found: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and not any(each is known for known in found):
        found.append(each)
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    return found


def _repr_or_none(error: BaseException) -> str | None:
    try:
        return repr(error)
    except Exception:  # noqa: BLE001 - of the user's class
        return None


def _has_part(text: str, content: object) -> bool:
    if content is None:
        return False
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    if not isinstance(content, str):
        try:
            content = repr(content)
        except Exception:  # noqa: BLE001 - of the user's class
            return False
    if len(content) < _SHORTEST_PART:
        return repr(content) in text
    size = min(len(content), _MOST_PART)
    return any(text[at : at + size] in content for at in range(len(text) - size + 1))


def cut(text: str, most: int = MOST_SHOWN) -> str:
    """Return the text, cut to `most` characters: what other code or a peer has said."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _shown(value: object) -> str | None:
    """Return the text of a value that may be shown; None for one that may not."""
    kind = type(value)
    if value is None or kind in (bool, float):
        return repr(value)
    if isinstance(value, Enum):
        text = repr(value)
        return text if len(text) <= MOST_SHOWN else f"{kind.__name__}.{value.name}"
    if isinstance(value, int) and kind is int:
        return repr(value) if -_MOST_INT < value < _MOST_INT else None
    if isinstance(value, str) and kind is str:
        if len(value) <= MOST_SHOWN:
            return repr(value)
        return repr(f"{value[:_HEAD]}…{value[-_TAIL:]}") if _NAME.match(value) else None
    if isinstance(value, bytes):
        return repr(value) if len(value) <= _MOST_BYTES else None
    if isinstance(value, type):
        return f"<class {cut(value.__qualname__)}>"
    if isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
        return f"<function {cut(value.__qualname__)}>"
    if isinstance(value, tuple) and _is_own(kind):
        names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
        fields = (f"{name}={quoted(each)}" for name, each in zip(names, value, strict=True))
        return f"{kind.__name__}({', '.join(fields)})"
    items = _of_items(value)
    return items if items is not None and len(items) <= MOST_SHOWN else None


def _of_items(value: object) -> str | None:
    if isinstance(value, dict) and type(value) is dict and len(value) <= _MOST_ITEMS:
        return (
            "{" + ", ".join(f"{quoted(key)}: {quoted(each)}" for key, each in value.items()) + "}"
        )
    if type(value) not in (list, tuple, set, frozenset):
        return None
    assert isinstance(value, list | tuple | set | frozenset)
    if len(value) > _MOST_ITEMS:
        return None
    items = ", ".join(map(quoted, value))
    if isinstance(value, tuple):
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, list):
        return f"[{items}]"
    return "{" + items + "}" if value else f"{type(value).__name__}()"


def _is_own(kind: type) -> bool:
    """Say whether it is a named tuple of this package, such as TopicPartition."""
    return kind.__module__.startswith("aiokafka_lite.") and hasattr(kind, "_fields")


__all__ = [
    "MOST_SHOWN",
    "TraceOf",
    "cut",
    "field_text",
    "kind_of",
    "number",
    "quoted",
    "record_text",
    "said",
    "trace_of",
]
