"""Makes spans of OpenTelemetry for sends, polls and the work on records, as the semantic
conventions of messaging describe them. `trace_headers` has the context in the headers.

    tracing = KafkaTracing(group_id="billing")
    ack = await tracing.send(producer, "orders", value)
    with tracing.process(record):
        ...

A client without it pays nothing. Source: OpenTelemetry semantic conventions, messaging spans.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar

from opentelemetry import metrics
from opentelemetry.metrics import Histogram, Meter, MeterProvider
from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    Status,
    StatusCode,
    TracerProvider,
    get_current_span,
    get_tracer,
    use_span,
)

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.model import KT, VT, ConsumerRecord, TopicPartition
from aiokafka_lite.observe import messaging_conventions as conventions
from aiokafka_lite.observe.messaging_conventions import operation_attributes, record_attributes
from aiokafka_lite.observe.trace_headers import context_of, has_context, links_to, with_context
from aiokafka_lite.version import __version__

_CREATE: Final = operation_attributes("create", "create")
_SEND: Final = operation_attributes("send", "send")
_POLL: Final = operation_attributes("poll", "receive")
_PROCESS: Final = operation_attributes("process", "process")

_Headers = Iterable[tuple[str, bytes | None]]
_Attributes = dict[str, Any]


class _Ack(Protocol):
    """What a producer returns for a record."""

    def add_done_callback(self, callback: Callable[[Any], object], /) -> None:
        """Call `callback(ack)` once there is an outcome."""


_AckT_co = TypeVar("_AckT_co", bound=_Ack, covariant=True)


class _Producer(Protocol[_AckT_co]):
    """What `KafkaTracing.send` needs of a producer."""

    async def send(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: _Headers | None,
    ) -> _AckT_co:
        """As `AIOKafkaProducer.send`."""


class _Consumer(Protocol[KT, VT]):
    """What `KafkaTracing.getmany` needs of a consumer."""

    async def getmany(
        self,
        *partitions: TopicPartition,
        timeout_ms: float = 0,
        max_records: int | None = None,
    ) -> dict[TopicPartition, list[ConsumerRecord[KT, VT]]]:
        """As `AIOKafkaConsumer.getmany`."""


class KafkaTracing:
    """Makes spans for records, and carries their context in the records' headers.

    As an interceptor of a producer it makes a span `create` for each record. `send` makes a span
    that lasts until the broker has acknowledged. A record that has a context in its headers keeps
    it. `getmany` makes a span for a poll, with a link for each record; `process` one for the work
    on a record or a batch. `group_id`: of the consumers, an attribute of their spans. Providers
    None: the global ones.
    """

    def __init__(
        self,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        *,
        group_id: str | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._tracer = get_tracer(conventions.SCOPE, __version__, tracer_provider)
        meters = meter_provider or metrics.get_meter_provider()
        meter = meters.get_meter(conventions.SCOPE, __version__)
        self._poll_time = _histogram(
            meter, conventions.OPERATION_DURATION, conventions.OPERATION_TEXT
        )
        self._process_time = _histogram(
            meter, conventions.PROCESS_DURATION, conventions.PROCESS_TEXT
        )
        self._of_group = {"messaging.consumer.group.name": group_id} if group_id else {}

    # Producing…

    def on_send(self, record: Any) -> Any:
        """Give a record that names no span one of its own. For `interceptors=`."""
        if has_context(record.headers):
            headers = with_context(record.headers)  # may lack baggage
            is_whole = len(headers) == len(record.headers)
            return record if is_whole else replace(record, headers=headers)
        attributes = {**_CREATE, **record_attributes(record.topic, record.key, record.value)}
        name = f"create {record.topic}"
        with self._tracer.start_as_current_span(name, None, SpanKind.PRODUCER, attributes):
            return replace(record, headers=with_context(record.headers))

    async def send(
        self,
        producer: _Producer[_AckT_co],
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: _Headers | None = None,
    ) -> _AckT_co:
        """Call `producer.send` in a span that ends with the outcome; return the ack.

        The span has the error of a record that was not written; such an error counts as seen.
        Raises: as `AIOKafkaProducer.send`. Cancelled: as that; the span ends.
        """
        attributes = {**_SEND, **record_attributes(topic, key, value)}
        span = self._tracer.start_span(f"send {topic}", None, SpanKind.PRODUCER, attributes)
        try:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                headers = with_context(headers)
                ack = await producer.send(topic, value, key, partition, timestamp_ms, headers)
        except BaseException as error:
            _end(span, error)
            raise
        ack.add_done_callback(lambda done: _acknowledged(span, done))
        return ack

    # Consuming…

    async def getmany(
        self,
        consumer: _Consumer[KT, VT],
        *partitions: TopicPartition,
        timeout_ms: float = 0,
        max_records: int | None = None,
    ) -> dict[TopicPartition, list[ConsumerRecord[KT, VT]]]:
        """Call `consumer.getmany` in a span with a link for each record's context.

        A poll without records makes no span. Raises: as `AIOKafkaConsumer.getmany`. Cancelled: as
        that, without a span.
        """
        began_s, began_ns = self._clock.monotonic(), int(self._clock.time() * 1e9)
        timed: _Attributes = {**_POLL, **self._of_group}
        try:
            taken = await consumer.getmany(
                *partitions, timeout_ms=timeout_ms, max_records=max_records
            )
        except Exception as error:
            _end(self._tracer.start_span("poll", None, SpanKind.CLIENT, timed, (), began_ns), error)
            timed["error.type"] = type(error).__name__
            self._poll_time.record(self._clock.monotonic() - began_s, timed)
            raise
        records = [record for each in taken.values() for record in each]
        if records:
            self._batch_span(_POLL, SpanKind.CLIENT, records, began_ns).end()
            self._poll_time.record(
                self._clock.monotonic() - began_s, {**timed, **_topic_of(records)}
            )
        return taken

    @contextmanager
    def process(
        self, work: ConsumerRecord[Any, Any] | Sequence[ConsumerRecord[Any, Any]]
    ) -> Iterator[Span]:
        """Make a span around the work on a record, or on a batch of records that is not empty.

        The span of a record continues the trace in its headers, and has a link to the span around
        the call. The span of a batch has a link for each record. Raises: what the block raises,
        after the span has recorded it.
        """
        if isinstance(work, ConsumerRecord):
            span, topic = self._record_span(work), {"messaging.destination.name": work.topic}
        else:
            span, topic = self._batch_span(_PROCESS, SpanKind.CONSUMER, work), _topic_of(work)
        timed: _Attributes = {**_PROCESS, **self._of_group, **topic}
        began_s = self._clock.monotonic()
        try:
            with use_span(span, record_exception=False, set_status_on_exception=False):
                yield span
        except BaseException as error:
            timed["error.type"] = type(error).__name__
            _end(span, error)
            raise
        else:
            span.end()
        finally:
            self._process_time.record(self._clock.monotonic() - began_s, timed)

    def _record_span(self, record: ConsumerRecord[Any, Any]) -> Span:
        attributes: _Attributes = {
            **_PROCESS,
            **self._of_group,
            **record_attributes(record.topic, record.key, record.value),
            "messaging.destination.partition.id": str(record.partition),
            "messaging.kafka.offset": record.offset,
        }
        around = get_current_span().get_span_context()
        links = [Link(around)] if around.is_valid else []
        name, parent = f"process {record.topic}", context_of(record)
        return self._tracer.start_span(name, parent, SpanKind.CONSUMER, attributes, links)

    def _batch_span(
        self,
        operation: dict[str, str],
        kind: SpanKind,
        records: Sequence[ConsumerRecord[Any, Any]],
        began_ns: int | None = None,
    ) -> Span:
        topic = _topic_of(records)
        attributes: _Attributes = {
            **operation,
            **self._of_group,
            **topic,
            "messaging.batch.message_count": len(records),
        }
        name = " ".join((operation["messaging.operation.name"], *topic.values()))
        return self._tracer.start_span(
            name, None, kind, attributes, list(links_to(records)), began_ns
        )


def _histogram(meter: Meter, name: str, text: str) -> Histogram:
    buckets = conventions.DURATIONS
    return meter.create_histogram(name, "s", text, explicit_bucket_boundaries_advisory=buckets)


def _topic_of(records: Iterable[ConsumerRecord[Any, Any]]) -> dict[str, str]:
    """Return the attribute of the topic, if all records have the same."""
    topics = {record.topic for record in records}
    return {"messaging.destination.name": topics.pop()} if len(topics) == 1 else {}


def _acknowledged(span: Span, ack: Any) -> None:
    if not ack.cancelled():
        error = ack.exception()
        if error is not None:
            _end(span, error)
            return
        metadata = ack.result()
        span.set_attribute("messaging.destination.partition.id", str(metadata.partition))
        if metadata.offset >= 0:
            span.set_attribute("messaging.kafka.offset", metadata.offset)
    span.end()


def _end(span: Span, error: BaseException) -> None:
    """End a span with an error. A cancellation is none, but the span names it."""
    span.set_attribute("error.type", type(error).__name__)
    if isinstance(error, Exception):
        span.record_exception(error)
        span.set_status(Status(StatusCode.ERROR, str(error)))
    span.end()


__all__ = ["KafkaTracing"]
