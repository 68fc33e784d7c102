"""Owns the rule what a topic may be called, for clients and the embedded broker. Plain functions.

The clients check names where users give them: a name that no request can carry would otherwise
fail requests that are also about other topics.
"""

import re
from typing import Final

from aiokafka_lite.errors import InvalidTopicError

_LEGAL_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}\Z")
_SHOWN_CHARACTERS: Final = 80


def check_topic_name(name: str) -> None:
    """Raise InvalidTopicError unless a topic may be called `name`. Source: Topic.validate."""
    if not _LEGAL_NAME.match(name) or name in (".", ".."):
        raise InvalidTopicError(
            f"topic {_shortened(name)} cannot exist: a topic's name has 1 to 249 characters out of "
            f"a-z, A-Z, 0-9, '.', '_' and '-', and is neither '.' nor '..'"
        )


def _shortened(name: str) -> str:
    """Return the name as error texts show it, with its length if it is long."""
    if len(name) <= _SHOWN_CHARACTERS:
        return repr(name)
    return f"{name[:_SHOWN_CHARACTERS]!r}… ({len(name):,} characters)"


__all__ = ["check_topic_name"]
