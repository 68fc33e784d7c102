"""Writes the source of one decode function: (struct, version) -> flat code, nested structs as
loops.

In the result `buf` is the frame, `pos` the read position and `size` the end. A run of fixed-width
fields is one `unpack_from` straight into the attributes. Its last item is the length byte of the
next field. Lengths are checked against the remaining bytes before any object is made from them.
Does not wait.
"""

import struct
from collections.abc import Sequence
from typing import Any

from aiokafka_lite.codec.reader import unsigned_varint_at
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.schema import wire_helpers as helpers
from aiokafka_lite.schema.field_types import ArrayOf, Primitive
from aiokafka_lite.schema.source_text import SourceText
from aiokafka_lite.schema.versioned_struct import Struct, StructField, fields_of


class DecoderSource:
    """Construct it, then read `text()` and `constants`. Use each instance once."""

    def __init__(
        self,
        cls: type[Struct],
        version: int,
        flexible: bool,
        label: str,
        unread: Sequence[str] = (),
        constants: dict[str, Any] | None = None,
        *,
        lenient: bool = False,
    ) -> None:
        """`unread`: paths of the fields, such as "topics.configs", that keep their defaults.
        `lenient`: as `compile_lenient_decoder`.
        """
        self._unread = unread
        self._lenient = lenient
        self._version = version
        self._label = label
        self._src = SourceText(constants)
        self._run: list[tuple[str, str]] = []
        self._after_run: list[str] = []
        # A frame with records stays in place, and its records become views of it. Any other frame
        # is copied once: slices of bytes are cheaper than slices of a view, and keep no frame
        # alive.
        self._keeps_view = has_records(cls, version)
        self._src.constants.update(
            new=object.__new__,
            uvarint_at=unsigned_varint_at,
            uuid_of=helpers.uuid_of,
            skip_tagged_fields=helpers.skip_tagged_fields,
            overrun=helpers.overrun,
            array_overrun=helpers.array_overrun,
            refused_length=helpers.refused_length,
            overlong_string=helpers.overlong_string,
            uneven_tag=helpers.uneven_tag,
            malformed=helpers.malformed,
            labelled=helpers.labelled,
            trailing=helpers.trailing,
            ProtocolDecodeError=ProtocolDecodeError,
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
        with src.block("def decode(view):"):
            src.add(f"buf = {'memoryview' if self._keeps_view else 'bytes'}(view)")
            src.add("size = len(buf)")
            src.add("pos = 0")
            if self._lenient:
                src.add("nulls = []")
            for number in range(len(self._unread)):
                src.add(f"seen_{number} = b''")
            with src.block("try:"):
                self._struct(cls, "message", flexible, "")
                self._flush()
            with src.block("except (StructError, IndexError, UnicodeDecodeError) as error:"):
                src.add(f"raise malformed({self._label!r}, pos, size, error) from error")
            with src.block("except ProtocolDecodeError as error:"):
                src.add(f"raise labelled({self._label!r}, error) from None")
            with src.block("if pos > size:" if self._lenient else "if pos != size:"):
                src.add(f"raise trailing({self._label!r}, pos, size, message)")
            src.add("return message, nulls" if self._lenient else "return message")

    # Structs…

    def _struct(self, cls: type[Struct], var: str, flexible: bool, path: str) -> None:
        self._src.add(f"{var} = new({self._src.constant(cls.__name__, cls)})")
        tagged: list[StructField] = []
        for field in fields_of(cls):
            is_sent = self._version in field.versions and self._version not in field.tagged
            if is_sent and f"{path}{field.name}" in self._unread:
                number = self._unread.index(f"{path}{field.name}")
                self._step_over_repeated(field, flexible, f"seen_{number}")
            elif is_sent:
                self._value(
                    field.type,
                    f"{var}.{field.name}",
                    nullable=self._version in field.nullable,
                    flexible=_is_flexible(field, self._version, flexible),
                    path=f"{path}{field.name}",
                )
                continue
            default = "[]" if field.has_list_default else self._src.literal(field.default)
            self._src.add(f"{var}.{field.name} = {default}")
            if self._version in field.versions and not is_sent:
                tagged.append(field)
        if flexible:
            self._tagged_fields(tagged, var, path)

    def _tagged_fields(self, tagged: list[StructField], var: str, path: str) -> None:
        src = self._src
        self._fixed("B", "n")
        self._flush()
        with src.block("if n:"):
            if not tagged:
                src.add("pos = skip_tagged_fields(buf, pos - 1, size)")
                return
            with src.block("if n > 127:"):
                src.add("n, pos = uvarint_at(buf, pos - 1)")
            tag, stop = src.local("tag"), src.local("stop")
            with src.block("for _ in range(n):"):
                src.add(f"{tag}, pos = uvarint_at(buf, pos)")
                src.add("n, pos = uvarint_at(buf, pos)")
                with src.block("if n > size - pos:"):
                    src.add(
                        f"raise overrun({self._label!r}, f'{path}tag {{{tag}}}', n, size - pos)"
                    )
                src.add(f"{stop} = pos + n")
                for field in tagged:
                    with src.block(f"if {tag} == {field.tag}:"):
                        self._value(
                            field.type,
                            f"{var}.{field.name}",
                            nullable=self._version in field.nullable,
                            flexible=True,
                            path=f"{path}{field.name}",
                        )
                        self._flush()
                        differs = ">" if self._lenient else "!="
                        with src.block(f"if pos {differs} {stop}:"):
                            src.add(f"raise uneven_tag({self._label!r}, {tag}, {stop}, pos)")
                src.add(f"pos = {stop}")

    # Fields that are not read…

    def _step_over_repeated(self, field: StructField, flexible: bool, seen: str) -> None:
        """Write the code that moves behind a field, at once if its bytes are those of the last one.

        The same bytes have the same end, and the configurations of topics are mostly equal.
        """
        src = self._src
        self._flush()
        with src.block(f"if {seen} and buf[pos : pos + len({seen})] == {seen}:"):
            src.add(f"pos += len({seen})")
        with src.block("else:"):
            src.add("start = pos")
            self._step_over(field, flexible)
            self._flush()
            src.add(f"{seen} = buf[start:pos]")

    def _step_over(self, field: StructField, flexible: bool) -> None:
        """Write the code that moves behind a field. Its lengths are checked at the frame's end."""
        self._flush()
        is_flexible = _is_flexible(field, self._version, flexible)
        is_struct = not isinstance(field.type, Primitive | ArrayOf)
        if is_struct and self._version in field.nullable:
            self._fixed("b", "n")
            self._flush()
            with self._src.block("if n >= 0:"):
                self._step_over_value(field.type, is_flexible)
        else:
            self._step_over_value(field.type, is_flexible)

    def _step_over_value(self, kind: Any, flexible: bool) -> None:
        src = self._src
        if isinstance(kind, ArrayOf):
            self._length(flexible, "i")
            least = min_size(kind.element, self._version, flexible)
            with src.block(f"if n * {least} > size - pos + {least}:"):
                src.add(f"raise array_overrun({self._label!r}, 'an array', n, size - pos)")
            with src.block(f"for _ in range({'n - 1' if flexible else 'n'}):"):
                self._step_over_value(kind.element, flexible)
        elif isinstance(kind, Primitive):
            self._step_over_primitive(kind, flexible)
        else:
            for field in fields_of(kind):
                if self._version in field.versions and self._version not in field.tagged:
                    self._step_over(field, flexible)
            if flexible:
                self._tagged_fields([], "", "")

    def _step_over_primitive(self, kind: Primitive, flexible: bool) -> None:
        src = self._src
        if kind.code or kind.name == "uuid":
            src.add(f"pos += {kind.size}")
            return
        self._length(flexible, "h" if kind.name == "string" else "i")
        with src.block("if n > 0:"):
            src.add("pos += n - 1" if flexible else "pos += n")

    # Values…

    def _value(self, kind: Any, target: str, *, nullable: bool, flexible: bool, path: str) -> None:
        if isinstance(kind, ArrayOf):
            self._array(kind.element, target, nullable, flexible, path)
        elif not isinstance(kind, Primitive):
            self._nested(kind, target, nullable, flexible, path)
        elif kind.name == "uuid":
            raw = self._src.local("raw")
            self._fixed("16s", raw)
            self._after_run.append(f"{target} = uuid_of({raw})")
        elif kind.code:
            self._fixed(kind.code, target)
        else:
            self._sized(kind, target, nullable, flexible, path)

    def _nested(
        self, cls: type[Struct], target: str, nullable: bool, flexible: bool, path: str
    ) -> None:
        src = self._src
        var = src.local("item")
        if not nullable:
            self._struct(cls, var, flexible, f"{path}.")
            src.add(f"{target} = {var}")
            return
        self._fixed("b", "n")
        self._flush()
        with src.block("if n < 0:"):
            src.add(f"{target} = None")
        with src.block("else:"):
            self._struct(cls, var, flexible, f"{path}.")
            self._flush()
            src.add(f"{target} = {var}")

    def _sized(
        self, kind: Primitive, target: str, nullable: bool, flexible: bool, path: str
    ) -> None:
        """Write the code for strings, bytes and records."""
        src = self._src
        self._length(flexible, "h" if kind.name == "string" else "i", kind.name == "records")
        if flexible and kind.name == "string":
            with src.block("if n > 32768:"):
                src.add(f"raise overlong_string({self._label!r}, {path!r}, n - 1)")
        with src.block("if n:" if flexible else "if n >= 0:"):
            src.add("end = pos + n - 1" if flexible else "end = pos + n")
            with src.block("if end > size:"):
                src.add(f"raise overrun({self._label!r}, {path!r}, end - pos, size - pos)")
            src.add(f"{target} = {self._slice(kind)}")
            src.add("pos = end")
        zero = "''" if kind.name == "string" else "b''"
        self._null(target, nullable, flexible, path, zero)

    def _slice(self, kind: Primitive) -> str:
        if kind.name == "string" and self._lenient:
            return "str(buf[pos:end], 'utf-8', 'replace')"
        if kind.name == "string":
            return "str(buf[pos:end], 'utf-8')" if self._keeps_view else "buf[pos:end].decode()"
        if kind.name == "bytes" and self._keeps_view:
            return "bytes(buf[pos:end])"
        return "buf[pos:end]"

    def _array(self, element: Any, target: str, nullable: bool, flexible: bool, path: str) -> None:
        src = self._src
        self._length(flexible, "i")
        with src.block("if n > 1:" if flexible else "if n > 0:"):
            if flexible:
                src.add("n -= 1")
            least = min_size(element, self._version, flexible)
            with src.block(f"if n * {least} > size - pos:" if least > 1 else "if n > size - pos:"):
                src.add(f"raise array_overrun({self._label!r}, {path!r}, n, size - pos)")
            if isinstance(element, Primitive) and len(element.code) == 1:
                runs = src.constant("RUNS", helpers.integer_runs(element.code))
                src.add(f"{target} = {runs}.unpack(buf, pos, n)")
                src.add(f"pos += n * {element.size}" if element.size > 1 else "pos += n")
            else:
                self._elements(element, target, flexible, path)
        with src.block("elif n == 1:" if flexible else "elif n == 0:"):
            src.add(f"{target} = []")
        self._null(target, nullable, flexible, path, "[]")

    def _elements(self, element: Any, target: str, flexible: bool, path: str) -> None:
        src = self._src
        items, item = src.local("items"), src.local("item")
        src.add(f"{items} = []")
        with src.block("for _ in range(n):"):
            if isinstance(element, Primitive | ArrayOf):
                self._value(element, item, nullable=False, flexible=flexible, path=path)
            else:
                self._struct(element, item, flexible, f"{path}.")
            self._flush()
            src.add(f"{items}.append({item})")
        src.add(f"{target} = {items}")

    def _length(self, flexible: bool, code: str, mostly_long: bool = False) -> None:
        """Read a length or count into `n`, unchanged: the compact form is the value plus one."""
        src = self._src
        self._fixed("B" if flexible else code, "n")
        self._flush()
        if not flexible:
            return
        with src.block("if n > 127:"):
            if not mostly_long:
                src.add("n, pos = uvarint_at(buf, pos - 1)")
                return
            # Records of 128 bytes to 2 MiB, the usual ones, are read without the call.
            src.add("second = buf[pos]")
            with src.block("if second < 128:"):
                src.add("n = n & 127 | second << 7")
                src.add("pos += 1")
            with src.block("else:"):
                src.add("third = buf[pos + 1]")
                with src.block("if third < 128:"):
                    src.add("n = n & 127 | (second & 127) << 7 | third << 14")
                    src.add("pos += 2")
                with src.block("else:"):
                    src.add("n, pos = uvarint_at(buf, pos - 1)")

    def _null(self, target: str, nullable: bool, flexible: bool, path: str, zero: str) -> None:
        """Write the code for a length that announces null."""
        length = "-1" if flexible else "n"
        if not nullable and self._lenient:
            with self._src.block("elif n == 0:" if flexible else "elif n == -1:"):
                self._src.add(f"{target} = {zero}")
                self._src.add(f"nulls.append(({path!r}, {zero}))")
        if not nullable:
            with self._src.block("else:"):
                self._src.add(f"raise refused_length({self._label!r}, {path!r}, {length})")
        elif flexible:
            with self._src.block("else:"):
                self._src.add(f"{target} = None")
        else:
            with self._src.block("elif n == -1:"):
                self._src.add(f"{target} = None")
            with self._src.block("else:"):
                self._src.add(f"raise refused_length({self._label!r}, {path!r}, {length})")

    # Runs of fixed-width fields…

    def _fixed(self, code: str, target: str) -> None:
        self._run.append((code, target))

    def _flush(self) -> None:
        if not self._run:
            return
        codes = "".join(code for code, _ in self._run)
        targets = ", ".join(target for _, target in self._run)
        if codes == "B":
            self._src.add(f"{targets} = buf[pos]")
        elif len(self._run) == 1:
            self._src.add(f"{targets} = {self._src.method(codes, 'unpack_from')}(buf, pos)[0]")
        else:
            self._src.add(f"{targets} = {self._src.method(codes, 'unpack_from')}(buf, pos)")
        self._src.add(f"pos += {self._src.struct(codes).size}")
        for line in self._after_run:
            self._src.add(line)
        self._run.clear()
        self._after_run.clear()


def _is_flexible(field: StructField, version: int, flexible: bool) -> bool:
    return flexible if field.flexible is None else version in field.flexible


def has_records(kind: Any, version: int) -> bool:
    """Return whether a value of this type may hold record batches in this version."""
    if isinstance(kind, Primitive):
        return kind.name == "records"
    if isinstance(kind, ArrayOf):
        return has_records(kind.element, version)
    return any(
        has_records(field.type, version) for field in fields_of(kind) if version in field.versions
    )


def min_size(kind: Any, version: int, flexible: bool) -> int:
    """Return the fewest bytes that a value of this type takes, at least 1.

    So the frame's size limits every count.
    """
    if isinstance(kind, ArrayOf):
        return 1 if flexible else 4
    if isinstance(kind, Primitive):
        if kind.code:
            return kind.size
        return 1 if flexible else 2 if kind.name == "string" else 4
    total = 1 if flexible else 0
    for field in fields_of(kind):
        if version not in field.versions or version in field.tagged:
            continue
        is_nullable_struct = version in field.nullable and not isinstance(
            field.type, Primitive | ArrayOf
        )
        total += 1 if is_nullable_struct else min_size(field.type, version, flexible)
    return max(total, 1)


__all__ = ["DecoderSource", "has_records", "min_size"]
