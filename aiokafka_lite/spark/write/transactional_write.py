"""The executor's half of a transactional write: one transaction with a task's rows and a marker.

The transaction stays open until the driver ends it. `transactional_marker` decides the meaning of
markers. `transactional_commit` is the driver's half.
"""

import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import (
    InvalidTransactionTimeout,
    KafkaConfigurationError,
    KafkaError,
    KafkaTimeoutError,
)
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.process.worker import Worker, worker
from aiokafka_lite.spark.write.preparing_producer import PreparingProducer
from aiokafka_lite.spark.write.query_note import note_query
from aiokafka_lite.spark.write.row_fingerprint import RowFingerprint
from aiokafka_lite.spark.write.row_sender import send_rows
from aiokafka_lite.spark.write.transactional_marker import (
    Marker,
    TaskPlace,
    TaskTransaction,
    check_same,
    is_written,
    newest_marker,
)
from aiokafka_lite.spark.write.transactional_store import stored_offsets

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

_MARKER_TIMEOUT_S: Final = 60.0
_TOPIC_TIMEOUT_S: Final = 5.0
_SETTLES_S: Final = 10.0
"""How long an attempt leaves a prepared transaction alone. Spark kills an attempt that is not
needed any more within four seconds."""


def write_in_transaction(
    batches: "Iterable[pa.RecordBatch]",
    columns: Sequence[str],
    options: SinkOptions,
    place: TaskPlace,
    here: Worker | None = None,
    *,
    has_rivals: bool = False,
) -> TaskTransaction:
    """Write the rows in a transaction of the task, and leave it open.

    If the rows of this batch were committed before, write nothing. An earlier attempt of the task
    is fenced. With `has_rivals` another attempt of the same run may have succeeded by now, and the
    driver is about to commit it. That one is left alone.

    Raises: ReplayMismatchError when a batch comes again with other rows; KafkaConfigurationError
    for a transaction timeout that the brokers do not allow; else as `write_rows`. The transaction
    is then aborted.
    """
    noted = _Noted(batches, columns, options)
    # The first row comes before the fence: Spark gives none to an attempt that is not needed any
    # more, and that one must not fence the attempt that has succeeded.
    if not noted.has_rows() and place.batch_id is None:
        return TaskTransaction(place)  # nobody else has had its id
    here = worker() if here is None else here
    found: Marker | None = None
    with here.lend(PreparingProducer, options.transactional_client) as producer:
        if has_rivals and place.batch_id is not None and noted.topic is not None:
            found = here.run(lambda: _settled_marker(producer, place, noted.topic))
        if found is None:
            found = here.run(lambda: _begin(producer, place, options, noted.topic))
        if found is not None:
            for _ in noted:
                pass
            assert place.batch_id is not None, "what has a marker has a batch"
            check_same(found, noted.marker(place.batch_id), place)
            logger.info("%s: batch %d was written before", place.transactional_id, place.batch_id)
            return TaskTransaction(place)
        here.run(lambda: _note_query(producer, options, place, noted.topic))
        send_rows(here, producer, noted, columns, options.topic)
        return here.run(lambda: _prepare(producer, place, noted))


class _Noted:
    """The rows of a task, and a fingerprint of those that have passed."""

    def __init__(
        self, batches: "Iterable[pa.RecordBatch]", columns: Sequence[str], options: SinkOptions
    ) -> None:
        self.rows = 0
        self.topic = options.topic
        """The topic of the first row, for the marker: it exists once the row is written."""
        self._batches = iter(batches)
        self._ahead: pa.RecordBatch | None = None
        self._columns = [name for name in columns if name != "topic" or options.topic is None]
        self._seen = RowFingerprint(options.topic)

    def __iter__(self) -> "Iterator[pa.RecordBatch]":
        ahead = () if self._ahead is None else (self._ahead,)
        for batch in itertools.chain(ahead, self._batches):
            yield batch  # first, the iterator checks whether the rows can be sent
            self.rows += batch.num_rows
            self._seen.add(batch.select(self._columns))
            self._note_topic(batch)

    def has_rows(self) -> bool:
        """Return whether there is a row. Waits for the first one, which may name the topic."""
        while self._ahead is None or not self._ahead.num_rows:
            self._ahead = next(self._batches, None)
            if self._ahead is None:
                return False
        self._note_topic(self._ahead)
        return True

    def _note_topic(self, batch: "pa.RecordBatch") -> None:
        if self.topic is None and batch.num_rows:
            self.topic = batch.column("topic")[0].as_py()

    def marker(self, batch_id: int) -> Marker:
        """Return the marker to store in the transaction."""
        return Marker(batch_id, self.rows, self._seen.digest())


