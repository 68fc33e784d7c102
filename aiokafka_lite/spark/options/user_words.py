"""Puts errors into the words of who uses Spark: options instead of arguments of the clients.

`told` stands around what Spark calls. Does not wait.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aiokafka_lite.kafka_error import KafkaError, reason_of
from aiokafka_lite.spark.options.kafka_keys import CONSUMER, PREFIX, PRODUCER

_WORDS: Final[dict[str, str]] = {
    **{
        argument: f"{PREFIX}{name}"
        for name, (argument, _) in {**CONSUMER, **PRODUCER}.items()
        if "_" in argument  # others, such as `retries`, are words of a sentence, too
    },
    "security_protocol": f"{PREFIX}security.protocol",
    "sasl_mechanism": f"{PREFIX}sasl.mechanism",
    "sasl_plain_username": f"{PREFIX}sasl.jaas.config",
    "sasl_plain_password": f"{PREFIX}sasl.jaas.config",
    "transaction_timeout_ms": "transactionTimeoutMs",
    "transactional_id needs": "delivery=transactional needs",
    "group_id": "commitGroupId",
    "timestamp_ms": "timestamp",
}
"""What a user of Spark has written, by the client's name for it: options, and a column."""
_SHORT: Final = {argument: f"{PREFIX}{name}" for name, (argument, _) in PRODUCER.items()}
_ARGUMENTS: Final = re.compile(rf"(?<![\w.])(?:(?:{'|'.join(_WORDS)})(?!\w)|(?:acks|retries)(?==))")
_MOST_CAUSES: Final = 10
_SIMPLIFIES: Final = "SPARK_SIMPLIFIED_TRACEBACK"
"""Set in Spark's Python processes by default."""


class WhatToDo(Exception):
    """The sentence of an error once more, without a traceback, so that it stands before that of
    the error.
    """


def with_options(text: str) -> str:
    """Return a text that names options where it named arguments of the clients."""
    return _ARGUMENTS.sub(lambda found: _WORDS.get(found[0]) or _SHORT[found[0]], text)


def name_options(error: BaseException) -> None:
    """Let the texts of an error and of its causes name options."""
    each: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if each is None:
            return
        if each.args and isinstance(each.args[0], str):
            each.args = (with_options(each.args[0]), *each.args[1:])
        each = each.__cause__


@contextmanager
def told() -> Iterator[None]:
    """Raise errors with options in their texts, and with a line before their tracebacks."""
    try:
        yield
    except (KafkaError, ValueError) as error:
        name_options(error)
        line = WhatToDo(reason_of(error))
        # The cause stays for debuggers. Its traceback would come before the line.
        line.__context__, line.__suppress_context__ = error.__cause__, True
        if os.environ.get(_SIMPLIFIES) and isinstance(error, KafkaError):
            _keep_cause(error, line)
        raise error from line


def _keep_cause(error: BaseException, cause: BaseException) -> None:
    """Let an error show this cause, whatever is assigned: PySpark takes causes away from errors,
    together with its own frames, before it formats them.
    """
    kind = type(error)
    shown = property(lambda _: cause, lambda _, __: None)
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    error.__class__ = type(kind.__name__, (kind,), {**names, "__slots__": (), "__cause__": shown})


__all__ = ["WhatToDo", "name_options", "told", "with_options"]
