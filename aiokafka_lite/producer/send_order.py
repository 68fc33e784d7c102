"""Keeps the records of a partition in the order of their calls while some calls have to wait.

A call that waits (for metadata, a partition that is still to come, memory, its turn after others)
holds its topic: while it does, no record of the topic goes the short way. What waits for the same
partition, or for the metadata of a topic, goes on one after the other, in the order of coming.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.topic_routes import TopicRoutes


class _Line:
    """The calls that wait for one partition; the first of them has the lock."""

    __slots__ = ("count", "turn")

    def __init__(self) -> None:
        self.count = 0
        self.turn = asyncio.Lock()  # which is fair


class SendOrder:
    """The waiting calls of one producer."""

    def __init__(self, routes: TopicRoutes, clock: Clock) -> None:
        self._routes = routes
        self._clock = clock
        self._lines: dict[TopicPartition, _Line] = {}
        self._without_metadata: dict[str, MetadataWait] = {}
        """The newest of each topic."""

    def has_waiting(self, topic_partition: TopicPartition) -> bool:
        """Return whether a call waits for its turn in a partition, or has it and waits."""
        return bool(self._lines) and topic_partition in self._lines

    @asynccontextmanager
    async def turn(self, topic_partition: TopicPartition, timeout_s: float) -> AsyncIterator[None]:
        """Enter when all calls that came before for this partition are through.

        Raises TimeoutError after `timeout_s`. Cancelled: the next one has the turn.
        """
        line = self._lines.get(topic_partition)
        if line is None:
            line = self._lines[topic_partition] = _Line()
        line.count += 1
        hold = self._routes.hold(topic_partition.topic)
        try:
            if line.count > 1:
                async with deadline(self._clock, timeout_s):
                    await line.turn.acquire()
            else:
                await line.turn.acquire()
            try:
                yield
            finally:
                line.turn.release()
        finally:
            hold.release()
            line.count -= 1
            if not line.count:
                del self._lines[topic_partition]

    def lacks_metadata(self, topic: str) -> bool:
        """Return whether a call waits for the metadata of a topic, or did and has not run since."""
        return bool(self._without_metadata) and topic in self._without_metadata

    @contextmanager
    def waiting_for_metadata(self, topic: str) -> Iterator["MetadataWait"]:
        """Count a call while it waits for a topic's metadata."""
        wait = MetadataWait(self._without_metadata.get(topic))
        self._without_metadata[topic] = wait
        hold = self._routes.hold(topic)
        try:
            yield wait
        finally:
            hold.release()
            wait.end()
            newest = self._without_metadata[topic].newest_left()
            if newest is None:
                del self._without_metadata[topic]
            else:
                self._without_metadata[topic] = newest


class MetadataWait:
    """A call that waits for the metadata of a topic, behind those that came before."""

    __slots__ = ("_before", "_ended")

    def __init__(self, before: "MetadataWait | None") -> None:
        self._before = before
        self._ended = asyncio.Event()

    async def turn(self) -> None:
        """Return when all calls that came before have gone on, or given up: the news may wake
        a later one first.
        """
        while self._before is not None:
            await self._before._ended.wait()
            self._before = self._before._before

    def end(self) -> None:
        """Let those behind go on."""
        self._ended.set()

    def newest_left(self) -> "MetadataWait | None":
        """Return this one or the last before it that has not ended, None if all have."""
        wait: MetadataWait | None = self
        while wait is not None and wait._ended.is_set():
            wait = wait._before
        return wait


__all__ = ["MetadataWait", "SendOrder"]
