"""Finds loops over a dict, set or deque that belongs to an object, and not to one call.

A finalizer, a log handler or a signal handler may call the client in the middle of such a loop, and
change what it runs over. `list(…)` and `.copy()` have no such hole: they run no Python code.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

_CHANGE = frozenset(("dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "WeakSet"))
_VIEWS = frozenset(("items", "values", "keys"))
_LOOPS = frozenset(
    ("all", "any", "enumerate", "filter", "iter", "map", "max", "min", "sum", "tuple", "zip")
)
"""Functions that loop over their arguments while other code may run, or while they allocate."""


def live_loops(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of what each such loop of a file runs over."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            names = frozenset(_changing(node))
            for looped in _looped(node):
                if _is_live(looped, names):
                    yield looped.lineno, ast.unparse(looped)


def _changing(of: ast.ClassDef) -> Iterator[str]:
    """Yield the attributes of a class that are declared as what may change."""
    for node in ast.walk(of):
        if isinstance(node, ast.AnnAssign):
            kind = ast.unparse(node.annotation).strip("'\"").partition("[")[0].rpartition(".")[2]
            if kind in _CHANGE and isinstance(node.target, ast.Attribute):
                yield node.target.attr


def _looped(of: ast.ClassDef) -> Iterator[ast.expr]:
    for node in ast.walk(of):
        if isinstance(node, ast.For | ast.comprehension):
            yield node.iter
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            views = name in {"list", "set", "frozenset", "sorted"}
            for argument in node.args:
                if name in _LOOPS or (views and ast.unparse(argument).endswith(".items()")):
                    yield argument


def _is_live(looped: ast.expr, names: frozenset[str]) -> bool:
    if (
        isinstance(looped, ast.Call)
        and isinstance(looped.func, ast.Attribute)
        and looped.func.attr in _VIEWS
    ):
        looped = looped.func.value
    return (
        isinstance(looped, ast.Attribute)
        and isinstance(looped.value, ast.Name)
        and looped.value.id == "self"
        and looped.attr in names
    )


__all__ = ["live_loops"]
