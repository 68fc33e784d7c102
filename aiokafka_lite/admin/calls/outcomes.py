"""What an admin call did for each thing that it was asked for: a value, or an error.

Does not wait.
"""

import re
from typing import Generic, TypeVar

from aiokafka_lite.errors import BrokerResponseError, KafkaError, for_code

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
    text = kind.explained(message)
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
