"""Turns the keys and values of decoded records into the user's objects.

If one fails, the error names its record, and the records before it are kept. A deserializer may be
slow: it gets a millisecond of each turn of the event loop.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from aiokafka_lite.checks.quoted import said
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.serialization import (
    CANNOT_TAKE_NONE,
    AnyDeserializer,
    NotPreparedError,
    is_async,
    takes_none,
    topic_deserializer,
)

BUDGET_S: Final = 0.001
"""For so long deserializers may work before the rest of the program runs; or for one record."""


_RANGES: Final = 32
"""How many stretches of dropped records are told apart. More become one."""


class TurnBudget:
    """The time that the deserializers of one consumer have in one turn of the event loop."""

    __slots__ = ("is_spent", "monotonic", "passes_errors", "until_s")

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self.monotonic = clock.awake
        self.until_s = 0.0
        """When the time is over; 0 until the first record of the turn comes."""
        self.is_spent = False
        """No further record is to be made in this turn."""
        self.passes_errors = False
        """Polls raise a deserializer's own error, as aiokafka's do."""

    def start(self) -> float:
        """Note that the first record of the turn comes; return `until_s`."""
        self.until_s = self.monotonic() + BUDGET_S
        return self.until_s

    def begin(self) -> None:
        """Note that the rest of the program has run."""
        self.until_s, self.is_spent = 0.0, False


class MadeInVain:
    """The offsets of one partition whose records were deserialized ahead of polls, and then dropped
    by a seek. They are not made ahead a second time.
    """

    __slots__ = ("_ranges",)

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int]] = []  # first and last offset, ascending, apart

    def add(self, records: Sequence[ConsumerRecord[Any, Any]]) -> None:
        """Note records that were dropped, in the order of their offsets."""
        first, last = records[0].offset, records[-1].offset
        apart: list[tuple[int, int]] = []
        for start, end in self._ranges:
            if end < first or last < start:
                apart.append((start, end))
            else:
                first, last = min(first, start), max(last, end)
        apart.append((first, last))
        if len(apart) > _RANGES:
            apart = [(min(start for start, _ in apart), max(end for _, end in apart))]
        self._ranges = sorted(apart)

    def allowed(self, records: Sequence[ConsumerRecord[Any, Any]], wanted: int) -> int:
        """Return how many of these records may be made, if a poll returns `wanted` of them now."""
        count = len(records)
        if count <= wanted or not self._ranges or records[-1].offset < self._ranges[0][0]:
            return count
        for index in range(wanted, count):
            offset = records[index].offset
            if any(start <= offset <= end for start, end in self._ranges):
                return index
        return count


class RecordDeserializer:
    """The two deserializers of one partition's records; either may be None.

    An absent key or value stays None if the deserializer does not take it.
    """

    key: Callable[..., Any] | None
    """Called with the bytes, or with topic, headers and bytes; None: keys stay bytes."""
    value: Callable[..., Any] | None
    """As `key`."""
    __slots__ = (
        "_budget",
        "in_vain",
        "is_async",
        "key",
        "partition",
        "plain_fields",
        "takes_none",
        "topic",
        "value",
    )

    def __init__(
        self,
        topic: str,
        partition: int,
        key_deserializer: AnyDeserializer[Any] | None,
        value_deserializer: AnyDeserializer[Any] | None,
        budget: TurnBudget | None = None,
        in_vain: MadeInVain | None = None,
    ) -> None:
        """`budget`: that of the consumer, `in_vain`: that of the partition; None: there is one for
        these records alone.
        """
        self.in_vain = MadeInVain() if in_vain is None else in_vain
        self._budget = TurnBudget() if budget is None else budget
        self.topic = topic
        self.partition = partition
        named: tuple[tuple[str, Any], ...] = (
            ("key", key_deserializer),
            ("value", value_deserializer),
        )
        self.plain_fields = frozenset(field for field, function in named if takes_none(function))
        """The fields whose deserializer is called with the bytes alone."""
        self.takes_none = set(self.plain_fields)
        """Those that are called with None, until they cannot take that."""
        self.key, self.value = (
            function
            if function is None or field in self.plain_fields
            else topic_deserializer(function)
            for field, function in named
        )
        self.is_async = is_async(key_deserializer) or is_async(value_deserializer)
        """Whether one of them has to be awaited. Then `apply` cannot be used."""

    def apply(self, records: list[ConsumerRecord[Any, Any]]) -> RecordDeserializationError | None:
        """Replace keys and values in place, of one record at least.

        If the time of the turn is over, cut the list before the next record. If one fails, cut the
        list before it and return the error. A record whose deserializer is not prepared stays as it
        was; the error's cause is the NotPreparedError.

        The records before the bad one still reach the user (2b-20). Source: KIP-334.
        """
        deserialize_key, deserialize_value, topic = self.key, self.value, self.topic
        is_plain_key, is_plain_value = ("key" in self.plain_fields), ("value" in self.plain_fields)
        budget = self._budget
        now_s = budget.monotonic
        until_s = budget.until_s or budget.start()
        field = "value"
        for made, record in enumerate(records, 1):
            key, value = record.key, record.value
            try:
                if deserialize_key is not None:
                    field = "key"
                    if key is None:
                        record.key = self._made_of_none(field)
                    elif is_plain_key:
                        record.key = deserialize_key(key)
                    else:
                        record.key = deserialize_key(topic, record.headers, key)
                    field = "value"
                if deserialize_value is not None:
                    if value is None:
                        record.value = self._made_of_none(field)
                    elif is_plain_value:
                        record.value = deserialize_value(value)
                    else:
                        record.value = deserialize_value(topic, record.headers, value)
            except Exception as error:  # noqa: BLE001  a user's code may raise anything
                del records[made - 1 :]
                if isinstance(error, NotPreparedError) and deserialize_key is not None:
                    record.key = key
                return self.failed(record, field, key, value, error)
            if now_s() > until_s:
                budget.is_spent = True
                del records[made:]
                return None
        return None

    def _made_of_none(self, field: str) -> Any:
        if field in self.takes_none:
            deserialize = self.key if field == "key" else self.value
            assert deserialize is not None
            try:
                return deserialize(None)
            except CANNOT_TAKE_NONE:
                self.takes_none.discard(field)
        return None

    def remedy(self, offset: int) -> str:
        """Return how to go past the record at `offset`."""
        return f"seek to offset {offset + 1} to go past it"

    def failed(
        self,
        record: ConsumerRecord[Any, Any],
        field: str,
        key: bytes | None,
        value: bytes | None,
        cause: Exception,
    ) -> RecordDeserializationError:
        """Return the error of a record whose "key" or "value" cannot be deserialized."""
        kind = _PassedOn if self._budget.passes_errors else RecordDeserializationError
        failed = kind(
            f"{self.topic}-{self.partition} at offset {record.offset}: the {field} cannot be"
            f" deserialized: {said(cause, key, value)}; {self.remedy(record.offset)}",
            topic_partition=TopicPartition(self.topic, self.partition),
            offset=record.offset,
            timestamp=record.timestamp,
            key_bytes=key,
            value_bytes=value,
            headers=record.headers,
        )
        failed.__cause__ = cause
        return failed


class _PassedOn(RecordDeserializationError):
    """One in whose place a poll raises the error of the deserializer."""


def to_raise(failed: RecordDeserializationError) -> BaseException:
    """Return what a poll raises for it: the error of the deserializer, if it is passed on."""
    cause = failed.__cause__ if isinstance(failed, _PassedOn) else None
    return failed.with_traceback(None) if cause is None else cause


__all__ = ["BUDGET_S", "MadeInVain", "RecordDeserializer", "TurnBudget", "to_raise"]
