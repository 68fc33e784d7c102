"""The writers that Spark calls: the meaning of the columns, and each step of task and driver.

Records come at least once: a task that Spark tries again sends its rows again. With transactions
they count exactly once. `transactional_write` does this in executors and `transactional_commit` in
the driver.
"""

import logging
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from aiokafka_lite.errors import IllegalStateError, KafkaConfigurationError
from aiokafka_lite.spark.compat import StreamArrowWriter
from aiokafka_lite.spark.options.local_files import spark_folder
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.options.user_words import told
from aiokafka_lite.spark.process.cargo import Travels
from aiokafka_lite.spark.read.arrow import COLUMNS
from aiokafka_lite.spark.write.task_place import SPECULATION, place_of, scope_of
from aiokafka_lite.spark.write.transactional_marker import TaskPlace, TaskTransaction

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

_BYTES: Final = ("string", "binary")
_TYPES: Final = {
    "topic": ("string",),
    "key": _BYTES,
    "value": _BYTES,
    "headers": (COLUMNS["headers"][1],),
    "partition": ("int",),
    "timestamp": ("timestamp", "double"),
}

_COLLATION: Final = re.compile(r" collate \w+(?=$|[,>])")
"""A collation says how texts are compared, and changes no byte of them."""


def checked_columns(fields: Iterable[tuple[str, str]], options: SinkOptions) -> tuple[str, ...]:
    """Return the columns to send, out of (name, Spark's type); columns of other names are ignored.

    Raises: KafkaConfigurationError for a type that is not accepted, or a missing column.
    """
    found = {name: _COLLATION.sub("", kind) for name, kind in fields if name in _TYPES}
    if options.topic is not None:
        found.pop("topic", None)
    elif "topic" not in found:
        raise KafkaConfigurationError(
            "the topic option is required when no 'topic' attribute is present: set the option"
            " topic, or add a column"
        )
    if "value" not in found:
        raise KafkaConfigurationError("required attribute 'value' not found")
    for name, kind in found.items():
        if kind not in _TYPES[name]:
            raise KafkaConfigurationError(
                f"{name} attribute unsupported type {kind}: {name} must be a"
                f" {' or '.join(_TYPES[name])}"
            )
    return tuple(found)


class TaskCommit(WriterCommitMessage):
    """The result of a task."""

    def __init__(self, rows: int, transaction: TaskTransaction | None = None) -> None:
        self.rows = rows
        self.transaction = transaction
        """The transaction that the driver has to end, in a transactional write."""


def place_of_task(options: SinkOptions, write_id: str | None) -> TaskPlace:
    """Return the place of this task in its write. Raises: as `place_of`; IllegalStateError."""
    context = TaskContext.get()
    if context is None:
        raise IllegalStateError("a transactional write is possible only in a task of Spark's")
    return place_of(options, write_id, context.partitionId(), context.getLocalProperty)


def _has_rivals() -> bool:
    """Return whether another attempt of this task may run, or may just have ended."""
    context = TaskContext.get()
    if context is None:
        return False
    is_again = context.attemptNumber() > 0
    return is_again or bool(context.getLocalProperty(SPECULATION) == "true")


def attempt_note() -> tuple[Path | None, int]:
    """Return where attempts of this task leave a note for each other, and which attempt it is."""
    context, folder = TaskContext.get(), spark_folder()
    if context is None or folder is None:
        return None, 0
    name = f".kafka-lite-final-{context.stageId()}-{context.partitionId()}"
    return Path(folder, name), context.attemptNumber()


