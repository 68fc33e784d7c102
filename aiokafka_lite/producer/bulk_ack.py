"""What `send_many` returns: one handle for any number of records, with no object for each.

Kept are the batches, and the runs of records that lie side by side in one: twelve bytes a run.
"""

import asyncio
from array import array
from collections.abc import Generator, Iterator
from itertools import repeat

from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.producer.batch_wait import all_done
from aiokafka_lite.producer.producer_batch import ProducerBatch


class BulkAck:
    """The acknowledgement of many records, to come.

    `await` it, as often as you like: it returns itself once every record has its outcome, and
    raises the first error in the order of sending. `errors()` has all of them. Belongs to the event
    loop of its producer.
    """

    __slots__ = ("_batches", "_counts", "_firsts", "_numbers", "_places", "_sent", "_timestamps")

    def __init__(self) -> None:
        self._batches: list[ProducerBatch] = []
        self._numbers: dict[ProducerBatch, int] = {}
        self._places = array("I")  # for each run: the batch's number, its first index, how many
        self._firsts = array("I")
        self._counts = array("I")
        self._timestamps: list[tuple[int, int]] = []
        self._sent = 0

    def __len__(self) -> int:
        """How many records were sent."""
        return self._sent

    def __repr__(self) -> str:
        state = "done" if self.done() else "waiting"
        return f"<BulkAck {self._sent} records in {len(self._batches)} batches, {state}>"

    def __await__(self) -> Generator[object, None, "BulkAck"]:
        """Wait for all. Cancelled: the records are sent all the same."""
        yield from all_done(self._batches).__await__()
        for _, error in self.errors():
            raise error.with_traceback(None)
        return self

    def done(self) -> bool:
        """Whether every record has its outcome."""
        return all(batch.is_done for batch in self._batches)

    def errors(self) -> Iterator[tuple[int, Exception]]:
        """Yield (number, why) of each record that was not written, in the order of sending.

        Raises asyncio.InvalidStateError while there is no outcome.
        """
        self._check_done()
        if not any(self._has_errors(batch) for batch in self._batches):
            return
        for number, (batch, index) in enumerate(self._records()):
            error = batch.error_of(index)
            if error is not None:
                yield number, error

    def metadata(self) -> Iterator[RecordMetadata]:
        """Yield where each record is, in the order of sending; made as they are asked for.

        The serialized sizes are not kept. Raises the record's error where one was not written,
        asyncio.InvalidStateError while there is no outcome.
        """
        self._check_done()
        for (batch, index), timestamp_ms in zip(self._records(), self._times(), strict=True):
            error = batch.error_of(index)
            if error is not None:
                raise error.with_traceback(None)
            yield batch.metadata_of(index, timestamp_ms)

    @property
    def failed_count(self) -> int:
        """How many records were not written."""
        return sum(1 for _ in self.errors())

    @property
    def written_count(self) -> int:
        """How many records were written."""
        return self._sent - self.failed_count

    # Filling it…

    def add(self, batch: ProducerBatch, first: int, count: int, timestamp_ms: int) -> None:
        """Note `count` records of one time that lie side by side in a batch."""
        if not self._timestamps or self._timestamps[-1][1] != timestamp_ms:
            self._timestamps.append((self._sent, timestamp_ms))
        self._sent += count
        place = self._numbers.get(batch)
        if place is None:
            place = self._numbers[batch] = len(self._batches)
            self._batches.append(batch)
        elif self._places[-1] == place and self._firsts[-1] + self._counts[-1] == first:
            self._counts[-1] += count
            return
        self._places.append(place)
        self._firsts.append(first)
        self._counts.append(count)

    # Reading it…

    def _check_done(self) -> None:
        if not self.done():
            raise asyncio.InvalidStateError("not all records are acknowledged yet")

    def _has_errors(self, batch: ProducerBatch) -> bool:
        return batch.is_split or batch.error is not None

    def _records(self) -> Iterator[tuple[ProducerBatch, int]]:
        for place, first, count in zip(self._places, self._firsts, self._counts, strict=True):
            batch = self._batches[place]
            for index in range(first, first + count):
                yield batch.place_of(index)

    def _times(self) -> Iterator[int]:
        ends = [number for number, _ in self._timestamps[1:]] + [self._sent]
        for (number, timestamp_ms), end in zip(self._timestamps, ends, strict=False):
            yield from repeat(timestamp_ms, end - number)


__all__ = ["BulkAck"]
