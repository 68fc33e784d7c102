"""Owns the picture of a consumer that operators and tests may look at: what waits, where, how much.

Frozen values; making one changes nothing and does not wait.
"""

from dataclasses import dataclass

from aiokafka_lite.model import TopicPartition


@dataclass(frozen=True, slots=True)
class BufferedFetch:
    """Fetched data of one partition that no poll has returned yet."""

    topic_partition: TopicPartition
    next_offset: int
    """The offset of the next record to be returned."""
    size_in_bytes: int
    """Raw bytes as they were fetched, the part already returned included; 0 for an error."""


@dataclass(frozen=True, slots=True)
class ConsumerStatistics:
    """A consumer at one moment."""

    queue: tuple[TopicPartition, ...]
    """All assigned partitions, the next to be served first."""
    free: tuple[TopicPartition, ...]
    """The partitions the next fetch may ask for, in queue order."""
    buffered: tuple[BufferedFetch, ...]
    """In the order in which polls will return them."""
    unread_bytes: int
    """Sum over `buffered`; at most (fetch_buffer_bytes + fetch_max_bytes) per node, plus one
    oversize batch each."""
    fetching_nodes: frozenset[int]
    """The nodes that owe the answer to a fetch."""


__all__ = ["BufferedFetch", "ConsumerStatistics"]
