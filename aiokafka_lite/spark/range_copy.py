"""Copies whole ranges from topic to topic in one process, without making rows of Spark of them.

Each record would else go through two Python processes and the JVM between them. A job that changes
no record passes only ranges through Spark. `RangeCopy` reads a range in the task that would write
its rows, and sends the columns as they came. Records come at least once.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from aiokafka_lite.spark.offsets import OffsetRange
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.options.source_options import SourceOptions
from aiokafka_lite.spark.process.cargo import Travels, carried, packed
from aiokafka_lite.spark.process.worker import Worker, worker

if TYPE_CHECKING:
    import pyarrow as pa

    from aiokafka_lite.producer.append.arrow.arrow_ack import ArrowAck


class RangeCopy(Travels):
    """The function of a task: columns of ranges come in, the numbers of copied records go out."""

    def __init__(
        self,
        read: SourceOptions,
        columns: Sequence[str],
        written: SinkOptions,
        *,
        by_value: bool = False,
    ) -> None:
        """`columns` are those of `getmany_arrow` that `send_arrow` gets."""
        self._read = read
        self._columns = tuple(columns)
        self._written = written
        self._by_value = by_value

    def __reduce__(self) -> tuple[Any, ...]:
        archive = carried(by_value=self._by_value)
        if archive is not None:
            return packed(type(self), self.__dict__, archive)
        return super().__reduce__()

    def __call__(self, *columns: "pa.Array") -> "pa.Array":
        """Copy the ranges, whose columns are the fields of `OffsetRange`; return the numbers.

        Raises: as `copy_ranges`.
        """
        import pyarrow as pa  # noqa: PLC0415

        ranges = zip(*(each.to_pylist() for each in columns), strict=True)
        wanted = [OffsetRange(*each) for each in ranges]
        copied = copy_ranges(wanted, self._read, self._columns, self._written)
        return pa.array(copied, pa.int64())

    def function(self) -> Any:
        """Return Spark's function of the columns topic, partition, start and end.

        It needs PySpark 4.1, which hands columns over as Arrow.
        """
        import pyarrow as pa  # noqa: PLC0415

        from aiokafka_lite.spark.compat import arrow_udf  # noqa: PLC0415 - PySpark, only on drivers

        def copy(topic: pa.Array, partition: pa.Array, start: pa.Array, end: pa.Array) -> pa.Array:
            return self(topic, partition, start, end)

        # Otherwise Spark might call it for each use of the column, and each call copies.
        return arrow_udf(copy, "bigint").asNondeterministic()


def copy_ranges(
    wanted: Iterable[OffsetRange],
    read: SourceOptions,
    columns: Sequence[str],
    written: SinkOptions,
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
    form = _WholeRecords(columns)

    async def copy() -> list[int]:
        clients = here.clients
        async with (
            clients.lend(AIOKafkaConsumer, consumer_arguments(read)) as consumer,
            clients.lend(AIOKafkaProducer, written.client) as producer,
        ):
            copied = []
            for each in wanted:
                async with aclosing(batches(consumer, each, form, read)) as reading:
                    copied.append(await _send(producer, reading, written.topic))
            return copied

    return here.run(copy)


async def _send(
    producer: Any, reading: "AsyncGenerator[pa.RecordBatch, None]", topic: str | None
) -> int:
    """Send the batches; return how many rows, when they are acknowledged."""
    rows = 0
    waiting: deque[ArrowAck] = deque()
    async for batch in reading:
        waiting.append(await producer.send_arrow(batch, topic, allow_empty=True))
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

    @property
    def asked(self) -> Sequence[str]:
        """The columns to request, with the offsets to find the end of a range."""
        return [*self._columns, "offset"]

    def convert(self, batch: "pa.RecordBatch", end: int) -> "pa.RecordBatch":
        """Return the columns, without rows at or behind `end`."""
        offsets = batch.column("offset")
        rows = bisect_left(range(batch.num_rows), end, key=lambda row: int(offsets[row].as_py()))
        return batch.select(self._columns).slice(0, rows)


__all__ = ["RangeCopy", "copy_ranges"]
