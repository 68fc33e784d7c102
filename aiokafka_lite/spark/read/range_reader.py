"""Reads the ranges of a task in an executor: fetches them and converts them to Spark's columns.

A range's end may lie behind its last record. It waits for the brokers.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.listed_topics import ids_in, list_topics
from aiokafka_lite.consumer.position.epoch_lister import epoch_ends
from aiokafka_lite.errors import KafkaTimeoutError, OffsetOutOfRangeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.spark.offsets import OffsetRange, cut_log, id_text
from aiokafka_lite.spark.options.consumer_arguments import consumer_arguments
from aiokafka_lite.spark.options.source_options import SourceOptions
from aiokafka_lite.spark.process.worker import Worker, worker
from aiokafka_lite.spark.read.arrow import SparkColumns
from aiokafka_lite.spark.read.data_loss import report_losses

if TYPE_CHECKING:
    import pyarrow as pa

_AGAIN_S: Final = 0.1
"""The pause before a fetch is repeated that a broker refused, or that read another log."""
_AHEAD_BATCHES: Final = 4
"""How many batches of `maxBatchBytes` may wait for Spark."""


def read_ranges(
    wanted: Iterable[OffsetRange],
    columns: SparkColumns,
    options: SourceOptions,
    topic_ids: Mapping[str, str],
    find_worker: Callable[[], Worker] = worker,
) -> "Iterator[pa.RecordBatch]":
    """Yield the records of ranges as batches for Spark, range by range; blocks until there is one.

    `topic_ids` are those of the topics that were planned, by name. Raises: as `batches`.
    """
    here = find_worker()

    async def fetched() -> "AsyncGenerator[pa.RecordBatch, None]":
        async with here.clients.lend(AIOKafkaConsumer, consumer_arguments(options)) as consumer:
            for each in wanted:
                reading = batches(consumer, each, columns, options, topic_ids.get(each.topic))
                try:
                    async for batch in reading:
                        yield batch
                finally:
                    await reading.aclose()

    return here.iterate(fetched, _size, _AHEAD_BATCHES * options.max_batch_bytes)


def _size(batch: Any) -> int:
    return int(batch.nbytes)


class Columns(Protocol):
    """The form of what is read; `SparkColumns` is one."""

    @property
    def asked(self) -> Sequence[str]: ...

    def convert(self, batch: "pa.RecordBatch", end: int) -> "pa.RecordBatch": ...


async def batches(
    consumer: AIOKafkaConsumer[Any, Any],
    wanted: OffsetRange,
    columns: Columns,
    options: SourceOptions,
    topic_id: str | None,
) -> "AsyncGenerator[pa.RecordBatch, None]":
    """Yield the records of a range, with a started consumer that nothing else uses.

    With `topic_id` it reads that topic alone, and none that was created again by the same name.
    With the range's leader epoch it reads the log that was planned, up to where a new leader has
    cut it.

    Raises: DataLossError for lost records, unless the options say to go on behind them;
    KafkaTimeoutError if nothing came for `kafkaConsumer.pollTimeoutMs` before the range's end; else
    as `getmany_arrow`. Cancelled: leaves nothing behind.
    """
    tp, end = wanted.topic_partition, wanted.end
    position, refused_s, agreed = wanted.start, 0.0, wanted.epoch
    consumer.assign([tp])
    try:
        consumer.seek(tp, position)
        while position < end:
            try:
                batch = await consumer.getmany_arrow(
                    tp,
                    timeout_ms=options.poll_timeout_ms,
                    max_records=options.max_batch_rows,
                    max_bytes=options.max_batch_bytes,
                    columns=columns.asked,
                    until={tp: end},
                )
            except OffsetOutOfRangeError:
                is_refused = True
            else:
                is_refused = _is_other_topic(consumer, tp.topic, topic_id)
            if is_refused:
                behind = await _behind_loss(consumer, wanted, position, options, topic_id)
                if behind == position:
                    # Another replica may know it soon. It has as long as any record.
                    if refused_s >= options.poll_timeout_ms / 1000:
                        raise _stuck(wanted, position, options) from None
                    await SYSTEM_CLOCK.sleep(_AGAIN_S)
                    refused_s += _AGAIN_S
                position = behind
                consumer.seek(tp, position)
                continue
            leader = _leader_epoch(consumer, tp)
            if leader != agreed and min(leader, wanted.epoch) >= 0:
                end = min(end, await _end_of_log(consumer, wanted, options))
                agreed = _leader_epoch(consumer, tp)
                if leader < wanted.epoch:  # what a former leader has may be another log
                    consumer.seek(tp, position)
                    continue
            refused_s = 0.0
            before, position = position, await consumer.position(tp)
            if position == before < end:
                raise _stuck(wanted, position, options)
            converted = columns.convert(batch, end)
            if converted.num_rows:
                yield converted
    finally:
        consumer.assign([])


async def _behind_loss(
    consumer: AIOKafkaConsumer[Any, Any],
    wanted: OffsetRange,
    position: int,
    options: SourceOptions,
    topic_id: str | None,
) -> int:
    """Return where to go on when a position's records no longer exist.

    Raises: DataLossError if the read is to fail then.
    """
    tp = wanted.topic_partition
    present_id = None if topic_id is None else await _present_id(consumer, tp.topic)
    if present_id not in (None, topic_id):
        what = (
            f"offsets {position} to {wanted.end} are lost: the topic was deleted and created again"
            f" after they were planned (its id was {topic_id}, and is {present_id})"
        )
        report_losses([f"{tp.topic}-{tp.partition}: {what}"], fail=options.fail_on_data_loss)
        return wanted.end
    if await _end_of_log(consumer, wanted, options) <= position:
        return wanted.end
    first = (await consumer.beginning_offsets([tp]))[tp]
    last = (await consumer.end_offsets([tp]))[tp]
    if first <= position < last:
        return position  # it was out of range a moment ago
    if position < first:
        behind = min(first, wanted.end)
        what = f"offsets {position} to {behind} are before its log, which begins at {first}"
    else:
        behind = wanted.end
        what = f"offsets {position} to {behind} are behind its log, which ends at {last}"
    report_losses([f"{tp.topic}-{tp.partition}: {what}"], fail=options.fail_on_data_loss)
    return behind


def _leader_epoch(consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition) -> int:
    """Return the epoch of the leader that the consumer knows; -1 without any."""
    client = consumer.kafka_client
    assert client is not None
    return client.metadata.snapshot.leader(tp).epoch


async def _end_of_log(
    consumer: AIOKafkaConsumer[Any, Any], wanted: OffsetRange, options: SourceOptions
) -> int:
    """Return up to where the log is the one that was planned: the range's end, or before it.

    Raises: DataLossError if the read is to fail then; as `epoch_ends`.
    """
    tp, client = wanted.topic_partition, consumer.kafka_client
    if wanted.epoch < 0:
        return wanted.end
    assert client is not None
    timeout_s = client.config.default_api_timeout_ms / 1000
    found = (await epoch_ends(client, {tp: wanted.epoch}, timeout_s)).get(tp)
    if found is None:
        return wanted.end
    at = found.end_offset if found.is_defined else 0
    if at < wanted.end:
        report_losses([cut_log(tp, at, wanted.end)], fail=options.fail_on_data_loss)
    return min(at, wanted.end)


def _is_other_topic(consumer: AIOKafkaConsumer[Any, Any], topic: str, topic_id: str | None) -> bool:
    """Say whether the consumer reads another topic of that name than the one planned.

    It has to be asked which one is the younger: a consumer that was used before may be behind.
    """
    client = consumer.kafka_client
    assert client is not None
    read = client.metadata.snapshot.topic_id(topic)
    return topic_id is not None and read != ZERO_UUID and id_text(read) != topic_id


async def _present_id(consumer: AIOKafkaConsumer[Any, Any], topic: str) -> str | None:
    """Return the id that a broker tells now; None without one."""
    client = consumer.kafka_client
    assert client is not None
    client.metadata.request_update()  # the consumer's own may be older
    timeout_s = client.config.default_api_timeout_ms / 1000
    found = ids_in(await list_topics(client, [topic], timeout_s)).get(topic)
    return None if found is None else id_text(found)


def _stuck(wanted: OffsetRange, position: int, options: SourceOptions) -> KafkaTimeoutError:
    return KafkaTimeoutError(
        f"{wanted} has not advanced beyond {position} for {options.poll_timeout_ms} ms: the broker"
        " had reported a later end, so its log was cut, or it does not answer; check it, or raise"
        " kafkaConsumer.pollTimeoutMs"
    )


__all__ = ["Columns", "batches", "read_ranges"]
