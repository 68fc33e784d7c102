"""Awaits what a deserializer has to wait for, between the fetch of a record and its poll.

A deserializer that raises `NotPreparedError` is prepared, and called again by the next poll. An
`async def` deserializer is awaited for one record after the other, in their order. The other
partitions go on meanwhile. A preparation that fails says nothing about the record: a poll raises
the error, and the preparation begins anew after a backoff.
"""

import asyncio
import inspect
import logging
from types import CoroutineType
from typing import Final

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

    __slots__ = ("_is_over", "monotonic", "turn_ends_s")

    def __init__(self, clock: Clock) -> None:
        self.monotonic = clock.awake
        self._is_over = False
        self.turn_ends_s = 0.0
        """From then on, `turn` has to be awaited before a record is made."""

    async def turn(self) -> None:
        """Return when a record may be made: at once, or after the rest of the program ran."""
        while self.monotonic() >= self.turn_ends_s:
            if not self._is_over:
                self._is_over = True
                asyncio.get_running_loop().call_soon(self._begin)
            await asyncio.sleep(0)

    def _begin(self) -> None:
        self._is_over = False
        self.turn_ends_s = self.monotonic() + BUDGET_S


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
                    if fetch.is_released:
                        break
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
        allowed = deserializer.in_vain.allowed(fetch.raw, fetch.wanted)
        return await make_objects(deserializer, fetch.raw[len(done) : allowed], done, self._pace)


async def make_objects(
    deserializer: RecordDeserializer, records: list[Record], done: list[Record], pace: Pace
) -> RecordDeserializationError | None:
    """Replace keys and values of records, and append each to `done` then; return when a poll may
    have these. If one fails, return its error.

    Cancelled: what is done stays done, and the other records are as they were.
    """
    named = (("key", deserializer.key), ("value", deserializer.value))
    functions = [
        (field, function, field in deserializer.plain_fields)
        for field, function in named
        if function is not None
    ]
    now_s = pace.monotonic()
    until_s = now_s + PORTION_S
    for record in records:
        if now_s >= pace.turn_ends_s:
            await pace.turn()
        made = []
        key, value = record.key, record.value
        for field, deserialize, is_plain in functions:
            data = key if field == "key" else value
            if data is None and field not in deserializer.takes_none:
                continue
            given = (data,) if is_plain else (record.topic, record.headers, data)
            try:
                try:
                    found = deserialize(*given)
                except NotPreparedError as unprepared:  # the other one is an `async def`
                    await unprepared.prepare()
                    found = deserialize(*given)
                if found.__class__ is CoroutineType or inspect.isawaitable(found):
                    found = await found
            except Exception as error:  # noqa: BLE001  a user's code may raise anything
                if data is None and isinstance(error, CANNOT_TAKE_NONE):
                    deserializer.takes_none.discard(field)
                    continue
                return deserializer.failed(record, field, key, value, error)
            made.append((field, found))
        for field, found in made:
            setattr(record, field, found)
        done.append(record)
        now_s = pace.monotonic()
        if now_s > until_s:
            break
    return None


__all__ = ["PORTION_S", "FetchPreparations", "Pace", "make_objects"]
