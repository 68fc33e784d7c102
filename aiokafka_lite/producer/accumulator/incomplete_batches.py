"""Owns the batches that have no outcome yet: their expiry, and the flushes that wait for them.
Does not wait.
"""

from collections.abc import Iterator, Sequence

from aiokafka_lite.producer.batch.producer_batch import ProducerBatch


class IncompleteBatches:
    """The batches of one producer without outcome, queued or in flight, oldest first."""

    __slots__ = ("_batches", "_delivery_timeout_s", "_flushes", "is_flushing")

    def __init__(self, delivery_timeout_s: float) -> None:
        self._delivery_timeout_s = delivery_timeout_s
        self._batches: dict[ProducerBatch, None] = {}
        self._flushes = 0
        self.is_flushing = False
        """Whether a flush waits, which makes every batch due."""

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[ProducerBatch]:
        """Iterate over the batches as they are now: they may be removed meanwhile."""
        return iter(self.batches)

    @property
    def batches(self) -> list[ProducerBatch]:
        """The batches as they are now, oldest first. A tuple would be allocated inside its loop."""
        return list(self._batches)

    def add(self, batch: ProducerBatch) -> None:
        """Note a new batch."""
        self._batches[batch] = None

    def remove(self, batch: ProducerBatch) -> bool:
        """Forget a batch that has its outcome; return whether it was there."""
        if batch not in self._batches:
            return False
        del self._batches[batch]
        return True

    def replace(self, batch: ProducerBatch, pieces: Sequence[ProducerBatch]) -> None:
        """Put the pieces of a split batch in its place."""
        while True:
            before = self._batches.copy()
            batches: dict[ProducerBatch, None] = {}
            for other in before:
                batches.update(dict.fromkeys(pieces if other is batch else (other,)))
            if self._batches == before:  # nothing came or went meanwhile
                self._batches = batches
                return

    # Expiry…

    @property
    def next_expiry_s(self) -> float | None:
        """When the oldest batch will be delivery_timeout_ms old; None: there is no batch."""
        for batch in self._batches:  # nothing runs before the first
            return batch.created_s + self._delivery_timeout_s
        return None

    def expired(self, now_s: float) -> Iterator[ProducerBatch]:
        """Yield the batches older than delivery_timeout_ms, oldest first."""
        next_s = self.next_expiry_s
        if next_s is None or next_s > now_s:
            return  # the usual case copies no batches
        for batch in self:
            if batch.created_s + self._delivery_timeout_s > now_s:
                return
            yield batch

    # Flushes…

    def begin_flush(self) -> list[ProducerBatch]:
        """Make every batch due until as many `end_flush` came; return the batches to wait for."""
        self._flushes += 1
        self.is_flushing = True
        return self.batches

    def end_flush(self) -> None:
        """Take back one `begin_flush`."""
        self._flushes -= 1
        self.is_flushing = self._flushes > 0


__all__ = ["IncompleteBatches"]
