"""Reads the options that a dataclass declares, docstrings included, from its source.

The docstring below a field says what the option does. It ends with where the option comes from:
"Java: linger.ms.", or "Not in Java.", and "Not in aiokafka.", or for neither "Only here.".
Does not wait.
"""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, get_args, get_origin

from aiokafka_lite.options.units import UNITS

_JAVA = re.compile(r" ?Java: ([a-z\d.]+)\.(?= |$)")
_NOT_IN_AIOKAFKA = " Not in aiokafka."
_ONLY_HERE = " Only here."
_NOT_IN_JAVA = " Not in Java."


class Option(NamedTuple):
    """What is declared of one option."""

    name: str
    type: str
    """In Python, with units and enumerations written out."""
    default: object
    unit: str
    """In words; empty for what is no number."""
    text: str
    """What the option does; empty where the source cannot be read."""
    java: str | None
    """The name in Java; None where Java does not have the option."""
    is_in_aiokafka: bool
    module: str
    """Where the names in the type are known."""

    @property
    def default_in_python(self) -> str:
        """The default as users write it: "latest", 30_000."""
        if isinstance(self.default, str):
            return f'"{self.default}"'
        is_long = isinstance(self.default, int) and self.default >= 10_000
        return f"{self.default:_}" if is_long else repr(self.default)

    @property
    def default_text(self) -> str:
        """The default with the unit of a number: "5 milliseconds"."""
        shown = self.default_in_python
        if not self.unit or self.default is None:
            return shown
        return f"{shown} {self.unit if self.default != 1 else _one(self.unit)}"

    @property
    def origin(self) -> str:
        """Which other clients have the option, in the words of its docstring."""
        if self.java is None and not self.is_in_aiokafka:
            return _ONLY_HERE.strip()
        java = _NOT_IN_JAVA.strip() if self.java is None else f"Java: {self.java}."
        return java if self.is_in_aiokafka else java + _NOT_IN_AIOKAFKA


def _one(unit: str) -> str:
    return "retry" if unit == "retries" else unit.removesuffix("s")


class _Declaration(NamedTuple):
    annotation: ast.expr
    text: str
    module: str


def declared_options(config: type) -> list[Option]:
    """Return the options of a dataclass in the order of its fields, those of its bases first."""
    found: dict[str, _Declaration] = {}
    for owner in reversed(config.__mro__):
        if dataclasses.is_dataclass(owner):
            found.update(_declarations(owner))
    fields: Any = dataclasses.fields(config)
    return [_option(field, found.get(field.name)) for field in fields if field.init]


def help_text(config: type) -> str:
    """Return the part of a class's help that describes its options, in lines of 88 characters."""
    lines = ["Options:"]
    indent = " " * 8
    for option in declared_options(config):
        lines.append(f"    {option.name}: {option.type} = {option.default_in_python}")
        if option.text:
            text = f"{option.text} {option.origin}"
            lines += textwrap.wrap(text, 88, initial_indent=indent, subsequent_indent=indent)
    return "\n".join(lines)


def _declarations(owner: type) -> Iterator[tuple[str, _Declaration]]:
    try:
        body = ast.parse(inspect.cleandoc("\n" + inspect.getsource(owner))).body[0]
    except (OSError, SyntaxError):
        return  # installed without sources
    assert isinstance(body, ast.ClassDef)
    for statement, below in zip(body.body, [*body.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            annotation = _unquoted(statement.annotation)
            declaration = _Declaration(annotation, _docstring(below), owner.__module__)
            yield statement.target.id, declaration


def _unquoted(annotation: ast.expr) -> ast.expr:
    """Return the type of an annotation; it is quoted if only type checkers import its names."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.parse(annotation.value, mode="eval").body
    return annotation


def _docstring(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def _option(field: Any, declaration: _Declaration | None) -> Option:
    if declaration is None:
        shown = inspect.formatannotation(field.type)
        return Option(field.name, shown, field.default, "", "", None, True, "builtins")
    text, unit = declaration.text, _unit(declaration.annotation)
    written_out = _WrittenOut(vars(sys.modules[declaration.module])).visit(declaration.annotation)
    java = _JAVA.search(text)
    is_ours = text.endswith(_ONLY_HERE)
    is_in_aiokafka = not (is_ours or text.endswith(_NOT_IN_AIOKAFKA))
    text = _JAVA.sub("", text).removesuffix(_NOT_IN_AIOKAFKA).removesuffix(_ONLY_HERE)
    return Option(
        field.name,
        ast.unparse(written_out),
        field.default,
        unit,
        text.removesuffix(_NOT_IN_JAVA),
        java and java[1],
        is_in_aiokafka,
        declaration.module,
    )


def _unit(annotation: ast.expr) -> str:
    names = (node.id for node in ast.walk(annotation) if isinstance(node, ast.Name))
    return next((UNITS[name] for name in names if name in UNITS), "")


class _WrittenOut(ast.NodeTransformer):
    """Puts int in place of a unit, and the choices in place of the name of an enumeration."""

    def __init__(self, known: Mapping[str, object]) -> None:
        self._known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return what stands for a name."""
        if node.id in UNITS:
            return ast.Name("int")
        named = self._known.get(node.id)
        if get_origin(named) is Literal:
            return ast.parse(f"Literal[{', '.join(map(repr, get_args(named)))}]", mode="eval").body
        return node


__all__ = ["Option", "declared_options", "help_text"]
