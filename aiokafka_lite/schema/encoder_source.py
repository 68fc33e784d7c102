"""Writes the source of one encode function: (struct, version) -> flat code, nested structs as
loops.

The generated code collects chunks in `out` and joins them at the end. A run of fixed-width fields
is one `pack`. Its last item is the length byte of the next field. Large records become parts of
their own, without a copy, between the joined parts. Does not wait.
"""

import struct
from typing import Any

from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS, unsigned_varint_bytes
from aiokafka_lite.schema import wire_helpers as helpers
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ZERO_UUID, ArrayOf, Primitive
from aiokafka_lite.schema.source_text import SourceText
from aiokafka_lite.schema.versioned_struct import Struct, StructField, fields_of

PASS_THROUGH_BYTES = 1024
"""Records above this size are not copied. Below it, one more part costs more than the copy."""


class EncoderSource:
    """Construct it, then read `text()` and `constants`. Use each instance once."""

    def __init__(
        self,
        cls: type[Struct],
        version: int,
        flexible: bool,
        label: str,
        constants: dict[str, Any] | None = None,
    ) -> None:
        self._version = version
        self._label = label
        self._src = SourceText(constants)
        self._run: list[tuple[str, str]] = []
        self._out = "out"
        self._src.constants.update(
            ONE_BYTE=ONE_BYTE_VARINTS,
            uvarint=unsigned_varint_bytes,
            string_length=helpers.string_length,
            unsupported=helpers.unsupported,
            unsupported_null=helpers.unsupported_null,
            unencodable=unencodable,
            StructError=struct.error,
        )
        self._write(cls, flexible)

    @property
    def constants(self) -> dict[str, Any]:
        return self._src.constants

    def text(self) -> str:
        return self._src.text()

    def _write(self, cls: type[Struct], flexible: bool) -> None:
        src = self._src
        with src.block("def encode(message):"):
            src.add("parts = []")
            src.add("out = []")
            with src.block("try:"):
                self._struct(cls, "message", flexible, "")
                self._flush()
                with src.block("if out:"):
                    src.add("parts.append(b''.join(out))")
                src.add("return parts")
            with src.block("except (StructError, AttributeError, TypeError, ValueError) as error:"):
                src.add(
                    f"raise unencodable(message, {self._label!r}, {self._version}, error) from"
                    f" error"
                )

    # Structs…

    def _struct(self, cls: type[Struct], var: str, flexible: bool, path: str) -> None:
        tagged: list[StructField] = []
        for field in fields_of(cls):
            expression = f"{var}.{field.name}"
            if self._version not in field.versions:
                if not field.ignorable:
                    self._refuse_unless_default(field, expression, f"{path}{field.name}")
            elif self._version in field.tagged:
                tagged.append(field)
            else:
                own = field.flexible
                self._value(
                    field.type,
                    expression,
                    nullable=self._null_rule(field),
                    flexible=flexible if own is None else self._version in own,
                    path=f"{path}{field.name}",
                )
        if flexible:
            self._tagged_fields(tagged, var, path)

    def _null_rule(self, field: StructField) -> bool | None:
        """Return True to write None as null, False to refuse None, None for a field that is
        never None.
        """
        if self._version in field.nullable:
            return True
        return False if field.nullable else None

    def _refuse_unless_default(self, field: StructField, expression: str, path: str) -> None:
        with self._src.block(f"if {self._differs(field, expression)}:"):
            self._src.add(f"raise unsupported({self._label!r}, {path!r}, {field.needs!r})")

    def _differs(self, field: StructField, expression: str) -> str:
        if field.has_list_default:
            return expression
        if field.default is None:
            return f"{expression} is not None"
        if isinstance(field.type, Primitive) and field.default is not ZERO_UUID:
            return f"{expression} != {self._src.literal(field.default)}"
        # A field mostly holds the shared default itself. The identity test then avoids a slow
        # comparison.
        default = self._src.literal(field.default)
        return f"{expression} is not {default} and {expression} != {default}"

    def _tagged_fields(self, tagged: list[StructField], var: str, path: str) -> None:
        src = self._src
        if not tagged:
            self._fixed("x")
            return
        tagged = sorted(tagged, key=lambda field: field.tag or 0)
        any_set = " or ".join(
            f"({self._differs(field, f'{var}.{field.name}')})" for field in tagged
        )
        pending = list(self._run)
        with src.block(f"if {any_set}:"):
            self._flush()
            count, chunks = src.local("count"), src.local("chunks")
            src.add(f"{count} = 0")
            src.add(f"{chunks} = []")
            for field in tagged:
                with src.block(f"if {self._differs(field, f'{var}.{field.name}')}:"):
                    self._tagged_value(field, f"{var}.{field.name}", chunks, f"{path}{field.name}")
                    src.add(f"{count} += 1")
            src.add(f"{self._out}.append(uvarint({count}))")
            src.add(f"{self._out} += {chunks}")
        self._run = pending
        with src.block("else:"):
            self._fixed("x")
            self._flush()

    def _tagged_value(self, field: StructField, expression: str, chunks: str, path: str) -> None:
        src = self._src
        outer, self._out = self._out, src.local("body")
        src.add(f"{self._out} = []")
        self._value(
            field.type, expression, nullable=self._null_rule(field), flexible=True, path=path
        )
        self._flush()
        src.add(f"{self._out} = b''.join({self._out})")
        src.add(f"{chunks} += (uvarint({field.tag}), uvarint(len({self._out})), {self._out})")
        self._out = outer

    # Values…

    def _value(
        self, kind: Any, expression: str, *, nullable: bool | None, flexible: bool, path: str
    ) -> None:
        if isinstance(kind, ArrayOf):
            self._array(kind.element, expression, nullable, flexible, path)
        elif not isinstance(kind, Primitive):
            self._nested(kind, expression, nullable, flexible, path)
        elif kind.name == "uuid":
            self._fixed("16s", f"{expression}.bytes")
        elif kind.code:
            self._fixed(kind.code, expression)
        else:
            self._sized(kind, expression, nullable, flexible, path)

    def _nested(
        self, cls: type[Struct], expression: str, nullable: bool | None, flexible: bool, path: str
    ) -> None:
        src = self._src
        var = src.local("item")
        src.add(f"{var} = {expression}")
        if nullable is not True:
            self._refuse_null(var, nullable, path)
            self._struct(cls, var, flexible, f"{path}.")
            return
        pending = list(self._run)
        with src.block(f"if {var} is None:"):
            self._fixed("b", "-1")
            self._flush()
        self._run = pending
        with src.block("else:"):
            self._fixed("b", "1")
            self._struct(cls, var, flexible, f"{path}.")
            self._flush()

    def _sized(
        self, kind: Primitive, expression: str, nullable: bool | None, flexible: bool, path: str
    ) -> None:
        """Write the code for strings, bytes and records."""
        src = self._src
        value = src.local("value")
        is_string = kind.name == "string"
        plus_one = " + 1" if flexible else ""
        src.add(f"{value} = {expression}")
        if nullable:
            with src.block(f"if {value} is None:"):
                src.add(f"{value} = b''")
                src.add("n = 0" if flexible else "n = -1")
            with src.block("else:"):
                self._measure(value, is_string, plus_one)
        else:
            self._refuse_null(value, nullable, path)
            self._measure(value, is_string, plus_one)
        self._length(flexible, "h" if is_string else "i", is_string=is_string)
        if kind.name == "records" and self._out == "out":
            self._records(value)
        else:
            src.add(f"{self._out}.append({value})")

    def _measure(self, value: str, is_string: bool, plus_one: str) -> None:
        if is_string:
            self._src.add(f"{value} = {value}.encode()")
        self._src.add(f"n = len({value}){plus_one}")

    def _records(self, value: str) -> None:
        src = self._src
        with src.block(f"if n > {PASS_THROUGH_BYTES}:"):
            src.add("parts.append(b''.join(out))")
            # Another bytes-like object becomes a view. This also refuses objects without a buffer.
            with src.block(f"if {value}.__class__ is not memoryview:"):
                src.add(f"{value} = memoryview({value})")
            src.add(f"parts.append({value})")
            src.add("out.clear()")
        with src.block("else:"):
            src.add(f"out.append({value})")

    def _array(
        self, element: Any, expression: str, nullable: bool | None, flexible: bool, path: str
    ) -> None:
        src = self._src
        items = src.local("items")
        plus_one = " + 1" if flexible else ""
        src.add(f"{items} = {expression}")
        self._refuse_null(items, nullable, path)
        if nullable:
            with src.block(f"if {items} is None:"):
                src.add(f"{items} = ()")
                src.add("n = 0" if flexible else "n = -1")
            with src.block("else:"):
                src.add(f"n = len({items}){plus_one}")
        else:
            src.add(f"n = len({items}){plus_one}")
        self._length(flexible, "i")
        if isinstance(element, Primitive) and len(element.code) == 1:
            runs = src.constant("RUNS", helpers.integer_runs(element.code))
            with src.block(f"if {items}:"):
                src.add(f"{self._out}.append({runs}.pack({items}))")
            return
        item = src.local("item")
        with src.block(f"for {item} in {items}:"):
            if isinstance(element, Primitive | ArrayOf):
                self._value(element, item, nullable=None, flexible=flexible, path=path)
            else:
                self._struct(element, item, flexible, f"{path}.")
            self._flush()

    def _refuse_null(self, value: str, nullable: bool | None, path: str) -> None:
        if nullable is False:
            with self._src.block(f"if {value} is None:"):
                self._src.add(f"raise unsupported_null({self._label!r}, {path!r})")

    def _length(self, flexible: bool, code: str, *, is_string: bool = False) -> None:
        """Write `n`, which already has the form of the wire."""
        if not flexible:
            self._fixed(code, "n")
            self._flush()
            return
        src = self._src
        long = "string_length(n)" if is_string else "uvarint(n)"
        if not self._run:
            src.add(f"{self._out}.append(ONE_BYTE[n] if n < 128 else {long})")
            return
        pending = list(self._run)
        with src.block("if n < 128:"):
            self._fixed("B", "n")
            self._flush()
        self._run = pending
        with src.block("else:"):
            self._flush()
            src.add(f"{self._out}.append({long})")

    # Runs of fixed-width fields…

    def _fixed(self, code: str, expression: str = "") -> None:
        self._run.append((code, expression))

    def _flush(self) -> None:
        if not self._run:
            return
        codes = "".join(code for code, _ in self._run)
        values = ", ".join(expression for _, expression in self._run if expression)
        if values:
            packed = f"{self._src.method(codes, 'pack')}({values})"
        else:
            packed = repr(bytes(len(codes)))
        self._src.add(f"{self._out}.append({packed})")
        self._run = []


__all__ = ["EncoderSource"]
