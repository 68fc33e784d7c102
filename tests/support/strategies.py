"""Hypothesis strategies for messages of any version, with only the fields of that version."""

from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from aiokafka_lite.schema.field_types import ZERO_UUID, ArrayOf, Primitive
from aiokafka_lite.schema.message import Message
from aiokafka_lite.schema.versioned_struct import Struct, StructField, fields_of

LARGE_RECORDS = bytes(range(256)) * 5
"""A size of records above which encoders do not copy them."""


def _integers(bits: int, signed: bool = True) -> st.SearchStrategy[int]:
    if signed:
        return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
    return st.integers(0, (1 << bits) - 1)


PRIMITIVES: dict[str, st.SearchStrategy[Any]] = {
    "int8": _integers(8),
    "int16": _integers(16),
    "int32": _integers(32),
    "int64": _integers(64),
    "uint16": _integers(16, signed=False),
    "uint32": _integers(32, signed=False),
    "float64": st.floats(allow_nan=False),
    "bool": st.booleans(),
    "uuid": st.sampled_from([ZERO_UUID, UUID(int=1), UUID(int=(1 << 128) - 1)]) | st.uuids(),
    "string": st.text(max_size=8) | st.just("long " * 40),
    "bytes": st.binary(max_size=8),
    "records": st.binary(max_size=8) | st.just(LARGE_RECORDS),
}


def messages(
    cls: type[Message],
    version: int,
    overrides: dict[str, st.SearchStrategy[Any]] | None = None,
) -> st.SearchStrategy[Any]:
    """Return a strategy for messages of `cls` with the fields of `version`.

    `overrides` has other strategies for fields, by name.
    """
    return structs(cls, version, overrides or {})


def structs(
    cls: type[Struct], version: int, overrides: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[Any]:
    values = {
        field.name: _field_values(field, version, overrides)
        for field in fields_of(cls)
        if version in field.versions
    }
    return st.builds(cls, **values)


def _field_values(
    field: StructField, version: int, overrides: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[Any]:
    values = overrides.get(field.name)
    if values is None:
        values = _values(field.type, version, overrides)
    return st.none() | values if version in field.nullable else values


def _values(
    kind: Any, version: int, overrides: dict[str, st.SearchStrategy[Any]]
) -> st.SearchStrategy[Any]:
    if isinstance(kind, ArrayOf):
        return st.lists(_values(kind.element, version, overrides), max_size=3)
    if isinstance(kind, Primitive):
        return PRIMITIVES[kind.name]
    return structs(kind, version, overrides)


def rich_message(cls: type[Struct], version: int) -> Any:
    """A fixed message in which every field `version` has differs from its default."""
    return cls(
        **{
            field.name: _rich_value(field.type, version)
            for field in fields_of(cls)
            if version in field.versions
        }
    )


_RICH: dict[str, Any] = {
    "int8": 3,
    "int16": 5,
    "int32": 77_777,
    "int64": 1 << 40,
    "uint16": 50_000,
    "uint32": 3_000_000_000,
    "float64": 0.5,
    "bool": True,
    "uuid": UUID("01234567-89ab-cdef-0123-456789abcdef"),
    "string": "grüße",
    "bytes": b"\x00\xff",
    "records": b"records",
}


def _rich_value(kind: Any, version: int) -> Any:
    if isinstance(kind, ArrayOf):
        return [_rich_value(kind.element, version)] * 2
    if isinstance(kind, Primitive):
        return _RICH[kind.name]
    return rich_message(kind, version)
