"""Owns the waiting of `send` for serializers: for one that is not prepared, or is an `async def`.

The records of a topic keep the order of their calls: while one call waits, later calls for the
topic wait behind it. A serializer that is prepared and not async costs nothing here.
"""

import inspect
from collections.abc import Iterable
from typing import Any

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.long_waits import LongWait, LongWaits
from aiokafka_lite.errors import IllegalStateError, KafkaTimeoutError
from aiokafka_lite.producer.append.route_finder import RouteFinder
from aiokafka_lite.producer.batch.record_fields import (
    Headers,
    RecordSerializers,
    check_bytes,
    freeze_headers,
)
from aiokafka_lite.producer.partition.topic_routes import TopicRoute
from aiokafka_lite.serialization import CANNOT_TAKE_NONE, NotPreparedError

_MOST_PREPARATIONS = 10
"""How often one record may ask for another preparation: once for its key, once for its value…"""

Fields = tuple[bytes | None, bytes | None, Headers]
GivenHeaders = Iterable[tuple[str, bytes | None]] | None


class WaitingSerializers:
    """The serializers of one producer, for calls that may wait."""

    def __init__(
        self,
        serializers: RecordSerializers,
        finder: RouteFinder,
        clock: Clock,
        max_block_ms: int,
        waits: LongWaits,
    ) -> None:
        self._serializers = serializers
        self._finder = finder
        self._clock = clock
        self._max_block_ms = max_block_ms
        self._waits = waits
        self._wait: LongWait | None = None
        self._begun_s: dict[object, float] = {}
        """Since when each call that waits now has waited."""

    async def encode(
        self,
        topic: str,
        route: TopicRoute | None,
        value: Any,
        key: Any,
        headers: GivenHeaders,
        began_s: float,
    ) -> tuple[TopicRoute, bytes | None, bytes | None, Headers]:
        """Return the route to the topic, and key, value and headers as they will be sent.

        `route` None: it is not known, or another call for the topic waits.

        Raises: as `RouteFinder.find`; SerializationError; the error of a preparation;
        KafkaTimeoutError after max_block_ms. Cancelled: nothing stays behind.
        """
        given = None if headers is None else tuple(headers)
        if route is not None and not self._serializers.is_async:
            try:
                return route, *self._serializers.encode(topic, value, key, given)
            except NotPreparedError:
                pass
        if self._wait is None:
            self._wait = self._waits.of(
                "serializers to make bytes of a record",
                "check what they wait for, such as a schema registry",
                is_apart=True,
                begun_s=self._waiting_since_s,
            )
        async with self._finder.turn(topic, began_s) as found:
            call = object()
            self._begun_s[call] = began_s
            try:
                async with deadline(self._clock, self._finder.left_s(began_s)):
                    return found, *await self._encode_waiting(topic, value, key, given)
            except TimeoutError as error:
                if isinstance(error, KafkaTimeoutError):
                    raise
                raise KafkaTimeoutError(
                    f"the serializers were not ready for a record of topic {quoted(topic)} within"
                    f" max_block_ms={self._max_block_ms}; prepare them before, or raise it"
                ) from None
            finally:
                del self._begun_s[call]

    def _waiting_since_s(self) -> float | None:
        return min(list(self._begun_s.values()), default=None)

    def encode_nowait(self, topic: str, value: Any, key: Any, headers: GivenHeaders) -> Fields:
        """Return key, value and headers as they will be sent.

        Raises: SerializationError; IllegalStateError where `encode` would wait.
        """
        if self._serializers.is_async:
            raise IllegalStateError(
                "send_nowait() cannot await an async serializer; use send(), or one that is not"
                " async"
            )
        try:
            return self._serializers.encode(topic, value, key, headers)
        except NotPreparedError as error:
            raise IllegalStateError(
                f"send_nowait() cannot wait for a serializer: {error.args[0]}"
            ) from error

    async def _encode_waiting(
        self, topic: str, value: Any, key: Any, headers: GivenHeaders
    ) -> Fields:
        listed = list(freeze_headers(headers, self._serializers.most_bytes))
        encoded_key = await self._to_bytes("key", topic, listed, key)
        encoded_value = await self._to_bytes("value", topic, listed, value)
        return encoded_key, encoded_value, freeze_headers(listed)

    async def _to_bytes(  # noqa: RET503  `fail` does not return
        self, field: str, topic: str, headers: list[tuple[str, bytes | None]], obj: Any
    ) -> bytes | None:
        if obj is None and field not in self._serializers.takes_none:
            return None
        named = self._serializers.serializer(field)
        if named is None:
            return check_bytes(field, obj, self._serializers.most_bytes)
        for _ in range(_MOST_PREPARATIONS):
            try:
                data = named[1](topic, headers, obj)
                if inspect.isawaitable(data):
                    data = await data
            except NotPreparedError as error:
                unprepared = error
            except Exception as error:  # noqa: BLE001  `fail` raises it
                if obj is None and isinstance(error, CANNOT_TAKE_NONE):
                    self._serializers.takes_none.discard(field)
                    return None
                self._serializers.fail(field, topic, obj, error)
            else:
                return self._serializers.checked(field, obj, data)
            await unprepared.prepare()
        self._serializers.fail(field, topic, obj, unprepared)


__all__ = ["WaitingSerializers"]
