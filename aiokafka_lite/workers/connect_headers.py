"""Names the headers of dead letters as Kafka Connect does, and makes them. Does not wait.

Source: KIP-298, org.apache.kafka.connect.runtime.errors.DeadLetterQueueReporter.
"""

import traceback
from typing import Any, Final
from uuid import UUID

from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.schema.field_types import ZERO_UUID

PREFIX: Final = "__connect.errors."
STAGE: Final = "TASK_PUT"
"""Connect's name for the stage that handles a record."""
MOST_TEXT: Final = 8192
"""Characters of a message or a stack trace: a dead letter has to fit into a request."""


class LogIdentity(NamedTuple):
    """What tells the log of a partition from another one of the same name."""

    topic_id: UUID
    """ZERO_UUID: not known, as before Kafka 2.8."""
    leader_epoch: int
    """That of the newest record before the position; -1: not known."""


def dead_letter_headers(
    record: ConsumerRecord[Any, Any],
    error: BaseException,
    *,
    name: str,
    member: str,
    handler: str,
    log: LogIdentity | None = None,
) -> list[tuple[str, bytes | None]]:
    """Return the record's own headers, then those that say where it failed and why.

    `name` is the group, in the place of Connect's connector. `member` is the client id, in the
    place of its task. `handler` is the name of the function that failed. `log` tells a topic that
    was made anew under the name, where the offset means another record; Connect has no header of
    it.
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
    if log is not None and log.topic_id != ZERO_UUID:
        facts["topic.id"] = str(log.topic_id)
    if log is not None and log.leader_epoch >= 0:
        facts["leader.epoch"] = str(log.leader_epoch)
    added = [(PREFIX + fact, text.encode("utf-8", "replace")) for fact, text in facts.items()]
    return [*record.headers, *added]


__all__ = ["MOST_TEXT", "PREFIX", "STAGE", "LogIdentity", "dead_letter_headers"]
