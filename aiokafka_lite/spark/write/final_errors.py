"""Says of an error whether further attempts of a task would meet it, too, and ends those at once.

Spark tries a failed task four times, and a source in Python cannot tell it that an error is final.
So the first attempt leaves a note on its machine, in the folder that Spark makes for an application
and removes with it. A later attempt of the task elsewhere finds no note, and tries again.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from aiokafka_lite.errors import (
    AuthenticationFailedError,
    IllegalArgumentError,
    InvalidTimestampError,
    KafkaConfigurationError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    RecordTooLargeError,
    SerializationError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.kafka_error import KafkaError, reason_of
from aiokafka_lite.spark.options.user_words import name_options

logger = logging.getLogger(__name__)

_FINAL: Final = (
    IllegalArgumentError,
    InvalidTimestampError,
    KafkaConfigurationError,
    MessageSizeTooLargeError,
    RecordTooLargeError,
    SerializationError,
    TopicAuthorizationFailedError,
)
_NO_PARTITION: Final = re.compile(r"partition \d+ of topic .* did not appear within ")
_TEXT: Final = (
    "this is final, and further attempts of the task would fail as well: change the rows or the"
    " options"
)


class FinalError(KafkaError):
    """An earlier attempt of this task failed by an error that each attempt would meet."""


def is_final(error: BaseException) -> bool:
    """Return whether the same rows and options fail again."""
    if isinstance(error, KafkaTimeoutError):
        return _NO_PARTITION.match(reason_of(error)) is not None
    return isinstance(error, _FINAL) and not isinstance(error, AuthenticationFailedError)


@contextmanager
def ends_attempts(note: Path | None, attempt: int) -> Iterator[None]:
    """Mark a final error as such, and note it for later attempts; None: there is no place for it.

    Raises: FinalError in a later attempt, before it does anything.
    """
    if attempt and note is not None and note.exists():
        raise FinalError(f"final: an earlier attempt of this task failed, {note.read_text()}")
    try:
        yield
    except Exception as error:
        if is_final(error):
            name_options(error)
            reason = reason_of(error)
            error.args = (f"{reason} ({_TEXT})", *error.args[1:])
            logger.error("final: %s", reason)  # noqa: TRY400 - Spark shows the traceback
            _leave(note, reason)
        raise


def _leave(note: Path | None, text: str) -> None:
    if note is None:
        return
    try:
        note.write_text(text)
    except OSError as error:  # attempts then cost what they cost
        logger.info("no note of a final error in %s: %s", note, error)


__all__ = ["FinalError", "ends_attempts", "is_final"]
