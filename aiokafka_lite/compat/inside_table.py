"""Reads the table of what aiokafka's modules have, `inside_names`. Does not wait.

Apart from `inside`, which makes those names: a program that uses none of them loads nothing else.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from aiokafka_lite.compat.inside_names import NAMES


class Entry(NamedTuple):
    """What the table says of a name."""

    kind: str
    words: list[str]


@cache
def entries(path: str) -> Mapping[str, Entry]:
    """Return name -> entry of one module; none for a module that aiokafka does not have."""
    start = f"\n[{path}]\n"
    _, found, rest = f"\n{NAMES}".partition(start)
    if not found:
        return {}
    named: dict[str, Entry] = {}
    text = f"\n{rest}".partition("\n[")[0].replace("\n ", " ")
    for line in text.strip().splitlines():
        name, kind, *words = line.split(" ")
        if name == "<":
            named.update({each: Entry("from", [f"{kind}:{each}"]) for each in words})
        elif name == "*":
            named.update({each: Entry("module", [each]) for each in (kind, *words)})
        else:
            named[name] = Entry(kind, words)
    return named


@cache
def module_paths() -> frozenset[str]:
    """Return the paths of all modules below `aiokafka`."""
    return frozenset(line[1:-1] for line in NAMES.splitlines() if line.startswith("["))


__all__ = ["Entry", "entries", "module_paths"]
