"""What an admin call did for each thing that it was asked for: a value, or an error.

Does not wait.
"""

import re
from typing import Final, Generic, TypeVar

from aiokafka_lite.errors import BrokerResponseError, KafkaError, for_code

_TO_AN_ADMINISTRATOR: Final = {
    22: "The group has members, and only they may commit offsets for it.",
    25: "The group has members, and what was named is none of them.",
    26: "The session timeout lies outside the range the broker allows.",
    27: "The group has members, and is rebalancing.",
    47: "The partition knows a newer epoch of this producer: it was replaced, or has gone on since"
    " it was looked at.",
    49: "The transactional id has another producer id by now.",
    50: "The time asked for, request_timeout_ms of this client, is larger than the broker's"
    " transaction.max.timeout.ms.",
    52: "The partition has a marker of a newer coordinator: look at its producers again.",
    79: "The group has members, and only they may do this.",
    82: "The instance id belongs to another member by now.",
    90: "Another client took the transactional id meanwhile.",
    110: "The group has members, and only they may commit offsets for it.",
    113: "The group has members, and only they may commit offsets for it.",
    128: "The regular expression is not valid for the broker, which takes those of RE2.",
}
"""What codes mean to somebody who is no member of the group, and not the producer."""

K = TypeVar("K")
V = TypeVar("V")


class Outcomes(dict[K, V | KafkaError], Generic[K, V]):
    """A dict: each thing that was asked for -> its result, or the error with which it failed.

    The order is that of the question. What a call cannot do at all, it raises instead.
    """

    @property
    def succeeded(self) -> dict[K, V]:
        """The things without an error, and their results."""
        return {key: each for key, each in self.items() if not isinstance(each, KafkaError)}

    @property
    def failed(self) -> dict[K, KafkaError]:
        """The things that failed, and their errors."""
        return {key: each for key, each in self.items() if isinstance(each, KafkaError)}

    def raise_first(self) -> None:
        """Raise the error of the first thing that failed; do nothing if all succeeded."""
        for error in self.failed.values():
            raise error


def broker_error(code: int, message: str | None, subject: str) -> BrokerResponseError | None:
    """Return the error of a node's result; None without one.

    Its text is the node's message, or the description of the code. `subject`, such as "topic 'a'",
    begins it unless the message names it.
    """
    if code == 0:
        return None
    kind = for_code(code)
    text = kind.explained(message or _TO_AN_ADMINISTRATOR.get(code))
    name = subject.partition("'")[2].rstrip("'") or subject
    return kind(text if _is_named(name, message or "") else f"{subject}: {text}")


def raise_broker_error(code: int, message: str | None, subject: str) -> None:
    """Raise what `broker_error` returns; do nothing without an error."""
    error = broker_error(code, message, subject)
    if error is not None:
        raise error


def _is_named(name: str, text: str) -> bool:
    """Return whether a text has the name as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


__all__ = ["Outcomes", "broker_error", "raise_broker_error"]
