"""The text of a function under construction: lines, indentation and constants. Does not wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from struct import Struct
from typing import Any

_LITERALS = (bool, int, str, bytes)


class SourceText:
    """Collects lines; `constants` is the namespace the finished text is executed in."""

    def __init__(self, constants: dict[str, Any] | None = None) -> None:
        """`constants`: those of the functions that share a namespace with this one."""
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {} if constants is None else constants
        self._indent = 0
        self._structs: dict[str, Struct] = {}
        self._locals = 0

    def add(self, line: str) -> None:
        self.lines.append("    " * self._indent + line)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Put the lines that are added inside under `header` (an `if`, `for` or `try`)."""
        self.add(header)
        self._indent += 1
        yield
        self._indent -= 1

    def local(self, hint: str) -> str:
        """Return an unused name for a local variable."""
        self._locals += 1
        return f"{hint}_{self._locals}"

    def literal(self, value: Any) -> str:
        """Return `value` as an expression: as a literal if possible, else as the name of a
        constant.
        """
        if value is None or isinstance(value, _LITERALS):
            return repr(value)
        return self.constant("DEFAULT", value)

    def constant(self, hint: str, value: Any) -> str:
        """Return the name by which the function finds `value`. The same value keeps its name."""
        for name, known in self.constants.items():
            if known is value:
                return name
        name = f"{hint}_{len(self.constants)}"
        self.constants[name] = value
        return name

    def struct(self, codes: str) -> Struct:
        """Return the big-endian `Struct` of these format letters."""
        if codes not in self._structs:
            self._structs[codes] = Struct(f">{codes}")
        return self._structs[codes]

    def method(self, codes: str, method: str) -> str:
        """Return the name of `Struct(codes).pack` or `.unpack_from`, bound once."""
        name = f"{method}_{codes.replace('?', '_bool_')}"
        if name not in self.constants:
            self.constants[name] = getattr(self.struct(codes), method)
        return name

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


__all__ = ["SourceText"]
