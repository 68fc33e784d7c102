"""Reads files in the format of Java's `.properties`, such as `client.properties` of Kafka's tools.

Source: java.util.Properties.load. The encoding is UTF-8, with Java's \\uXXXX. Does not wait.
"""

import re
from collections.abc import Iterator
from typing import Final

_SEPARATOR: Final = re.compile(r"(?<!\\)(?:\\\\)*(\s*[=:]\s*|\s+)")
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NAMED: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def parse_properties(text: str) -> dict[str, str]:
    """Return the names and values of a file. The last value of a name counts."""
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        match = _SEPARATOR.search(line)
        name, value = (line, "") if match is None else (line[: match.start(1)], line[match.end() :])
        found[_unescaped(name)] = _unescaped(value)
    return found


def _logical_lines(text: str) -> Iterator[str]:
    """Yield the lines without blanks and comments. A backslash at the end continues a line."""
    begun = ""
    for line in re.split(r"\r\n|\n|\r", text):
        stripped = line.lstrip()
        if not begun and (not stripped or stripped[0] in "#!"):
            continue
        begun += stripped
        if (len(begun) - len(begun.rstrip("\\"))) % 2:
            begun = begun[:-1]
        else:
            yield begun
            begun = ""
    if begun:
        yield begun


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _meaning(found[1]), text)


def _meaning(escaped: str) -> str:
    if len(escaped) > 1:
        return chr(int(escaped[1:], 16))
    return _NAMED.get(escaped, escaped)


__all__ = ["parse_properties"]
