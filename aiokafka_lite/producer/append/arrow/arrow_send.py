"""Owns `send_arrow`: one call of a native leaf fills a batch from Arrow buffers.

A window of rows is sorted by partition, so that the rows of a batch follow each other. The append
path takes the first row of each batch and may wait. With serializers, interceptors or a partitioner
of the user it takes every row. Without them no row becomes a Python object.
"""

from array import array
from typing import Any

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import SerializationError
from aiokafka_lite.producer.append.append_path import AppendPath
from aiokafka_lite.producer.append.arrow.arrow_ack import ArrowAck
from aiokafka_lite.producer.append.arrow.arrow_rows import ArrowRows, arrow_batches
from aiokafka_lite.producer.append.producer_interceptors import InterceptedPath
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.producer_config import ProducerConfig

_WINDOW_ROWS = 16_384
"""How many rows are sorted at a time: enough to fill batches, and few enough that all leaders have
work."""


class ArrowSend:
    """One call of `send_arrow`. The arguments win over the columns of the same name.

    So a consumed batch can be sent to another topic as it is. Spark's own Kafka sink does the same.
    """

    def __init__(
        self,
        path: AppendPath,
        records: AppendPath | InterceptedPath,
        config: ProducerConfig,
        clock: Clock,
        *,
        topic: str | None,
        partition: int | None,
        timestamp_ms: int | None,
        allow_empty: bool,
    ) -> None:
        self._path = path
        self._records = records
        self._clock = clock
        self._topic = topic
        self._partition = partition
        self._timestamp_ms = timestamp_ms
        self._allow_empty = allow_empty
        self._by_key = not config.partitioner_ignore_keys
        self._is_plain = records is path and not path.serializers and config.partitioner is None
        self._acks = ArrowAck()
        self._rows_before = 0  # in the batches that were sent already

    async def send(self, data: Any) -> ArrowAck:
        """Append all rows. As `AIOKafkaProducer.send_arrow`."""
        try:
            for rows in arrow_batches(data):
                self._check_topic(rows)
                for start in range(0, len(rows), _WINDOW_ROWS):
                    await self._send_window(rows, start, min(start + _WINDOW_ROWS, len(rows)))
                self._rows_before += len(rows)
        except Exception as error:
            error.add_note(f"{len(self._acks)} rows of this send_arrow() were queued before")
            raise
        return self._acks

    def _check_topic(self, rows: ArrowRows) -> None:
        if self._topic is None and not rows.has_topics:
            raise SerializationError(
                "there is no column 'topic', and no topic was named; call send_arrow(..., topic)"
            )

    async def _send_window(self, rows: ArrowRows, start: int, stop: int) -> None:
        if self._topic is None:
            parts = rows.by_topic(start, stop)
        else:
            parts = [(self._topic, rows.numbers(start, stop))]
        for topic, numbers in parts:
            if self._is_plain:
                await self._send_by_partition(rows, topic, numbers)
            else:
                for row in numbers:
                    partition = rows.partition(row) if self._partition is None else self._partition
                    await self._send_row(rows, row, topic, partition)

    async def _send_by_partition(self, rows: ArrowRows, topic: str, numbers: "array[int]") -> None:
        if self._partition is not None:
            await self._send_part(rows, topic, self._partition, numbers)
            return
        route = await self._path.finder.find(topic, self._clock.monotonic())
        if route.count == 1 and not rows.has_partitions:
            await self._send_part(rows, topic, 0, numbers)  # with and without keys, as they come
            return
        for partition, part in rows.by_partition(
            numbers, route.count, by_key=self._by_key, by_column=rows.has_partitions
        ):
            await self._send_part(rows, topic, partition, part)

    async def _send_part(
        self, rows: ArrowRows, topic: str, partition: int | None, numbers: "array[int]"
    ) -> None:
        """Append the rows of one partition, batch by batch; None: the sticky one."""
        at = 0
        while at < len(numbers):
            ack = await self._send_row(rows, numbers[at], topic, partition)
            at += 1
            batch, _index = ack._batch_and_index
            assert isinstance(batch, ProducerBatch)
            builder = batch.open_builder
            if builder is None:
                continue
            size = batch.size_in_bytes
            default_ms = ack.timestamp_ms
            has_own_times = rows.has_timestamps and self._timestamp_ms is None
            if has_own_times:  # the first row may have a timestamp where another has none
                default_ms = int(self._clock.time() * 1000)
            first = batch.next_index  # a finalizer may have sent since the row before
            taken = rows.append_to(builder, numbers, at, default_ms, use_timestamps=has_own_times)
            if not taken:
                continue
            self._acks._add(batch, first, taken, default_ms)
            self._note(rows, numbers[at : at + taken], default_ms)
            at += taken
            if partition is None:
                known = self._path.routes.find(topic)
                if known is not None:
                    known.sticky.produced_bytes += batch.size_in_bytes - size

    async def _send_row(
        self, rows: ArrowRows, row: int, topic: str, partition: int | None
    ) -> RecordAck:
        """Append a row by the append path."""
        timestamp_ms = self._timestamp_ms
        if timestamp_ms is None:
            timestamp_ms = rows.timestamp_ms(row)
        key, value = rows.key(row), rows.value(row)
        ack = await self._records.send(
            topic,
            value,
            key,
            partition,
            timestamp_ms,
            rows.headers(row),
            allow_empty=self._allow_empty,
        )
        batch, index = ack._batch_and_index
        self._acks._add(batch, index, 1, ack.timestamp_ms)
        self._note(rows, array("I", [row]), ack.timestamp_ms)
        return ack

    def _note(self, rows: ArrowRows, numbers: "array[int]", timestamp_ms: int) -> None:
        times = None
        if rows.has_timestamps and self._timestamp_ms is None:
            times = rows.timestamps_ms(numbers, timestamp_ms)
        self._acks._note_rows(numbers, times, self._rows_before)


__all__ = ["ArrowSend"]
