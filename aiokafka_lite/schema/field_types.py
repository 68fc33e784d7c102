"""The vocabulary of a message declaration: wire types as annotations, and `field()`.

A wire type is an `Annotated` alias: a type checker sees the plain Python type, the compiler the
wire form. The version decides whether strings, bytes and arrays are compact, not the type
(KIP-482). Does not wait.
"""

from typing import Annotated, Any, Final
from uuid import UUID

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.schema.version_range import VersionRange

ZERO_UUID: Final = UUID(int=0)
"""The null id of the protocol, which stands for no topic and no directory."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """One wire type.

    `code` is its `struct` letter and `size` its bytes; both are empty for variable width.
    """

    name: str
    zero: Any
    code: str = ""
    size: int = 0


Int8 = Annotated[int, Primitive("int8", 0, "b", 1)]
Int16 = Annotated[int, Primitive("int16", 0, "h", 2)]
Int32 = Annotated[int, Primitive("int32", 0, "i", 4)]
Int64 = Annotated[int, Primitive("int64", 0, "q", 8)]
UInt16 = Annotated[int, Primitive("uint16", 0, "H", 2)]
UInt32 = Annotated[int, Primitive("uint32", 0, "I", 4)]
Float64 = Annotated[float, Primitive("float64", 0.0, "d", 8)]
Bool = Annotated[bool, Primitive("bool", False, "?", 1)]
Uuid = Annotated[UUID, Primitive("uuid", ZERO_UUID, "16s", 16)]
String = Annotated[str, Primitive("string", "")]
Bytes = Annotated[bytes, Primitive("bytes", b"")]
Records = Annotated[bytes | memoryview, Primitive("records", None)]
"""Record batches: decoded as a view of the frame, encoded without a copy.

So a fetched megabyte is not copied. All other fields decode to values of their own, so a small
message does not keep its frame in memory.

A bytearray is passed in as its memoryview.
"""


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """A list of one wire type or struct."""

    element: Any


class _Absent:
    """Stands for a default that `field()` did not get."""

    def __repr__(self) -> str:
        return "<the type's zero>"


ABSENT: Final = _Absent()


class FieldSpec(NamedTuple):
    """The arguments of `field()`, before the annotation is read.

    A tuple is made in a tenth of the time of a frozen dataclass, and the clients' messages have
    hundreds of fields.
    """

    versions: VersionRange
    default: Any
    nullable: VersionRange | None
    tag: int | None
    tagged: VersionRange
    ignorable: bool
    flexible: VersionRange | None
    needs: str
    doc: str


def field(
    *,
    versions: str = "0+",
    default: Any = ABSENT,
    nullable: str | None = None,
    tag: int | None = None,
    tagged: str | None = None,
    ignorable: bool = False,
    flexible: str | None = None,
    needs: str = "",
    doc: str,
) -> Any:
    """Describe one field of a struct; the annotation gives its type.

    Args:
        versions: message versions that have the field.
        default: the value when it is not given, or not on the wire. Without one it is the type's
            zero: 0, "", b"", an empty list, a struct of defaults, None for records.
        nullable: versions in which None may stand on the wire. For `X | None` the default is all
            of `versions`.
        tag: the number of a tagged field (KIP-482). Such a field takes no bytes while it has its
            default.
        tagged: versions in which it is tagged; all of `versions` by default.
        ignorable: drop a value silently for a version without the field. Otherwise a value other
            than the default is an UnsupportedVersionError there.
        flexible: versions in which this one field is compact, if it differs from its message.
        needs: what a user cannot do without the field, and since which Kafka it can be done, as in
            "a static member needs Kafka 2.3 (KIP-345)". The error for older versions begins so.
        doc: the meaning of the field in one sentence, with the KIP that added it.
    """
    span = VersionRange.parse(versions)
    return FieldSpec(
        span,
        default,
        None if nullable is None else VersionRange.parse(nullable),
        tag,
        _tagged_range(span, tag, tagged),
        ignorable,
        None if flexible is None else VersionRange.parse(flexible),
        needs,
        doc,
    )


def _tagged_range(versions: VersionRange, tag: int | None, tagged: str | None) -> VersionRange:
    if tag is None:
        if tagged is not None:
            raise TypeError(f"tagged={tagged!r} needs a tag number beside it")
        return VersionRange.NONE
    return versions if tagged is None else VersionRange.parse(tagged)


__all__ = [
    "ABSENT",
    "ZERO_UUID",
    "ArrayOf",
    "Bool",
    "Bytes",
    "FieldSpec",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Primitive",
    "Records",
    "String",
    "UInt16",
    "Uuid",
    "field",
]
