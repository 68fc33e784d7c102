"""Sends Arrow rows to topics in parts; it is done when all records are acknowledged."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from aiokafka_lite.errors import SerializationError
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.process.worker import Worker, worker

if TYPE_CHECKING:
    import pyarrow as pa

    from aiokafka_lite.producer.append.arrow.arrow_ack import ArrowAck
    from aiokafka_lite.producer.producer import AIOKafkaProducer

_SEND_BYTES: Final = 4 << 20
"""The bytes passed to the producer at a time, so that errors and acknowledgements are seen
early.
"""


def write_rows(
    batches: "Iterable[pa.RecordBatch]",
    columns: Sequence[str],
    options: SinkOptions,
    here: Worker | None = None,
) -> int:
    """Send the rows of all batches; return how many, when they are acknowledged.

    A row without key and value is a record like any other, as in Spark's own sink.

    Raises: SerializationError for a row without a topic; else as `AIOKafkaProducer.send_arrow` and
    the acknowledgements.
    """
    # Imported where rows are sent: the processes that plan a write do not need it.
    from aiokafka_lite.producer.producer import AIOKafkaProducer  # noqa: PLC0415

    here = worker() if here is None else here
    with here.lend(AIOKafkaProducer, options.client) as producer:
        return send_rows(here, producer, batches, columns, options.topic)


def send_rows(
    here: Worker,
    producer: "AIOKafkaProducer",
    batches: "Iterable[pa.RecordBatch]",
    columns: Sequence[str],
    topic: str | None,
) -> int:
    """Send the rows by a running producer; otherwise like `write_rows`."""
    rows = 0
    waiting: deque[ArrowAck] = deque()
    for batch in batches:
        for part in _parts(_sendable(batch, columns)):
            acks = _send(here, producer, part, topic)
            waiting.append(acks)
            rows += part.num_rows
            while waiting and waiting[0].done():
                _confirm(here, waiting.popleft())
    here.run(producer.flush)  # nothing else will come, so batches need not linger
    for acks in waiting:
        _confirm(here, acks)
    return rows


def _send(here: Worker, producer: Any, part: "pa.RecordBatch", topic: str | None) -> "ArrowAck":
    async def send() -> "ArrowAck":
        acks: ArrowAck = await producer.send_arrow(part, topic)
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
    """Return the columns to send, in the form of `send_arrow`."""
    chosen = batch.select(list(columns))
    if "topic" in columns and chosen.column("topic").null_count:
        raise SerializationError(
            "null topic present in the data: use the option topic for one topic for all rows"
        )
    if "timestamp" in columns:
        chosen = _with_timestamps(chosen)
    return chosen


def _with_timestamps(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """Return the batch with its timestamps in milliseconds, if they are seconds as a double."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    column = batch.column("timestamp")
    if not pa.types.is_floating(column.type):
        return batch
    millis = pc.floor(pc.multiply(column, 1000.0)).cast(pa.int64())
    return batch.set_column(batch.schema.get_field_index("timestamp"), "timestamp", millis)


__all__ = ["send_rows", "write_rows"]
