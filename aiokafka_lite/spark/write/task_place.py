"""Decides which query and which batch a task of a transactional write belongs to.

In a stream and in the thread of foreachBatch, Spark tells it by properties of the task. Elsewhere
the options `txnAppId` and `txnVersion` tell it. A write that may be part of a stream, but has
neither, is refused: a repeated batch would be written twice. Does not wait.
"""

from collections.abc import Callable
from typing import Final

from aiokafka_lite.errors import IllegalStateError, KafkaConfigurationError
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.write.transactional_marker import TaskPlace

_QUERY: Final = "sql.streaming.queryId"
_BATCH: Final = "streaming.sql.batchId"
_TAGS: Final = "spark.job.tags"
SPECULATION: Final = "spark.speculation"
"""A setting of the application. Tasks have the settings of their session as properties."""
_CONNECT: Final = "SparkConnect_OperationTag"
_OF_STREAM: Final = {
    "spark.sql.requireAllClusterKeysForDistribution": "false",
    "spark.sql.cbo.enabled": "false",
}
"""Settings that Spark makes in the session of a stream. Tasks have all settings of their session.

Only the session tells that a batch is written in another thread than that of foreachBatch.
"""

Property = Callable[[str], str | None]
"""Returns a property that Spark gives the task."""


def place_of(options: SinkOptions, write_id: str | None, task: int, told: Property) -> TaskPlace:
    """Return the place of a task in its write.

    `write_id` names the write of a batch query; in a stream it is None. A batch query within
    foreachBatch is part of its stream. With speculation a batch query is batch 0 of its own, whose
    marker lets an attempt see that another one has ended. Raises: KafkaConfigurationError for a
    write whose query and batch cannot be known; IllegalStateError for a stream if Spark tells
    nothing.
    """
    prefix = options.transactional_id_prefix
    if options.txn_app_id is not None:
        return TaskPlace(scope_of(prefix, options.txn_app_id), task, options.txn_version)
    query, batch = told(_QUERY), told(_BATCH)
    if query is not None and batch is not None:
        return TaskPlace(scope_of(prefix, query), task, int(batch))
    if write_id is None:
        raise IllegalStateError(
            "Spark does not say which batch of which query a task belongs to; leave out"
            " delivery=transactional"
        )
    if _CONNECT in (told(_TAGS) or ""):
        raise _unknown("Over Spark Connect, Spark does not say")
    if all(told(name) == text for name, text in _OF_STREAM.items()):
        raise _unknown("In another thread than that of foreachBatch, Spark does not say")
    batch_id = 0 if told(SPECULATION) == "true" else None
    return TaskPlace(scope_of(prefix, write_id), task, batch_id)


def _unknown(reason: str) -> KafkaConfigurationError:
    return KafkaConfigurationError(
        f"{reason} which query and batch a write with delivery=transactional belongs to. A repeated"
        " batch would be written twice. Set the options txnAppId, a name of the query that stays"
        " the same, and txnVersion, the batch id that foreachBatch gets. For a write outside of a"
        " stream set a new txnAppId, and txnVersion=0"
    )


def scope_of(prefix: str, write_id: str) -> str:
    """Return the common beginning of the transactional ids of a write or a stream."""
    return f"{prefix}-{write_id}"


__all__ = ["SPECULATION", "Property", "place_of", "scope_of"]
