"""What `send_many` returns: one handle for any number of records, with no object for each.

The handle keeps no serialized sizes, since these would need an object per record.
"""

import asyncio
from collections.abc import Generator, Iterator
from itertools import repeat

from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.producer.accumulator.fast_append import AckRuns
from aiokafka_lite.producer.batch.batch_wait import all_done
from aiokafka_lite.producer.batch.record_ack import BatchOutcome


class BulkAck(AckRuns):
    """The ack of many records.

    It may be awaited any number of times. Each await returns the ack itself once every record is
    written, or raises the first error in the order of sending. `errors()` returns all errors. It
    belongs to the event loop of its producer.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        state = "done" if self.done() else "waiting"
        return f"<BulkAck {self._sent} records in {len(self._batches)} batches, {state}>"

    def __await__(self) -> Generator[object, None, "BulkAck"]:
        """Wait for all records. Cancelled: the records are sent all the same."""
        yield from all_done(self._batches).__await__()
        for _, error in self.errors():
            raise error.with_traceback(None)
        return self

    def done(self) -> bool:
        """Whether every record has its outcome."""
        return all(batch.is_done for batch in self._batches)

    def errors(self) -> Iterator[tuple[int, Exception]]:
        """Yield (number, error) of each record that was not written, in the order of sending.

        Raises: asyncio.InvalidStateError while there is no outcome.
        """
        self._check_done()
        if not any(self._has_errors(batch) for batch in self._batches):
            return
        for number, (batch, index) in enumerate(self._records()):
            error = batch.error_of(index)
            if error is not None:
                yield number, error

    def metadata(self) -> Iterator[RecordMetadata]:
        """Yield the metadata of each record in the order of sending, without serialized sizes.

        Raises: the error of a record that was not written; asyncio.InvalidStateError while there is
        no outcome.
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

    # Reading it…

    def _check_done(self) -> None:
        if not self.done():
            raise asyncio.InvalidStateError("not all records are acknowledged yet")

    def _has_errors(self, batch: BatchOutcome) -> bool:
        return batch.is_split or batch.error is not None

    def _records(self) -> Iterator[tuple[BatchOutcome, int]]:
        for place, first, count in zip(self._places, self._firsts, self._counts, strict=True):
            batch = self._batches[place]
            for index in range(first, first + count):
                yield batch.place_of(index)

    def _times(self) -> Iterator[int]:
        ends = [number for number, _ in self._timestamps[1:]] + [self._sent]
        for (number, timestamp_ms), end in zip(self._timestamps, ends, strict=False):
            yield from repeat(timestamp_ms, end - number)


__all__ = ["BulkAck"]
