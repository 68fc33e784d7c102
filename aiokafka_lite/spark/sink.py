"""Owns the write of rows to topics: what columns mean, and that a task has ended only when all its
records are acknowledged.

Records come at least once: a task that Spark tries again sends its rows again.
"""

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.spark.arrow import COLUMNS
from aiokafka_lite.spark.cargo import Travels
from aiokafka_lite.spark.compat import StreamArrowWriter
from aiokafka_lite.spark.sink_options import SinkOptions
from aiokafka_lite.spark.worker import Worker, worker

if TYPE_CHECKING:
    import pyarrow as pa

    from aiokafka_lite.producer.arrow_ack import ArrowAck

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
_SEND_BYTES: Final = 4 << 20
"""What goes to the producer at a time, so that its errors and acknowledgements are heard of."""


def checked_columns(fields: Iterable[tuple[str, str]], options: SinkOptions) -> tuple[str, ...]:
    """Return the columns to send, of (name, Spark's type); those of other names are left out.

    Raises KafkaConfigurationError for a type that is not taken, or a column that is missing.
    """
    found = {name: kind for name, kind in fields if name in _TYPES}
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
    """What a task has written."""

    def __init__(self, rows: int) -> None:
        self.rows = rows


class _TopicWriter(Travels):
    """What writers of batches and of streams do in an executor."""

    def __init__(self, columns: Sequence[str], options: SinkOptions) -> None:
        self._columns = tuple(columns)
        self._options = options

    def write(self, iterator: "Iterator[pa.RecordBatch]") -> TaskCommit:
        """Send all rows and return when they are acknowledged. Raises: why one was not."""
        return TaskCommit(write_rows(iterator, self._columns, self._options))


class BatchWriter(_TopicWriter, DataSourceArrowWriter):
    """A batch query's write."""

    def __init__(
        self, columns: Sequence[str], options: SinkOptions, *, overwrite: bool = False
    ) -> None:
        if overwrite:
            raise KafkaConfigurationError(
                "save mode overwrite is not allowed for Kafka, whose topics only grow; use append"
            )
        super().__init__(columns, options)


def stream_writer(columns: Sequence[str], options: SinkOptions) -> Any:
    """Return the writer of a stream. Raises KafkaConfigurationError before Spark 4.1."""
    if StreamArrowWriter is None:
        raise KafkaConfigurationError(
            "writing a stream needs PySpark 4.1, which hands rows over as Arrow; with 4.0 write in"
            " foreachBatch, by df.write.format('kafka-lite')"
        )

    class StreamWriter(_TopicWriter, StreamArrowWriter):
        """A stream's write, batch by batch."""

        def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - PySpark's
            rows = sum(each.rows for each in messages if each is not None)
            logger.debug("batch %d: %d rows are written", batchId, rows)

        def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803 - PySpark's
            rows = sum(each.rows for each in messages if each is not None)
            logger.warning(
                "batch %d failed; %d rows of it are in their topics, and will come again",
                batchId,
                rows,
            )

    return StreamWriter(columns, options)


def write_rows(
    batches: "Iterable[pa.RecordBatch]",
    columns: Sequence[str],
    options: SinkOptions,
    here: Worker | None = None,
) -> int:
    """Send the rows of all batches; return how many, when they are acknowledged.

    A row without key and value is a record like any other, as for Spark's own sink.

    Raises: SerializationError for a row without a topic; else as `AIOKafkaProducer.send_arrow` and
    the acknowledgements.
    """
    # Only where rows are sent: the processes that plan a write have no use for it.
    from aiokafka_lite.producer.producer import AIOKafkaProducer  # noqa: PLC0415 - see above

    here = worker() if here is None else here
    rows = 0
    with here.lend(AIOKafkaProducer, options.client) as producer:
        waiting: deque[ArrowAck] = deque()
        for batch in batches:
            for part in _parts(_sendable(batch, columns)):
                acks = _send(here, producer, part, options.topic)
                waiting.append(acks)
                rows += part.num_rows
                while waiting and waiting[0].done():
                    _confirm(here, waiting.popleft())
        for acks in waiting:
            _confirm(here, acks)
    return rows


def _send(here: Worker, producer: Any, part: "pa.RecordBatch", topic: str | None) -> "ArrowAck":
    async def send() -> "ArrowAck":
        acks: ArrowAck = await producer.send_arrow(part, topic, allow_empty=True)
        return acks

    return here.run(send)


def _confirm(here: Worker, acks: "ArrowAck") -> None:
    async def wait() -> None:
        await acks

    here.run(wait)


def _parts(batch: "pa.RecordBatch") -> "Iterator[pa.RecordBatch]":
    count = max(batch.num_rows * _SEND_BYTES // max(batch.nbytes, 1), 1)
    for start in range(0, batch.num_rows, count):
        yield batch.slice(start, count)


def _sendable(batch: "pa.RecordBatch", columns: Sequence[str]) -> "pa.RecordBatch":
    """Return the columns to send, as `send_arrow` takes them."""
    chosen = batch.select(list(columns))
    if "topic" in columns and chosen.column("topic").null_count:
        raise SerializationError(
            "null topic present in the data: use the option topic for one topic for all rows"
        )
    if "timestamp" in columns:
        chosen = _with_timestamps(chosen)
    return chosen


def _with_timestamps(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """Return the batch with seconds, if its timestamps are a double, made milliseconds."""
    import pyarrow as pa  # noqa: PLC0415 - as above
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    column = batch.column("timestamp")
    if not pa.types.is_floating(column.type):
        return batch
    millis = pc.floor(pc.multiply(column, 1000.0)).cast(pa.int64())
    return batch.set_column(batch.schema.get_field_index("timestamp"), "timestamp", millis)


__all__ = ["BatchWriter", "TaskCommit", "checked_columns", "stream_writer", "write_rows"]
