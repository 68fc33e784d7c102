"""Messages for the tests of the schema: each kind of field, of default and of nullability."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import (
    Bool,
    Bytes,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    Records,
    String,
    UInt16,
    UInt32,
    Uuid,
    field,
)
from aiokafka_lite.schema.message import Message, Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class Inner(Struct):
    """A struct inside others."""

    number: Int32 = field(default=-1, doc="a number")
    name: String | None = field(versions="1+", nullable="2+", doc="a name")
    late: Int16 = field(versions="3+", tag=0, default=7, ignorable=True, doc="tagged")


class Everything(Message, versions="0-3", flexible="2+"):
    """Every type there is."""

    flag: Bool = field(default=True, doc="bool")
    tiny: Int8 = field(doc="int8")
    small: Int16 = field(doc="int16")
    medium: Int32 = field(default=0x7FFFFFFF, doc="int32")
    large: Int64 = field(doc="int64")
    port: UInt16 = field(doc="uint16")
    mask: UInt32 = field(doc="uint32")
    ratio: Float64 = field(doc="float64")
    id: Uuid = field(doc="uuid")
    text: String = field(default="x", doc="string")
    blob: Bytes = field(doc="bytes")
    maybe_blob: Bytes | None = field(doc="nullable bytes, empty by default")
    batches: Records | None = field(doc="records")
    inner: Inner = field(doc="a struct")
    maybe_inner: Inner | None = field(versions="2+", default=None, ignorable=True, doc="or null")
    numbers: list[Int32] = field(doc="fixed width")
    flags: list[Bool] = field(doc="fixed width")
    ids: list[Uuid] = field(doc="ids")
    names: list[String] = field(doc="variable width")
    inners: list[Inner] | None = field(nullable="1+", doc="structs, or null from v1")
    no_longer: Int32 = field(versions="0-1", default=-5, doc="gone in v2, not ignorable")
    dropped: String = field(versions="0-1", ignorable=True, doc="gone in v2, ignorable")
    tag_text: String | None = field(versions="2+", tag=3, default=None, doc="tagged string")
    tag_inner: Inner = field(versions="2+", tag=1, ignorable=True, doc="tagged struct")
    tag_numbers: list[Int64] = field(versions="2+", tag=2, doc="tagged array")
    tag_id: Uuid = field(versions="2+", tag=0, doc="tagged id")
    old_style: String = field(flexible="none", doc="never compact")


class Empty(Message, versions="0-1", flexible="1+"):
    """No fields at all."""


class Ask(Request["Answer"], api_key=77, versions="0-2", flexible="1+"):
    """A question."""

    what: String = field(doc="anything")


class Answer(Response, api_key=77, versions="0-2", flexible="1+"):
    """An answer without records."""

    items: list[Inner] = field(doc="things")
    secret: Bytes = field(doc="not for logs")
