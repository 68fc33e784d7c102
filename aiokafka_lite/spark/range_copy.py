"""Copies whole ranges from topic to topic in one process, without making rows of Spark of them.

Each record would else go through two Python processes and the JVM between them. The tasks of a
stream that copies read their ranges, and send the columns as they came. Records come at least once.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from aiokafka_lite.spark.offsets import OffsetRange
from aiokafka_lite.spark.options.copy_options import CopyOptions
from aiokafka_lite.spark.options.source_options import SourceOptions
from aiokafka_lite.spark.process.worker import Worker, worker

if TYPE_CHECKING:
    import pyarrow as pa

    from aiokafka_lite.producer.append.arrow.arrow_ack import ArrowAck


def copy_ranges(
    wanted: Iterable[OffsetRange],
    read: SourceOptions,
    copied: CopyOptions,
    topic_ids: Mapping[str, str],
    here: Worker | None = None,
) -> list[int]:
    """Copy ranges; return how many records of each, when all are acknowledged.

    Raises: as `read_ranges`; as `AIOKafkaProducer.send_arrow` and the acknowledgements.
    """
    # Imported in the task: the driver plans copies, and makes none.
    from aiokafka_lite.consumer.consumer import AIOKafkaConsumer  # noqa: PLC0415
    from aiokafka_lite.producer.producer import AIOKafkaProducer  # noqa: PLC0415
    from aiokafka_lite.spark.options.consumer_arguments import consumer_arguments  # noqa: PLC0415
    from aiokafka_lite.spark.read.range_reader import batches  # noqa: PLC0415

    here = worker() if here is None else here
    form = _WholeRecords(copied.columns)
    written = copied.written

    async def copy() -> list[int]:
        clients = here.clients
        async with (
            clients.lend(AIOKafkaConsumer, consumer_arguments(read)) as consumer,
            clients.lend(AIOKafkaProducer, written.client) as producer,
        ):
            counts = []
            for each in wanted:
                async with aclosing(
                    batches(consumer, each, form, read, topic_ids.get(each.topic))
                ) as reading:
                    counts.append(await _send(producer, reading, written.topic))
            return counts

    return here.run(copy)


async def _send(
    producer: Any, reading: "AsyncGenerator[pa.RecordBatch, None]", topic: str | None
) -> int:
    """Send the batches; return how many rows, when they are acknowledged."""
    rows = 0
    waiting: deque[ArrowAck] = deque()
    async for batch in reading:
        waiting.append(await producer.send_arrow(batch, topic))
        rows += batch.num_rows
        while waiting and waiting[0].done():
            await waiting.popleft()
    await producer.flush()  # nothing else will come, so batches need not linger
    for acks in waiting:
        await acks
    return rows


class _WholeRecords:
    """The columns of a copy. A record without a timestamp keeps none."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = list(columns)
        if "timestamp" in self._columns:
            self._columns.append("timestamp_type")  # tells a record of a format without timestamps

    @property
    def asked(self) -> Sequence[str]:
        """The columns to request, with the offsets to find the end of a range."""
        return [*self._columns, "offset"]

    def convert(self, batch: "pa.RecordBatch", end: int) -> "pa.RecordBatch":
        """Return the columns, without rows at or behind `end`."""
        offsets = batch.column("offset")
        rows = bisect_left(range(batch.num_rows), end, key=lambda row: int(offsets[row].as_py()))
        return batch.select(self._columns).slice(0, rows)


__all__ = ["copy_ranges"]