async def _begin(
    producer: PreparingProducer, place: TaskPlace, options: SinkOptions, topic: str | None
) -> Marker | None:
    """Fence earlier attempts. Begin a transaction, or return the marker that makes it needless."""
    try:
        await producer.become(place.transactional_id)
    except InvalidTransactionTimeout as error:
        raise KafkaConfigurationError(
            f"option transactionTimeoutMs={options.transaction_timeout_ms} is more than the brokers"
            " allow: lower it, or raise their transaction.max.timeout.ms"
        ) from error
    if place.batch_id is not None:
        # The earlier attempts are fenced, so only this task can commit under this id.
        found = await _marker(producer, place, topic)
        if is_written(found, place):
            return found
    await producer.begin_transaction()
    return None


async def _note_query(
    producer: PreparingProducer, options: SinkOptions, place: TaskPlace, topic: str | None
) -> None:
    await note_query(producer.coordinator, options, place.scope, topic)


async def _settled_marker(
    producer: PreparingProducer, place: TaskPlace, topic: str | None
) -> Marker | None:
    """Return the marker of this batch without fencing anybody; None if there is none in time.

    Brokers return no marker while a prepared transaction has a newer one.
    """
    group_id = place.transactional_id
    try:
        async with deadline(SYSTEM_CLOCK, _SETTLES_S):
            stored = await stored_offsets(producer.coordinator, group_id, topic)
    except TimeoutError:
        return None
    found = newest_marker(stored, group_id)
    return found if is_written(found, place) else None


async def _marker(
    producer: PreparingProducer, place: TaskPlace, topic: str | None
) -> Marker | None:
    group_id = place.transactional_id
    try:
        async with deadline(SYSTEM_CLOCK, _MARKER_TIMEOUT_S):
            stored = await stored_offsets(producer.coordinator, group_id, topic)
            return newest_marker(stored, group_id)
    except TimeoutError:
        raise KafkaTimeoutError(
            f"the coordinator of the group {group_id!r} has not returned the marker of the previous"
            f" batch within {_MARKER_TIMEOUT_S:g} s"
        ) from None


async def _is_guard(producer: PreparingProducer, place: TaskPlace, topic: str) -> bool:
    """Return whether a task has a marker without rows, too: the first one has.

    Another driver may divide the batch otherwise. Of the two, only the one that commits the first
    task goes on. Markers need a topic that exists.
    """
    if place.task != 0:
        return False
    try:
        async with deadline(SYSTEM_CLOCK, _TOPIC_TIMEOUT_S):
            return bool(await producer.partitions_for(topic))
    except (KafkaError, TimeoutError):
        return False


async def _prepare(producer: PreparingProducer, place: TaskPlace, noted: _Noted) -> TaskTransaction:
    if (
        place.batch_id is not None
        and noted.topic is not None
        and (noted.rows or await _is_guard(producer, place, noted.topic))
    ):
        marker = noted.marker(place.batch_id)
        await producer.send_offsets_to_transaction(
            {TopicPartition(noted.topic, 0): OffsetAndMetadata(marker.batch_id, marker.note)},
            place.transactional_id,
        )
    transaction = await producer.prepare_transaction()
    return TaskTransaction(place, noted.rows, transaction, noted.topic)


__all__ = ["write_in_transaction"]
