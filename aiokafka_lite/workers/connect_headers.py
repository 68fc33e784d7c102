"""Names the headers of dead letters as Kafka Connect does, and makes them. Does not wait.

Source: KIP-298, org.apache.kafka.connect.runtime.errors.DeadLetterQueueReporter.
"""

import traceback
from typing import Any, Final

from aiokafka_lite.model import ConsumerRecord

PREFIX: Final = "__connect.errors."
STAGE: Final = "TASK_PUT"
"""Connect's name for the stage that handles a record."""
MOST_TEXT: Final = 8192
"""Characters of a message or a stack trace: a dead letter has to fit into a request."""


def dead_letter_headers(
    record: ConsumerRecord[Any, Any], error: BaseException, *, name: str, member: str, handler: str
) -> list[tuple[str, bytes | None]]:
    """Return the record's own headers, then those that say where it failed and why.

    `name` is the group, in the place of Connect's connector. `member` is the client id, in the
    place of its task. `handler` is the name of the function that failed.
    """
    stack = "".join(traceback.format_exception(error))
    facts = {
        "topic": record.topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "connector.name": name,
        "task.id": member,
        "stage": STAGE,
        "class.name": handler,
        "exception.class.name": f"{type(error).__module__}.{type(error).__qualname__}",
        "exception.message": str(error)[:MOST_TEXT],
        "exception.stacktrace": stack[-MOST_TEXT:],
    }
    added = [(PREFIX + fact, text.encode("utf-8", "replace")) for fact, text in facts.items()]
    return [*record.headers, *added]


__all__ = ["MOST_TEXT", "PREFIX", "STAGE", "dead_letter_headers"]
