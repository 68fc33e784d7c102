"""The vocabulary of a message declaration: wire types as annotations, and `field()`. Never waits.

A wire type is an `Annotated` alias, so a type checker sees the plain Python type and the compiler
the wire form. Whether strings, bytes and arrays are compact follows from the version, not from the
type (KIP-482).
"""

from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import UUID

from aiokafka_lite.schema.version_range import VersionRange

ZERO_UUID: Final = UUID(int=0)
"""The null id of the protocol: "no topic id", "no directory"."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """One wire type; `code` is its `struct` letter and `size` its bytes, both empty for variable
    width.
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
"""Record batches: decoded as a view of the frame, encoded without a copy. A bytearray goes in as
its memoryview.
"""


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """A list of one wire type or struct."""

    element: Any


class _Absent:
    """Says that `field()` got no default of its own."""

    def __repr__(self) -> str:
        return "<the type's zero>"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True, eq=False)
class FieldSpec:
    """What `field()` was told, before the annotation is looked at."""

    versions: VersionRange
    default: Any
    nullable: VersionRange | None
    tag: int | None
    tagged: VersionRange
    ignorable: bool
    flexible: VersionRange | None
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
    doc: str,
) -> Any:
    """Describe one field of a struct; the annotation gives its type.

    Args:
        versions: message versions that have the field.
        default: the value when it is not given, or not on the wire; without one, the type's zero:
            0, "", b"", an empty list, a struct of defaults, None for records.
        nullable: versions where None may stand on the wire; for `X | None` all of `versions` by
        default. tag: the number of a tagged field (KIP-482), which takes no bytes while it has its
        default. tagged: versions where it is tagged; all of `versions` by default. ignorable: a
        value other than the default is silently dropped for a version without the field,
            where it otherwise is an UnsupportedVersionError.
        flexible: versions where this one field is compact, if it departs from its message.
        doc: what the field says, in one sentence; the KIP where one brought it.
    """
    span = VersionRange.parse(versions)
    return FieldSpec(
        versions=span,
        default=default,
        nullable=None if nullable is None else VersionRange.parse(nullable),
        tag=tag,
        tagged=_tagged_range(span, tag, tagged),
        ignorable=ignorable,
        flexible=None if flexible is None else VersionRange.parse(flexible),
        doc=doc,
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
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Primitive",
    "Records",
    "String",
    "Uuid",
    "field",
]
