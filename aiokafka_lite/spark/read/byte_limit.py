"""Converts a limit in bytes to offsets, by an estimate from the next records.

Brokers report offsets, not sizes. So some partitions are sampled before a batch, and their bytes
per offset are remembered for a while. The others are assumed to be alike. It blocks while it asks
brokers.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import OffsetRange

logger = logging.getLogger(__name__)

SAMPLES: Final = 16
"""How many partitions are sampled before one batch."""
VALID_S: Final = 60.0
"""How long a sample of a partition stays valid."""
_UNSEEN_BYTES: Final = 1024.0

Weigh = Callable[[OffsetRange], float | None]
"""Returns the bytes per offset of a range, by its first records; None without records.

Counts keys, values and headers without compression. Raises: KafkaError.
"""


@dataclass(frozen=True, slots=True)
class _Weight:
    bytes_per_offset: float
    seen_at_s: float


class ByteLimit:
    """A limit in bytes for each trigger of one stream."""

    def __init__(self, max_bytes: int, weigh: Weigh, clock: Clock) -> None:
        self._max_bytes = max_bytes
        self._weigh = weigh
        self._clock = clock
        self._weights: dict[TopicPartition, _Weight] = {}

    def offsets(
        self, start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]
    ) -> int:
        """Return the end offsets for about this many bytes, shared in proportion to the backlogs.

        At least one offset is returned. Without a sample, an offset counts as one kilobyte.
        """
        ranges = [
            OffsetRange(*tp, start[tp], offset)
            for tp, offset in end.items()
            if start.get(tp, offset) < offset
        ]
        self._look_at(ranges)
        known = {
            each: self._weights[each.topic_partition].bytes_per_offset
            for each in ranges
            if each.topic_partition in self._weights
        }
        seen = sum(each.size for each in known)
        mean = _UNSEEN_BYTES
        if seen:
            mean = sum(each.size * weight for each, weight in known.items()) / seen
        return max(int(self._max_bytes / max(mean, 1.0)), 1)

    def _look_at(self, ranges: list[OffsetRange]) -> None:
        """Sample the partitions without a recent sample, the largest backlogs first."""
        now_s = self._clock.monotonic()
        due = [each for each in ranges if self._is_due(each.topic_partition, now_s)]
        due.sort(key=lambda each: each.size, reverse=True)
        for each in due[:SAMPLES]:
            try:
                weight = self._weigh(each)
            except KafkaError as error:
                logger.warning("the size of %s is not known: %s", each, error)
                continue
            if weight is not None:
                self._weights[each.topic_partition] = _Weight(weight, now_s)

    def _is_due(self, tp: TopicPartition, now_s: float) -> bool:
        known = self._weights.get(tp)
        return known is None or now_s - known.seen_at_s >= VALID_S


__all__ = ["SAMPLES", "VALID_S", "ByteLimit"]
