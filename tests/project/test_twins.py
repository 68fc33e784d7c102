"""A native leaf and its pure twin offer the same names, and take the same parameters."""

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import aiokafka_lite
from aiokafka_lite.native import TYPED
from tests.support.twins import native_twin

PACKAGE = Path(aiokafka_lite.__file__).parent
PAIRS = sorted(
    ".".join(path.with_suffix("").relative_to(PACKAGE.parent).parts).removesuffix("_py")
    for path in PACKAGE.rglob("_*_py.py")
)
TYPED_SOURCES = {
    ".".join(path.with_suffix("").relative_to(PACKAGE.parent).parts)
    for path in PACKAGE.rglob("*.pxd")
    if path.with_suffix(".py").exists()
}
"""A `.py` with a `.pxd` is compiled as it is."""

ONE_SIDED = {
    "aiokafka_lite.concurrency._ready": {
        "with_sleep": "`clock` asks `time.clock_gettime` without it",
    },
    "aiokafka_lite.codec._parts": {
        "ScatteredBytes": "what a batch that refers to its values is; in Python it copies them",
    },
    "aiokafka_lite.consumer_record._consumer_record": {
        "KT": "types have no native form",
        "VT": "types have no native form",
        "RecordOrigin": "what records of one cursor share in C",
        "own_attributes": "what `vars(record)` is of the pure twin",
    },
    "aiokafka_lite.arrow._record_columns": {
        **dict.fromkeys(
            (
                *("RecordColumns.fields", "RecordColumns.headers", "RecordColumns.keys"),
                *("RecordColumns.offsets", "RecordColumns.runs", "RecordColumns.timestamps"),
                *("RecordColumns.values", "RecordColumns.without_timestamp"),
            ),
            "lists in Python, memory of C in the native twin",
        ),
    },
    "aiokafka_lite.consumer.fetch._decoded_records": {
        "NextRecord": "the awaitable in C of one step of `async for`",
    },
    "aiokafka_lite.producer.key_hash._murmur2": dict.fromkeys(
        (f"KeyHashes.{each}" for each in dir(dict) if not each.startswith("_")),
        "the methods of dict, which the native table is not",
    ),
    "aiokafka_lite.producer.accumulator._fast_append": {
        "RecordPath": "a type for checkers",
        "Route": "a type for checkers",
        "Queue": "a type for checkers",
        "FastAppend.loop": "set by the constructor in Python, a field of C",
        "FastAppend.thread_id": "set by the constructor in Python, a field of C",
    },
}
"""Names of one twin only, each with the reason."""
MADE_ELSEWHERE = {
    *("RecordColumns.__init__", "ArrowRows.__init__", "TopicHold.__init__"),
    *("AwaitedAck.__init__", "Ready.__init__"),
}
"""Constructors that only the leaf itself calls."""

GENERIC = ["args", "kwargs"]
"""What `inspect` reads of a constructor in C: then the source is read."""
SINGLE = ["object"]
"""What Python 3.14 reads of a function in C that takes one argument."""


def public_names(module: ModuleType) -> set[str]:
    """Return the names that a module defines for others, and those of its classes' members."""
    names = set()
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        names.add(name)
        if inspect.isclass(value):
            names |= {f"{name}.{member}" for member in dir(value) if not member.startswith("_")}
    return names


def parameters_of(module: ModuleType, name: str) -> list[str] | None:
    """Return the names of the parameters without `self`; None for what takes none."""
    owner, _, member = name.rpartition(".")
    value: Any = getattr(module, owner or member)
    if owner:
        value = inspect.getattr_static(value, member)
        value = getattr(value, "__func__", value)
    if not (inspect.isroutine(value) or type(value).__name__ == "cython_function_or_method"):
        return None
    try:
        found = list(inspect.signature(value).parameters)
    except ValueError:
        found = GENERIC
    found = [each for each in found if each != "self"]
    return written_parameters(module, owner, member) if found in (GENERIC, SINGLE) else found


def written_parameters(module: ModuleType, owner: str, name: str) -> list[str]:
    """Read the parameters in the source of a native leaf; a class may have them from a base."""
    path = (PACKAGE.parent / Path(*module.__name__.split("."))).with_suffix(".pyx")
    source = path.read_text(encoding="utf-8") if path.exists() else ""
    owners = [each.__name__ for each in getattr(module, owner).__mro__] if owner else [""]
    for each in owners:
        for function in ("__init__", "__cinit__") if name == "__init__" else (name,):
            found = re.search(rf"^ *def {function}\((.*?)\):\n", part_of(source, each), re.M | re.S)
            if found:
                return [word for word in map(name_in, found[1].split(",")) if word]
    return []


def part_of(source: str, class_name: str) -> str:
    """Return the text of a class; of the whole source, if no class is named."""
    if not class_name:
        return source
    _, _, rest = source.partition(f"\ncdef class {class_name}")
    return rest.partition("\ncdef class ")[0]


def name_in(parameter: str) -> str:
    """Return "count" of "int64_t count=0"; "" of `self`, `*` and `/`."""
    words = parameter.partition("=")[0].replace("not None", "").split()
    return words[-1] if words and words[-1] not in {"self", "*", "/"} else ""


def test_modules_that_are_compiled_as_they_are_are_listed() -> None:
    """`AIOKAFKA_LITE_PURE=1` and `native.leaves()` go by the list, which wheels have, too."""
    assert TYPED == TYPED_SOURCES


@pytest.mark.parametrize("leaf", PAIRS)
def test_twins_offer_the_same_names(leaf: str) -> None:
    pure, compiled = importlib.import_module(f"{leaf}_py"), native_twin(leaf)
    expected = ONE_SIDED.get(leaf, {}).keys()
    differ = public_names(pure) ^ public_names(compiled)
    assert expected <= differ, "no longer of one twin only"
    assert not {name for name in differ - expected if name.split(".")[0] not in expected}


@pytest.mark.parametrize("leaf", PAIRS)
def test_twins_take_the_same_parameters(leaf: str) -> None:
    pure, compiled = importlib.import_module(f"{leaf}_py"), native_twin(leaf)
    both = public_names(pure) & public_names(compiled)
    classes = {name for name in both if "." not in name and inspect.isclass(getattr(pure, name))}
    both |= {f"{name}.__init__" for name in classes}
    differ = {
        name: (taken, given)
        for name in sorted(both - ONE_SIDED.get(leaf, {}).keys() - MADE_ELSEWHERE)
        if (taken := parameters_of(pure, name)) != (given := parameters_of(compiled, name))
    }
    assert not differ
