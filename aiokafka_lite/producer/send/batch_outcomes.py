"""Decides what a response, or its absence, does to a batch: written, sent again, or given up.

It moves batches in the accumulator, and calls back when the metadata is out of date. Does not wait.
"""

import logging
from collections.abc import Callable

from aiokafka_lite.cluster.metadata.leader_updates import UpdateLeaders, hinted_nodes
from aiokafka_lite.concurrency.long_waits import Sparing
from aiokafka_lite.errors import (
    BrokerResponseError,
    DeliveryTimeoutError,
    DuplicateSequenceNumber,
    KafkaError,
    KafkaProtocolError,
    MessageSizeTooLargeError,
    for_code,
)
from aiokafka_lite.metrics.counters import WorkCounts
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.producer.accumulator.record_accumulator import RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch, record_errors_from
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.send.produce_bytes import Written
from aiokafka_lite.producer.send.produce_round import ProduceRound
from aiokafka_lite.protocol.messages.produce import PartitionProduceResponse, ProduceResponse

logger = logging.getLogger(__name__)


class BatchOutcomes:
    """Takes in the responses for the batches of one producer. It calls

    - `on_stale_metadata()` when an error means that the metadata is out of date;
    - `told_as(error)`, which returns the error for the user, then `on_failed(batch, error)`, when a
      batch is given up;
    - `update_leaders(leaders, nodes)` when a response names newer leaders (KIP-951);
    - `why_unsent(batch)`, which returns what keeps a batch from being sent.
    """

    def __init__(
        self,
        config: ProducerConfig,
        accumulator: RecordAccumulator,
        sequences: SequenceNumbers | None,
        *,
        on_stale_metadata: Callable[[], object],
        told_as: Callable[[Exception], Exception] | None = None,
        on_failed: Callable[[ProducerBatch, Exception], object] | None = None,
        update_leaders: UpdateLeaders | None = None,
        why_unsent: Callable[[ProducerBatch], str] | None = None,
        observer: Observer = NO_OBSERVER,
    ) -> None:
        self._config = config
        self._accumulator = accumulator
        self._sequences = sequences
        self._on_stale_metadata = on_stale_metadata
        self._told_as = told_as
        self._on_failed = on_failed
        self._update_leaders = update_leaders
        self._why_unsent = why_unsent
        self._observer = observer
        self._counters = observer if isinstance(observer, WorkCounts) else None
        self._batches = self._records = self._bytes = 0
        """What was acknowledged and is not counted yet."""
        self._sparing = Sparing()

    def answered(
        self, exchange: ProduceRound, response: ProduceResponse | None, now_s: float
    ) -> None:
        """Take in a response; None: the request was sent with acks=0."""
        if response is None:  # acks=0: the broker says nothing
            for batch in exchange.batches:
                self._accumulator.landed(batch, True)
                self._finish_written(batch, now_s, -1)
            self._count()
            return
        has_errors = False
        for batch, result in exchange.results(response):
            self._accumulator.landed(batch, True)
            if result is None:
                error = KafkaProtocolError(
                    "the broker's answer to Produce leaves out the partition"
                )
                self._failed(batch, error, now_s)
            elif result.error_code:
                has_errors = True
                self._refused(batch, result, now_s)
            else:
                self._finish_written(
                    batch,
                    now_s,
                    base_offset=result.base_offset,
                    log_append_time_ms=result.log_append_time_ms,
                    log_start_offset=result.log_start_offset,
                )
        self._count()
        if has_errors and self._update_leaders is not None:
            hints = exchange.leader_hints(response)
            if hints:
                self._update_leaders(hints, hinted_nodes(response.node_endpoints))

    def written(self, batches: Written, now_s: float) -> None:
        """Take in that all batches of a request are written, without an error."""
        for batch, base_offset, log_append_time_ms, log_start_offset in batches:
            self._accumulator.landed(batch, True)
            self._finish_written(batch, now_s, base_offset, log_append_time_ms, log_start_offset)
        self._count()

    def _count(self) -> None:
        """Count the batches of a response in one call, while no observer hears of them."""
        if self._counters is not None and self._batches:
            self._counters.batches_counted(self._batches, self._records, self._bytes)
            self._batches = self._records = self._bytes = 0

    def lost(self, exchange: ProduceRound, error: KafkaError, now_s: float) -> None:
        """Take in that a request got no response; its batches may be written (2d-16)."""
        for batch in exchange.batches:
            self._accumulator.landed(batch, False)
            self._failed(batch, error, now_s)

    def _refused(
        self, batch: ProducerBatch, result: PartitionProduceResponse, now_s: float
    ) -> None:
        code = for_code(result.error_code)
        if issubclass(code, DuplicateSequenceNumber):
            # It was written before, and the broker no longer has its offset (2d-15).
            self._finish_written(batch, now_s, base_offset=-1)
            return
        messages = {
            entry.batch_index: entry.batch_index_error_message for entry in result.record_errors
        }
        error, record_errors = record_errors_from(
            code, messages, self._explain(batch, code, result), batch.record_count
        )
        self._failed(
            batch,
            error,
            now_s,
            code=code,
            record_errors=record_errors,
            log_start_offset=result.log_start_offset,
        )

    def _explain(
        self,
        batch: ProducerBatch,
        code: type[BrokerResponseError],
        result: PartitionProduceResponse,
    ) -> str:
        topic, partition = batch.topic_partition
        said = code.explained(result.error_message)
        text = f"{batch.record_count} record(s) for {topic}-{partition}: {said}"
        if not issubclass(code, MessageSizeTooLargeError):
            return text
        text = f"{text.rstrip().rstrip('.')}. The batch has {batch.size_in_bytes:,} bytes"
        if batch.record_count > 1:
            return text  # it is split
        remedy = f"send smaller records, or raise max.message.bytes of {topic}"
        return f"{text}, all of one record; {remedy}"

    def _failed(
        self,
        batch: ProducerBatch,
        error: KafkaError,
        now_s: float,
        *,
        log_start_offset: int = -1,
        code: type[KafkaError] | None = None,
        record_errors: dict[int, Exception] | None = None,
    ) -> None:
        """Queue a batch again after an error, or give it up."""
        code = code or type(error)
        if code.invalid_metadata:
            self._on_stale_metadata()
        if batch.is_done:
            return
        if issubclass(code, MessageSizeTooLargeError) and batch.record_count > 1:
            logger.info(
                "%s: %r of %d bytes is split: %s",
                *(self._config.client_id, batch, batch.size_in_bytes, error),
            )
            batch.last_error = error
            self._accumulator.split(batch)
            return
        has_tries = batch.attempts <= self._config.retries
        if has_tries and self._may_retry(batch, code, log_start_offset):
            self._complain(batch, error, code, now_s)
            self._observer.batch_retried(batch.topic_partition, batch.record_count, error)
            batch.last_error = error
            self._accumulator.retry(batch, now_s)
            return
        if self._sequences is not None:
            if has_tries and issubclass(code, BrokerResponseError):
                self._sequences.refused(batch, code)
            else:
                self._sequences.abandoned(batch)
        self._finish_failed(batch, error, record_errors)

    def _may_retry(
        self, batch: ProducerBatch, code: type[KafkaError], log_start_offset: int
    ) -> bool:
        if self._sequences is None:
            return code.retriable
        return self._sequences.may_retry(batch, code, log_start_offset)

    def _complain(
        self, batch: ProducerBatch, error: KafkaError, code: type[KafkaError], now_s: float
    ) -> None:
        """Log a retry: as a warning once a minute for each partition and class of error."""
        logger.log(
            self._sparing.level((batch.topic_partition, code), now_s),
            "%s: %r is sent again after attempt %d: %s",
            self._config.client_id,
            batch,
            batch.attempts,
            error,
        )

    def _finish_written(
        self,
        batch: ProducerBatch,
        now_s: float,
        base_offset: int,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
    ) -> None:
        if self._sequences is not None:
            self._sequences.completed(batch)  # also if it has expired: its numbers are used
        if batch.succeed(base_offset, log_append_time_ms, log_start_offset):
            if self._counters is None or self._counters.is_heard:
                self._observer.batch_acknowledged(
                    batch.topic_partition,
                    batch.record_count,
                    batch.size_in_bytes,
                    batch.uncompressed_size,
                    now_s - batch.created_s,
                )
            else:
                self._batches += 1
                self._records += batch.record_count
                self._bytes += batch.size_in_bytes
            self._accumulator.forget(batch)  # and its bytes

    def _finish_failed(
        self,
        batch: ProducerBatch,
        error: Exception,
        record_errors: dict[int, Exception] | None = None,
    ) -> None:
        if self._told_as is not None:
            error = self._told_as(error)
        if batch.fail(error, record_errors):
            self._observer.batch_failed(batch.topic_partition, batch.record_count, error)
            self._accumulator.forget(batch)
            if self._on_failed is not None:
                self._on_failed(batch, error)

    def expire(self, now_s: float) -> None:
        """Fail the batches older than delivery_timeout_ms, queued or in flight (2d-13)."""
        for batch in self._accumulator.incomplete.expired(now_s):
            topic, partition = batch.topic_partition
            batch.close()
            error = DeliveryTimeoutError(
                f"{batch.record_count} record(s) for {topic}-{partition} not acknowledged within "
                f"delivery_timeout_ms={self._config.delivery_timeout_ms}: {self._fate(batch)}"
            )
            error.__cause__ = batch.last_error
            if self._sequences is not None:
                self._sequences.abandoned(batch)
            self._finish_failed(batch, error)

    def _fate(self, batch: ProducerBatch) -> str:
        """Return how often a batch was tried, and its last error."""
        if not batch.attempts:
            reason = self._why_unsent(batch) if self._why_unsent else ""
            return f"never sent; {reason}" if reason else "never sent"
        times = "attempt" if batch.attempts == 1 else "attempts"
        tried = f"after {batch.attempts} {times} it may have been written"
        if batch.last_error is not None:
            return f"{tried}; last failure: {batch.last_error}"
        return f"{tried}; no answer came"


__all__ = ["BatchOutcomes"]
