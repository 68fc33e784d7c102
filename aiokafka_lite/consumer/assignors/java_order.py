"""The order in which Java's hash tables are walked, computed. Plain values, no state of a group.

Java's sticky assignors take members, and partitions that moved, as a HashMap hands them out. The
same order here gives the same assignment. So no partition moves when the leadership of a group
passes between a Java member and a member of this package. One thing differs: Java turns buckets of
eight or more entries into trees.
"""

from collections.abc import Iterable

from aiokafka_lite.model import TopicPartition

_FIRST_CAPACITY = 16


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """Return the keys as a HashMap yields them that got them in the given order."""
    ordered = list(keys)
    capacity = _grown(_FIRST_CAPACITY, len(ordered))
    return sorted(ordered, key=lambda key: _bucket(string_hash(key), capacity))


def string_hash(text: str) -> int:
    """Return Java's `String.hashCode` as an unsigned 32-bit number."""
    units = text.encode("utf-16-be", "surrogatepass")
    hashed = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        hashed = hashed * 31 + (high << 8 | low) & 0xFFFFFFFF
    return hashed


class PartitionHashSet:
    """A set of partitions that knows which of them a Java HashSet would name first."""

    def __init__(self) -> None:
        self._hashes: dict[TopicPartition, int] = {}
        self._capacity = _FIRST_CAPACITY

    def __len__(self) -> int:
        return len(self._hashes)

    def add(self, partition: TopicPartition) -> None:
        """Put it in."""
        hashed = 31 * (31 + partition.partition) + string_hash(partition.topic)
        self._hashes[partition] = hashed & 0xFFFFFFFF
        self._capacity = _grown(self._capacity, len(self._hashes))

    def remove(self, partition: TopicPartition) -> None:
        """Take it out; the table keeps its size."""
        del self._hashes[partition]

    def first(self) -> TopicPartition:
        """Return the one an iterator would give first."""
        return min(self._hashes, key=lambda one: _bucket(self._hashes[one], self._capacity))


def _grown(capacity: int, count: int) -> int:
    while count * 4 > capacity * 3:
        capacity *= 2
    return capacity


def _bucket(hashed: int, capacity: int) -> int:
    return (hashed ^ hashed >> 16) & capacity - 1


__all__ = ["PartitionHashSet", "hash_map_order", "string_hash"]