class _TopicWriter(Travels):
    """The common steps of batch and stream writers, in an executor and then in the driver."""

    def __init__(
        self, columns: Sequence[str], options: SinkOptions, write_id: str | None = None
    ) -> None:
        self._columns = tuple(columns)
        self._options = options
        self._write_id = write_id

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> TaskCommit:
        """Send all rows and return when they are acknowledged.

        Raises: the error of a failed row; FinalError, at once, if an earlier attempt of the task
        has failed by an error that each attempt meets.
        """
        from aiokafka_lite.spark.write.final_errors import ends_attempts  # noqa: PLC0415

        with told(), ends_attempts(*attempt_note()):
            return self._written(iterator)

    def _written(self, iterator: "Iterator[pa.RecordBatch]") -> TaskCommit:
        # Imported where rows are sent: the processes that plan a write do not need it.
        if not self._options.is_transactional:
            from aiokafka_lite.spark.write.row_sender import write_rows  # noqa: PLC0415

            return TaskCommit(write_rows(iterator, self._columns, self._options))
        from aiokafka_lite.spark.write.fenced_attempt import waits_when_fenced  # noqa: PLC0415
        from aiokafka_lite.spark.write.transactional_write import (  # noqa: PLC0415
            write_in_transaction,
        )

        place = place_of_task(self._options, self._write_id)
        with waits_when_fenced():
            written = write_in_transaction(
                iterator, self._columns, self._options, place, has_rivals=_has_rivals()
            )
        return TaskCommit(written.rows, written)

    @told()
    def _commit(self, messages: Sequence[TaskCommit | None]) -> None:
        if self._options.is_transactional:
            from aiokafka_lite.spark.write.transactional_commit import (  # noqa: PLC0415
                commit_transactions,
            )

            commit_transactions(_transactions(messages), self._options)

    def _abort(self, messages: Sequence[TaskCommit | None]) -> None:
        if self._options.is_transactional:
            from aiokafka_lite.spark.write.transactional_commit import (  # noqa: PLC0415
                abort_transactions,
            )

            name = self._options.txn_app_id or self._write_id
            scope = None
            if name is not None:
                scope = scope_of(self._options.transactional_id_prefix, name)
            abort_transactions(_transactions(messages), self._options, scope=scope)


def _transactions(messages: Sequence[TaskCommit | None]) -> list[TaskTransaction | None]:
    return [None if message is None else message.transaction for message in messages]


class BatchWriter(_TopicWriter, DataSourceArrowWriter):
    """The write of a batch query, also within foreachBatch."""

    def __init__(
        self, columns: Sequence[str], options: SinkOptions, *, overwrite: bool = False
    ) -> None:
        if overwrite:
            raise KafkaConfigurationError(
                "save mode overwrite is not allowed for Kafka, whose topics only grow; use append"
            )
        super().__init__(columns, options, write_id=str(uuid.uuid4()))

    def commit(self, messages: list[Any]) -> None:
        """Commit the rows of all tasks. Raises: as `commit_transactions`."""
        self._commit(messages)

    def abort(self, messages: list[Any]) -> None:
        """Abort all rows that are not committed yet."""
        self._abort(messages)


def stream_writer(columns: Sequence[str], options: SinkOptions) -> Any:
    """Return the writer of a stream.

    Raises: KafkaConfigurationError before Spark 4.1, or for options of foreachBatch.
    """
    if StreamArrowWriter is None:
        raise KafkaConfigurationError(
            "writing a stream needs PySpark 4.1, which hands rows over as Arrow; with 4.0 write in"
            " foreachBatch, by df.write.format('kafka-lite')"
        )

    if options.txn_app_id is not None:
        raise KafkaConfigurationError(
            "options txnAppId and txnVersion are for writes in foreachBatch; the batches of this"
            " stream have numbers of their own, so leave them out"
        )

    class StreamWriter(_TopicWriter, StreamArrowWriter):
        """The write of a stream, batch by batch."""

        def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - PySpark's
            self._commit(messages)
            rows = sum(each.rows for each in messages if each is not None)
            logger.debug("batch %d: %d rows are written", batchId, rows)

        def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - PySpark's
            self._abort(messages)
            rows = sum(each.rows for each in messages if each is not None)
            logger.warning(
                "batch %d did not end, and will come again; %d rows of it are %s",
                batchId,
                rows,
                "aborted" if self._options.is_transactional else "in their topics",
            )

    return StreamWriter(columns, options)


__all__ = [
    "BatchWriter",
    "TaskCommit",
    "attempt_note",
    "checked_columns",
    "place_of_task",
    "stream_writer",
]
