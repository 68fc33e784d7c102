"""Owns the calls of interceptors: objects of the user that see each record before it is sent, and
its outcome. What they raise is logged and ignored.

It waits only for an `on_send` that is a coroutine function. A producer without interceptors calls
nothing here. Source: ProducerInterceptors, KIP-42.

With interceptors, `fast_append` has no routes, so every record takes the append path. A record
without interceptors pays nothing for them.
"""

import inspect
import logging
from collections.abc import Iterable, Sequence
from typing import Any

from aiokafka_lite.checks.quoted import cut, quoted, trace_of
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.append.append_path import AppendPath
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.producer.batch.record_fields import check_not_empty

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ProducerRecord:
    """A record as given to `send`, before serialization."""

    topic: str
    value: Any = None
    key: Any = None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: Iterable[tuple[str, bytes | None]] | None = None


class ProducerInterceptors:
    """The interceptors of one producer, called in their order."""

    def __init__(self, interceptors: Sequence[Any]) -> None:
        self._on_send = _bound(interceptors, "on_send")
        self._on_acknowledgement = _bound(interceptors, "on_acknowledgement")
        self._on_send_error = _bound(interceptors, "on_send_error")
        self.must_wait = any(map(inspect.iscoroutinefunction, self._on_send))
        """An on_send is a coroutine function, so `send_nowait` cannot be used."""

    async def on_send(self, record: ProducerRecord) -> ProducerRecord:
        """Return the record as the interceptors have changed it. Their errors are only logged."""
        for call in self._on_send:
            try:
                given = call(record)
                if inspect.isawaitable(given):
                    given = await given
                record = _checked(given, record, call)
            except Exception as error:  # noqa: BLE001 - of the user's code
                _log_failure(call, error, record)
        return record

    def on_send_nowait(self, record: ProducerRecord) -> ProducerRecord:
        """As `on_send`. Raises: IllegalStateError if an on_send is a coroutine function."""
        if self.must_wait:
            raise IllegalStateError(
                "send_nowait() cannot wait for an interceptor whose on_send is async; await send()"
            )
        for call in self._on_send:
            try:
                record = _checked(call(record), record, call)
            except Exception as error:  # noqa: BLE001 - of the user's code
                _log_failure(call, error, record)
        return record

    def failed(self, what: ProducerRecord | TopicPartition, error: Exception) -> None:
        """Report a record that `send` refused, or one that was not written to a partition."""
        for call in self._on_send_error:
            _call(call, what, error)

    def watch(self, ack: RecordAck, topic_partition: TopicPartition) -> None:
        """Report the outcome of a record, before the callbacks that the user adds to its ack."""

        def done(ack: RecordAck) -> None:
            if not ack._has_failed:
                metadata = ack.result()
                for call in self._on_acknowledgement:
                    _call(call, metadata)
            elif self._on_send_error:  # else nobody has seen the error, and the batch logs it
                error = ack.exception()
                assert error is not None
                self.failed(topic_partition, error)

        ack.add_done_callback(done)


class InterceptedPath:
    """Calls the interceptors, then appends the record."""

    def __init__(self, path: AppendPath, interceptors: ProducerInterceptors) -> None:
        self._path = path
        self._interceptors = interceptors

    async def send(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
        *,
        allow_empty: bool = False,
    ) -> RecordAck:
        """As `AppendPath.send`."""
        if not allow_empty:
            check_not_empty(value, key)
        record = ProducerRecord(topic, value, key, partition, timestamp_ms, headers)
        record = await self._interceptors.on_send(record)
        try:
            ack = await self._path.send(*_arguments(record), allow_empty=allow_empty)
        except Exception as error:
            self._interceptors.failed(record, error)
            raise
        return self._watched(ack)

    def send_nowait(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> RecordAck:
        """As `AppendPath.send_nowait`."""
        check_not_empty(value, key)
        record = ProducerRecord(topic, value, key, partition, timestamp_ms, headers)
        record = self._interceptors.on_send_nowait(record)
        try:
            ack = self._path.send_nowait(*_arguments(record))
        except Exception as error:
            self._interceptors.failed(record, error)
            raise
        return self._watched(ack)

    def _watched(self, ack: RecordAck) -> RecordAck:
        # The interceptors get an ack of their own: that of the user may be cancelled.
        self._interceptors.watch(ack._copy(), ack.topic_partition)
        return ack


InterceptedPath.send.__qualname__ = "AIOKafkaProducer.send"  # as asyncio's warnings name it


def _arguments(
    record: ProducerRecord,
) -> tuple[str, Any, Any, int | None, int | None, Iterable[tuple[str, bytes | None]] | None]:
    return (
        record.topic,
        record.value,
        record.key,
        record.partition,
        record.timestamp_ms,
        record.headers,
    )


def _bound(interceptors: Sequence[Any], name: str) -> list[Any]:
    return [
        getattr(interceptor, name)
        for interceptor in interceptors
        if callable(getattr(interceptor, name, None))
    ]


def _checked(given: object, record: ProducerRecord, call: object) -> ProducerRecord:
    if isinstance(given, ProducerRecord):
        return given
    logger.error(
        "interceptor %s returned %s and no ProducerRecord: ignored",
        quoted(call),
        cut(repr(type(given))),
    )
    return record


def _call(call: Any, *args: object) -> None:
    try:
        call(*args)
    except Exception as error:  # noqa: BLE001 - of the user's code
        record = next((each for each in args if isinstance(each, ProducerRecord)), None)
        _log_failure(call, error, record, "")


def _log_failure(
    call: object,
    error: Exception,
    record: ProducerRecord | None,
    after: str = "; the record goes on as it was",
) -> None:
    content = () if record is None else (record.key, record.value, record.headers)
    trace = trace_of(error, *content)
    logger.error("interceptor %s failed%s", quoted(call), after, exc_info=trace)


__all__ = ["InterceptedPath", "ProducerInterceptors", "ProducerRecord"]
