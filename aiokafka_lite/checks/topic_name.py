"""Owns the rule for topic names, for clients and the embedded broker. Does not wait.

The clients check names where users pass them. A name that no request can carry would otherwise fail
requests about other topics, too.
"""

import re
from typing import Final

from aiokafka_lite.errors import InvalidTopicError

_LEGAL_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}\Z")
_SHOWN_CHARACTERS: Final = 80


def check_topic_name(name: str) -> None:
    """Raise InvalidTopicError unless `name` is a legal topic name. Source: Topic.validate."""
    if not _LEGAL_NAME.match(name) or name in (".", ".."):
        raise InvalidTopicError(
            f"topic {_shortened(name)} cannot exist: a topic's name has 1 to 249 characters out of "
            f"a-z, A-Z, 0-9, '.', '_' and '-', and is neither '.' nor '..'"
        )


def _shortened(name: str) -> str:
    """Return the name as error texts show it; a long name is cut and its length added."""
    if len(name) <= _SHOWN_CHARACTERS:
        return repr(name)
    return f"{name[:_SHOWN_CHARACTERS]!r}… ({len(name):,} characters)"


__all__ = ["check_topic_name"]
