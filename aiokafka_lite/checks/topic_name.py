"""Owns the rule for topic names, for clients and the embedded broker. Does not wait.

The clients check names where users pass them. A name that no request can carry would otherwise fail
requests about other topics, too.
"""

import re
from typing import Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import InvalidTopicError

_LEGAL_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}\Z")


def check_topic_name(name: str) -> None:
    """Raise InvalidTopicError unless `name` is a legal topic name. Source: Topic.validate."""
    if not _LEGAL_NAME.match(name) or name in (".", ".."):
        raise InvalidTopicError(
            f"topic {quoted(name)} cannot exist: a topic's name has 1 to 249 characters out of "
            f"a-z, A-Z, 0-9, '.', '_' and '-', and is neither '.' nor '..'"
        )


__all__ = ["check_topic_name"]
