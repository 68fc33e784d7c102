"""Patterns of topics that the broker matches (SubscribedTopicRegex): RE2's language, in Python's.

Does not wait. What RE2 lacks is refused. Source: Utils.throwIfRegularExpressionIsInvalid, KIP-848.
"""

import re
from collections.abc import Iterable

from aiokafka_lite.errors import InvalidRegularExpressionError

_NOT_IN_RE2 = re.compile(
    r"(?<!\\)(?:\\\\)*(?:\(\?(?:=|!|<=|<!|>|#|\()|\(\?P=\w+\)|\\[1-9]|[*+?}]\+|\\Z)"
)
"""Lookaround, back references, atomic groups, conditions, comments, possessive repeats."""


def check_pattern(pattern: str) -> None:
    """Raise InvalidRegularExpressionError unless RE2 knows the pattern."""
    why = "invalid or unsupported Perl syntax" if _NOT_IN_RE2.search(pattern) else None
    try:
        re.compile(_in_python(pattern))
    except re.error as error:
        why = str(error)
    if why is not None:
        raise InvalidRegularExpressionError(
            f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {why}."
        )


def matching(pattern: str, topics: Iterable[str]) -> frozenset[str]:
    """Return the topics whose whole name matches."""
    compiled = re.compile(_in_python(pattern))
    return frozenset(topic for topic in topics if compiled.fullmatch(topic))


def _in_python(pattern: str) -> str:
    return pattern.replace("\\z", "\\Z")


__all__ = ["check_pattern", "matching"]
