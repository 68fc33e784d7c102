"""Awaits what a deserializer has to wait for, between the fetch of a record and its poll.

A deserializer that raises `NotPreparedError` is prepared, and called again by the next poll. An
`async def` deserializer is awaited for one record after the other, in their order. The other
partitions go on meanwhile. A preparation that fails says nothing about the record: a poll raises
the error, and the preparation begins anew after a backoff.
"""

import asyncio
import inspect
import logging
from typing import Any, Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch, Record
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.errors import KafkaTimeoutError, RecordDeserializationError
from aiokafka_lite.record.cursor.record_deserializer import BUDGET_S, RecordDeserializer
from aiokafka_lite.serialization import CANNOT_TAKE_NONE, NotPreparedError

logger = logging.getLogger(__name__)

PORTION_S: Final = 0.02
"""After this time, records that `async def` deserializers have made are returned."""


class Pace:
    """The time that all `async def` deserializers of one consumer have in a turn of the loop.

    A deserializer may never wait. Many partitions may be prepared at once.
    """

    __slots__ = ("_is_over", "_monotonic", "_turn_ends_s")

    def __init__(self, clock: Clock) -> None:
        self._monotonic = clock.monotonic
        self._is_over = False
        self._turn_ends_s = 0.0

    async def turn(self) -> None:
        """Return when a record may be made: at once, or after the rest of the program ran."""
        while self._monotonic() >= self._turn_ends_s:
            if not self._is_over:
                self._is_over = True
                asyncio.get_running_loop().call_soon(self._begin)
            await asyncio.sleep(0)

    def _begin(self) -> None:
        self._is_over = False
        self._turn_ends_s = self._monotonic() + BUDGET_S


class FetchPreparations:
    """Runs the preparations of one consumer, one task for each fetch that needs one."""

    def __init__(self, client: KafkaClient, signal: PollSignal, *, timeout_s: float) -> None:
        """`timeout_s` bounds each attempt."""
        self._client = client
        self._signal = signal
        self._timeout_s = timeout_s
        self._pace = Pace(client.clock)
        self._error: Exception | None = None

    def start(self, unprepared: dict[CompletedFetch, None]) -> None:
        """Prepare the fetches, and forget them in `unprepared`. Does not wait."""
        for fetch in unprepared:
            topic, partition = fetch.topic_partition
            self._client.owner.spawn(f"prepare[{topic}-{partition}]", self._prepare, fetch)
        unprepared.clear()

    def take_error(self) -> Exception | None:
        """Return the error of a preparation, once. Does not wait."""
        error, self._error = self._error, None
        return error

    async def _prepare(self, fetch: CompletedFetch) -> None:
        clock, attempts = self._client.clock, 0
        error: Exception | None = None
        done: list[Record] = []
        failure: RecordDeserializationError | None = None
        wait = self._client.waits.of(
            f"the deserializer of {fetch!r}", "check what it waits for, such as a schema registry"
        )
        with wait:
            while True:
                try:
                    async with deadline(clock, self._timeout_s):
                        failure = await self._attempt(fetch, done)
                    break
                except TimeoutError:
                    error = KafkaTimeoutError(
                        f"{fetch!r}: its deserializer was not ready within {self._timeout_s:g} s"
                    )
                except Exception as raised:  # noqa: BLE001  a user's code may raise anything
                    error = raised
                self._error = error
                wait.failed(error)
                logger.log(
                    logging.DEBUG if attempts else logging.WARNING,
                    "%s: %r: its deserializer cannot be prepared: %s",
                    *(self._client.config.client_id, fetch, error),
                )
                self._signal.notify()
                await clock.sleep(self._client.retry_backoff.delay(attempts))
                attempts += 1
        if self._error is error:
            self._error = None  # it is over before a poll could raise it
        fetch.prepared(done, failure)
        self._signal.notify()

    async def _attempt(
        self, fetch: CompletedFetch, done: list[Record]
    ) -> RecordDeserializationError | None:
        """Do what the fetch needs; append the records that are deserialized now to `done`."""
        deserializer = fetch.deserializer
        assert deserializer is not None
        if not deserializer.is_async:
            assert fetch.unprepared is not None
            await fetch.unprepared.prepare()
            return None
        monotonic = self._client.clock.monotonic
        until_s = monotonic() + PORTION_S
        for record in fetch.raw[len(done) :]:
            await self._pace.turn()
            failure = await make_object(deserializer, record)
            if failure is not None:
                return failure
            done.append(record)
            if monotonic() > until_s:
                return None  # a poll may have these; the others are made for the next ones
        return None


async def make_object(
    deserializer: RecordDeserializer, record: Record
) -> RecordDeserializationError | None:
    """Replace key and value of a record, or return the error of one of them."""
    key, value = record.key, record.value
    made: dict[str, Any] = {}
    for field, data, deserialize in (
        ("key", key, deserializer.key),
        ("value", value, deserializer.value),
    ):
        if deserialize is None or (data is None and field not in deserializer.takes_none):
            continue
        try:
            try:
                found = deserialize(record.topic, record.headers, data)
            except NotPreparedError as unprepared:  # the other one is an `async def`
                await unprepared.prepare()
                found = deserialize(record.topic, record.headers, data)
            made[field] = await found if inspect.isawaitable(found) else found
        except Exception as error:  # noqa: BLE001  a user's code may raise anything
            if data is None and isinstance(error, CANNOT_TAKE_NONE):
                deserializer.takes_none.discard(field)
                continue
            return deserializer.failed(record, field, key, value, error)
    for field, found in made.items():
        setattr(record, field, found)
    return None


__all__ = ["PORTION_S", "FetchPreparations", "Pace", "make_object"]
