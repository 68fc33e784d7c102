"""Types, schemas and structs have the bytes of aiokafka's, which is the witness."""

import contextlib
import inspect
from collections.abc import Iterator
from importlib import import_module
from io import BytesIO
from typing import Any

import aiokafka.protocol.types as their_types
import pytest
from aiokafka.protocol.struct import Struct as TheirStruct
from hypothesis import given, settings
from hypothesis import strategies as st

from aiokafka_lite.compat import inside_table, wire
from aiokafka_lite.compat.installation import found

VALUES: dict[str, list[Any]] = {
    "Int8": [-128, 0, 127],
    "Int16": [-(2**15), 2**15 - 1],
    "Int32": [-(2**31), 2**31 - 1],
    "UInt32": [0, 2**32 - 1],
    "Int64": [-(2**63), 2**63 - 1],
    "Float64": [-1.5, 0.0],
    "Boolean": [True, False],
    "Bytes": [None, b"", b"abc"],
    "CompactBytes": [None, b"", b"a" * 200],
    "UnsignedVarInt32": [0, 127, 128, 2**32 - 1],
    "VarInt32": [0, -1, 2**31 - 1, -(2**31)],
    "VarInt64": [0, -1, 1],
    "TaggedFields": [{}],
}
OTHERS_FAULT = {"VarInt32", "VarInt64"}
"""aiokafka writes most numbers of these types wrongly. No request has them."""


@pytest.mark.parametrize("name", VALUES)
def test_a_type_writes_and_reads_what_its_namesake_does(name: str) -> None:
    ours, theirs = getattr(wire, name), getattr(their_types, name)
    for value in VALUES[name]:
        encoded = ours.encode(value)
        assert ours.decode(BytesIO(encoded)) == value
        assert ours.repr(value) == theirs.repr(value)
        if name not in OTHERS_FAULT or 0 <= value < 2**6:
            assert encoded == theirs.encode(value)


@pytest.mark.parametrize("value", [2**40, -(2**63), 2**63 - 1])
def test_a_large_number_of_variable_length_comes_back(value: int) -> None:
    assert wire.VarInt64.decode(BytesIO(wire.VarInt64.encode(value))) == value


@pytest.mark.parametrize("name", ["String", "CompactString"])
@pytest.mark.parametrize("value", [None, "", "käse", "x" * 300])
def test_text_is_written_as_by_its_namesake(name: str, value: str | None) -> None:
    ours, theirs = getattr(wire, name)(), getattr(their_types, name)()
    assert ours.encode(value) == theirs.encode(value)
    assert ours.decode(BytesIO(ours.encode(value))) == value


def samples(schema: Any, *, empty: bool = False) -> list[Any]:
    """A value for each field of a schema of aiokafka."""
    return [sample(field, empty=empty) for field in schema.fields]


def sample(field: Any, *, empty: bool = False) -> Any:
    name = field.__name__ if inspect.isclass(field) else type(field).__name__
    if name == "Schema":
        return tuple(samples(field, empty=empty))
    if name in ("Array", "CompactArray"):
        return [] if empty else [sample(field.array_of), sample(field.array_of)]
    if name in ("String", "CompactString"):
        return "" if empty else "text"
    return VALUES[name][0] if empty else VALUES[name][-1]


def structs() -> Iterator[tuple[str, str]]:
    for path in sorted(inside_table.module_paths()):
        if path.startswith("protocol."):
            for name, value in vars(import_module(f"aiokafka.{path}")).items():
                if getattr(value, "__module__", "") != f"aiokafka.{path}":
                    continue
                if not inspect.isclass(value) or inspect.isabstract(value):
                    continue
                if issubclass(value, TheirStruct) and name not in ("Struct", "RequestStruct"):
                    yield path, name


@pytest.mark.parametrize("path", sorted({path for path, _ in structs()}))
def test_each_struct_writes_and_reads_what_its_namesake_does(path: str) -> None:
    for module, name in structs():
        if module != path or name in ("Message", "RequestHeader_v1", "RequestHeader_v2"):
            continue
        ours, theirs = found(path, name), getattr(import_module(f"aiokafka.{path}"), name)
        for empty in (False, True):
            values = samples(theirs.SCHEMA, empty=empty)
            made, witness = ours(*values), theirs(*values)
            assert made.encode() == witness.encode(), name
            assert repr(made) == repr(witness) or "built-in" in repr(witness), name
            assert ours.decode(made.encode()) == made
            if hasattr(witness, "to_object"):
                assert made.to_object() == witness.to_object()
        for constant in ("API_KEY", "API_VERSION", "FLEXIBLE_VERSION"):
            assert getattr(ours, constant, None) == getattr(theirs, constant, None) or not (
                isinstance(getattr(theirs, constant, None), int)
            ), name
        if hasattr(theirs, "RESPONSE_TYPE"):
            assert ours.RESPONSE_TYPE is found(path, theirs.RESPONSE_TYPE.__name__)
            header = made.build_request_header(7, "me")
            assert header.encode() == witness.build_request_header(7, "me").encode()


def test_a_struct_refuses_what_its_schema_does_not_have() -> None:
    kind = found("protocol.metadata", "MetadataRequest_v4")
    assert kind(topics=["t"]).allow_auto_topic_creation is None
    with pytest.raises(ValueError, match="mirror schema"):
        kind(["t"])
    with pytest.raises(ValueError, match="no_such"):
        kind(no_such=1)
    with pytest.raises(KeyError, match="no_such"):
        kind(["t"], True).get_item("no_such")
    assert kind(["t"], True) != kind(["u"], True)
    assert kind(["t"], True) != 1


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_value_error(data: bytes) -> None:
    kind = found("protocol.metadata", "MetadataResponse_v1")
    with contextlib.suppress(ValueError, MemoryError):
        kind.decode(data)


def test_a_type_that_gets_another_value_says_so() -> None:
    with pytest.raises(ValueError, match="no Int8"):
        wire.Int8.encode(1000)
    with pytest.raises(ValueError, match="data end"):
        wire.Int32.decode(BytesIO(b"1"))
    with pytest.raises(ValueError, match="no array_of"):
        wire.Array(None)
    with pytest.raises(ValueError, match="count"):
        wire.Schema(("a", wire.Int8)).encode([1, 2])


def test_a_request_of_a_user_is_declared_as_in_aiokafka() -> None:
    v0 = found("protocol.metadata", "MetadataRequest_v0")
    v1 = found("protocol.metadata", "MetadataRequest_v1")

    class OwnRequest(wire.Request[v0 | v1]):  # type: ignore[valid-type]
        API_KEY = 3

        def build(self, request_struct_class: Any) -> Any:
            return request_struct_class(["t"])

    assert type(OwnRequest().prepare({3: (0, 9)})) is v1
    with pytest.raises(TypeError, match="API_KEY"):
        type("Without", (wire.Request,), {})
    with pytest.raises(TypeError, match="SCHEMA"):
        type("Without", (wire.RequestStruct,), {})
