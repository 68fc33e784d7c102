"""Every method by which a user can send, as data, and a caller of all of them.

`Caller` makes the calls of a schedule, mixed and without waiting for each other. It keeps the
outcome of each, with its time. `send_model` judges that.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.producer.append.bulk_ack import BulkAck
from aiokafka_lite.producer.batch.record_ack import BatchAck, RecordAck
from aiokafka_lite.testing.fake_clock import FakeClock

NUMBER_SIZE = 6


class Way(Enum):
    """How records are handed over."""

    SEND = "send"
    """Several are gathered: the calls are made one after the other, before any of them runs."""
    NOWAIT = "send_nowait"
    AND_WAIT = "send_and_wait"
    MANY = "send_many"
    ARROW = "send_arrow"
    BATCH = "send_batch"


class Form(Enum):
    """What a record is made of."""

    PLAIN = "bytes"
    BYTEARRAY = "bytearray"
    HEADERS = "headers as lists"


BULK = (Way.MANY, Way.ARROW)


class Call(NamedTuple):
    """A call, or several of `send`."""

    way: Way
    topic: str
    partition: int | None
    key: bytes | None
    records: int
    size: int
    form: Form = Form.PLAIN
    pauses: bool = True
    """Whether others run before the next step; what is no `send` begins only then."""


class CancelCalls(NamedTuple):
    """Every call that waits is cancelled."""


@dataclass(slots=True, eq=False)
class Made:
    """A call that was made, and what came of it."""

    call: Call
    numbers: list[int]
    transaction: int
    """The number of the one that was open."""
    began: int
    began_at_s: float
    ended: int | None = None
    """As `began`, a place in the order of everything that calls do."""
    ended_at_s: float | None = None
    told_at_s: float | None = None
    error: BaseException | None = None
    """What the call raised; CancelledError for one that was cancelled."""
    fates: dict[int, RecordMetadata | Exception | None] = field(default_factory=dict)
    """Record -> what its ack said; None: that it was written."""
    calls_back: list[RecordAck] = field(default_factory=list)

    @property
    def is_bulk(self) -> bool:
        return self.call.way in BULK

    @property
    def is_refused(self) -> bool:
        """The call raised before anything was queued."""
        return self.error is not None and not self.is_bulk and self.call.way is not Way.AND_WAIT

    def __str__(self) -> str:
        call = self.call
        fates = [
            f"{number}: {fate.partition}@{fate.offset}"
            if isinstance(fate, RecordMetadata)
            else f"{number}: {fate!r}"
            for number, fate in self.fates.items()
        ]
        return (
            f"{self.numbers} {call.way.value} to {call.topic}[{call.partition}] key {call.key!r} "
            f"{call.form.value}, transaction {self.transaction}, began #{self.began} at "
            f"{self.began_at_s:.3f} s, ended #{self.ended} at {self.ended_at_s} s, "
            f"{'' if self.error is None else repr(self.error)} {fates}"
        )


class Caller:
    """The user. `producer` may be replaced."""

    def __init__(self, clock: FakeClock) -> None:
        self.producer: AIOKafkaProducer
        self.clock = clock
        self.made: list[Made] = []
        self.transaction = 0
        self._next_number = 0
        self._next_moment = 0
        self._calls: dict[asyncio.Future[Any], None] = {}  # in the order of the calls
        self._followers: list[asyncio.Task[None]] = []

    async def make(self, call: Call) -> list[Made]:
        """Make a call; whatever it raises is noted."""
        count = call.records if call.way is not Way.AND_WAIT else 1
        if call.way in (Way.SEND, Way.NOWAIT):
            made = [self._make_one(call, 1) for _ in range(count)]
        else:
            made = [self._make_one(call, count)]
        if call.pauses or call.way is not Way.SEND:
            await asyncio.sleep(0)
        return made

    def _make_one(self, call: Call, count: int) -> Made:
        numbers = list(range(self._next_number, self._next_number + count))
        self._next_number += count
        made = Made(call, numbers, self.transaction, self._moment(), self.clock.monotonic())
        self.made.append(made)
        if call.way is Way.NOWAIT:
            self._make_nowait(made)
            return made
        making = asyncio.ensure_future(self._calling(made))
        self._calls[making] = None
        self._followers.append(asyncio.create_task(self._follow(made, making)))
        making.add_done_callback(partial(self._ended, made))
        return made

    def _make_nowait(self, made: Made) -> None:
        call = made.call
        [(key, value)] = self._records(made)
        try:
            ack = self.producer.send_nowait(
                call.topic, value, key, call.partition, headers=_headers(call)
            )
        except KafkaError as error:
            made.error = error
            self._note_end(made)
        else:
            self._note_end(made)
            self._followers.append(asyncio.create_task(self._hear(made, ack)))

    def _calling(self, made: Made) -> Awaitable[Any]:
        call, producer = made.call, self.producer
        records = self._records(made)
        match call.way:
            case Way.MANY:
                items: Iterable[Any] = records if call.key is not None else [v for _, v in records]
                return producer.send_many(call.topic, items, call.partition)
            case Way.ARROW:
                table = pa.table({"value": pa.array([bytes(v) for _, v in records], pa.binary())})
                if call.key is not None:
                    keys = pa.array([call.key] * len(records), pa.binary())
                    table = table.append_column("key", keys)
                return producer.send_arrow(table, call.topic, partition=call.partition)
            case Way.BATCH:
                batch = producer.create_batch()
                for key, value in records:
                    if batch.append(timestamp=None, key=key, value=value) is None:
                        break
                del made.numbers[batch.record_count() :]
                return producer.send_batch(batch, call.topic, partition=call.partition or 0)
        one_by_one: Callable[..., Awaitable[Any]] = producer.send
        if call.way is Way.AND_WAIT:
            one_by_one = producer.send_and_wait
        [(key, value)] = records
        return one_by_one(call.topic, value, key, call.partition, headers=_headers(call))

    def _records(self, made: Made) -> list[tuple[bytes | None, Any]]:
        call = made.call
        make = bytearray if call.form is Form.BYTEARRAY else bytes
        key: Any = None if call.key is None else make(call.key)
        if call.way in BULK:
            key = call.key
        return [(key, make(b"%06d" % number + b"." * call.size)) for number in made.numbers]

    # What comes of it…

    def _moment(self) -> int:
        self._next_moment += 1
        return self._next_moment

    def _note_end(self, made: Made) -> None:
        made.ended, made.ended_at_s = self._moment(), self.clock.monotonic()

    def _ended(self, made: Made, making: asyncio.Future[Any]) -> None:
        self._calls.pop(making, None)
        self._note_end(made)

    async def _follow(self, made: Made, making: asyncio.Future[Any]) -> None:
        await asyncio.wait([making])
        if making.cancelled():
            made.error = asyncio.CancelledError()
            return
        error = making.exception()
        if error is None:
            await self._hear(made, making.result())
        elif isinstance(error, KafkaError):
            made.error = error
        else:
            raise error

    async def _hear(self, made: Made, told: RecordAck | BulkAck | RecordMetadata) -> None:
        """Wait for the acks, and note what they say."""
        if not isinstance(told, RecordMetadata):
            if isinstance(told, RecordAck):
                told.add_done_callback(made.calls_back.append)
            with suppress(KafkaError):
                await told
        made.told_at_s = self.clock.monotonic()
        made.fates = dict(zip(made.numbers, _fates(told, len(made.numbers)), strict=True))

    async def cancel(self) -> None:
        """Cancel every call that waits: what is in a batch when its coroutine begins, stays."""
        await asyncio.sleep(0)
        for call in list(self._calls):
            call.cancel()

    async def settle(self) -> None:
        """Wait until every call has ended, and every record has its answer."""
        while self._followers:
            followers, self._followers = self._followers, []
            await asyncio.gather(*followers)

    def __str__(self) -> str:
        return "\n".join(map(str, self.made))


def _headers(call: Call) -> Any:
    return [["name", b"value"]] if call.form is Form.HEADERS else None


def _fates(
    told: RecordAck | BulkAck | RecordMetadata, count: int
) -> list[RecordMetadata | Exception | None]:
    if isinstance(told, RecordMetadata):
        return [told]
    if isinstance(told, BulkAck):
        if not told.failed_count:
            return list(told.metadata())
        errors = dict(told.errors())
        return [errors.get(number) for number in range(count)]
    error = told.exception()
    if error is not None:
        return [error] * count
    first = told.result()
    if isinstance(told, BatchAck) and first.offset >= 0:
        return [first._replace(offset=first.offset + number) for number in range(count)]
    return [first] * count


__all__ = ["BULK", "NUMBER_SIZE", "Call", "Caller", "CancelCalls", "Form", "Made", "Way"]
