"""Owns `send_many`: `fast_append` takes the records in a loop, up to the first that it leaves. The
append path takes that one and may wait. Then the loop goes on. In between other tasks have a turn,
a millisecond after they had one: serializers, interceptors and generators may be slow.
"""

from collections.abc import Iterable, Iterator, Mapping
from sys import maxsize
from typing import Any, Final

from aiokafka_lite.concurrency.portions import Portions
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.producer.accumulator.fast_append import NO_MORE
from aiokafka_lite.producer.append.append_path import AppendPath
from aiokafka_lite.producer.append.bulk_ack import BulkAck
from aiokafka_lite.producer.append.producer_interceptors import InterceptedPath
from aiokafka_lite.producer.batch.record_fields import Headers, freeze_headers

_MOST: Final = 1024
"""So many records of a generator are read in a row, however fast it was."""
_RUN_NO_CODE: Final[tuple[type, ...]] = (type(iter([])), type(iter(())))
"""Iterators that cannot be slow."""


class BulkSend:
    """One call of `send_many`."""

    def __init__(
        self,
        path: AppendPath,
        records: AppendPath | InterceptedPath,
        topic: str,
        *,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> None:
        self._path = path
        self._records = records
        self._clock = path.clock
        self._topic = topic
        self._partition = partition
        self._timestamp_ms = timestamp_ms
        self._headers: Headers = freeze_headers(headers)
        self._is_plain = records is path and not path.serializers
        self._acks = BulkAck()

    async def send(self, records: Iterable[Any]) -> BulkAck:
        """Append all records. As `AIOKafkaProducer.send_many`."""
        given: object = records
        if isinstance(given, Mapping | str | bytes | bytearray | memoryview):
            raise IllegalArgumentError(
                f"records are of type {type(given).__name__}; give a list of values or of tuples "
                f"(key, value)"
                + (", such as records.items()" if isinstance(given, Mapping) else "")
            )
        try:
            await self._send_all(iter(records))
        except Exception as error:
            error.add_note(f"{len(self._acks)} records of this send_many() were queued before")
            raise
        return self._acks

    async def _send_all(self, iterator: Iterator[Any]) -> None:
        portions = Portions(self._clock, _MOST)
        is_paced = type(iterator) not in _RUN_NO_CODE
        item = next(iterator, NO_MORE)
        while item is not NO_MORE:
            if self._is_plain:
                before = len(self._acks)
                item = self._path.fast_append.append_all(
                    self._acks,
                    self._topic,
                    item,
                    iterator,
                    self._partition,
                    self._timestamp_ms,
                    self._headers,
                    portions.count if is_paced else maxsize,
                )
                if is_paced and portions.learn(len(self._acks) - before):
                    await portions.turn()
                if item is NO_MORE:
                    item = next(iterator, NO_MORE) if is_paced else NO_MORE
                    continue
                if self._path.must_pause():
                    # `item` was not sent yet: it needs no place in the order of the calls.
                    await self._clock.sleep(0)
                    continue
            await self._send_one(item)
            if portions.are_over:
                await portions.turn()
            item = next(iterator, NO_MORE)

    async def _send_one(self, item: Any) -> None:
        """Append one record by the append path, which may wait."""
        key, value = item if item.__class__ is tuple and len(item) == 2 else (None, item)
        ack = await self._records.send(
            self._topic,
            value,
            key,
            self._partition,
            self._timestamp_ms,
            self._headers,
            allow_empty=item is not None,  # a None may be a mistake, a (None, None) is none
        )
        batch, index = ack._batch_and_index
        self._acks._add(batch, index, 1, ack.timestamp_ms)


__all__ = ["BulkSend"]
