"""Chooses the partition of a record without one: the sticky partition, and the partitioners that a
user may pass. Does not wait.
"""

import random
from collections.abc import Sequence
from typing import Protocol

from aiokafka_lite.producer.accumulator.fast_append import RECORD_OVERHEAD, StickyChoice
from aiokafka_lite.producer.key_hash.murmur2 import KeyHashes


class DefaultPartitioner:
    """aiokafka's: the key's murmur2 over all partitions; without key a random available partition.

    Without a partitioner the producer does better for records without key: it fills a batch before
    it changes the partition.
    """

    def __init__(self, rng: random.Random | None = None) -> None:
        self._hashes = KeyHashes()
        self._rng = rng or random.Random()

    def __call__(
        self, key: bytes | None, all_partitions: Sequence[int], available: Sequence[int]
    ) -> int:
        """Return the partition; `key` is the serialized key."""
        if key is not None:
            return all_partitions[self._hashes[key] % len(all_partitions)]
        return self._rng.choice(available or all_partitions)


class RoundRobinPartitioner:
    """Takes one partition of the topic after the other, whatever the key: those with a leader, or
    all if there are none.

    Source: Java's RoundRobinPartitioner.
    """

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}

    def partition(
        self,
        topic: str,
        key: bytes | None,  # noqa: ARG002  keyed records take their turn, too
        all_partitions: Sequence[int],
        available: Sequence[int],
    ) -> int:
        """Return the partition whose turn it is."""
        choices = available or all_partitions
        turn = self._turns.get(topic, 0)
        self._turns[topic] = turn + 1
        return choices[turn % len(choices)]


class Loads(Protocol):
    """Chooses the next sticky partition by the load of the partitions."""

    def choose(self, choices: Sequence[int], rng: random.Random, /) -> int:
        """Return one of `choices`."""


class StickyPartition(StickyChoice):
    """The partition that takes a topic's records without key, until it has had its share.

    Another one is chosen after `share_bytes`, once its batch is full, and after twice that at the
    latest, so that slow traffic is spread, too. Source: KIP-794, BuiltInPartitioner.
    """

    __slots__ = ("_rng", "_share_bytes", "loads")

    def __init__(self, share_bytes: int, rng: random.Random) -> None:
        super().__init__(2 * max(1, share_bytes))
        self._share_bytes = max(1, share_bytes)
        self._rng = rng
        self.loads: Loads | None = None
        """Weighs the partitions; None: all partitions are alike."""

    def choose(self, choices: Sequence[int], value_bytes: int) -> int:
        """Return one of `choices` for a record with a value of that size, and count it there."""
        partition = self.settle(choices)
        self.produced_bytes += value_bytes + RECORD_OVERHEAD
        return partition

    def settle(self, choices: Sequence[int]) -> int:
        """Return one of `choices` for the next record, which is not counted."""
        # All records of one route have the same object, so the search is rare.
        if choices is not self.choices:
            self.choices = choices
            if self.current not in choices:
                self.current = -1
        if self.current < 0 or self.produced_bytes >= self.most_bytes:
            loads = self.loads
            self.current = (
                self._rng.choice(choices) if loads is None else loads.choose(choices, self._rng)
            )
            self.produced_bytes = 0
        return self.current

    def batch_is_full(self, more_bytes: int = 0) -> None:
        """Note that the open batch of the partition has no room for the next record, which was
        counted, or counts `more_bytes` now.
        """
        if self.produced_bytes + more_bytes >= self._share_bytes:
            self.current = -1


__all__ = [
    "DefaultPartitioner",
    "Loads",
    "RoundRobinPartitioner",
    "StickyPartition",
]
