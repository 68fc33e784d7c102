"""Keeps the records of a partition in the order of their calls while some calls have to wait.

A call may wait for metadata, for a partition that is still to come, for memory, or for its turn. It
holds its topic meanwhile: `fast_append` takes no record of the topic. Calls may wait for the same
partition, or for the metadata of the same topic. They go on one by one, in the order of the calls.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.partition.topic_routes import TopicRoutes


class _Line:
    """The calls that wait for one partition. The first of them has the lock, once there is one."""

    __slots__ = ("count", "turn")

    def __init__(self) -> None:
        self.count = 0
        self.turn: asyncio.Lock | None = None  # fair: first come, first served


class SendTurn:
    """The turn of one call in a partition. `SendOrder.turn` makes it; it is entered once.

    Cancelled: the next call has the turn.
    """

    __slots__ = ("_hold", "_line", "_order", "_timeout_s", "_too_late", "_topic_partition")

    def __init__(
        self,
        order: "SendOrder",
        topic_partition: TopicPartition,
        timeout_s: float,
        too_late: Callable[[], Exception],
    ) -> None:
        self._order = order
        self._topic_partition = topic_partition
        self._timeout_s = timeout_s
        self._too_late = too_late

    async def __aenter__(self) -> None:
        order, topic_partition = self._order, self._topic_partition
        line = order.lines.get(topic_partition)
        if line is None:
            line = order.lines[topic_partition] = _Line()
        line.count += 1
        turn = line.turn
        if turn is None:
            turn = line.turn = asyncio.Lock()
            if line.count > 1:
                await turn.acquire()  # for the lone turn that is first: a new lock is free
        self._line = line
        self._hold = order.routes.hold(topic_partition.topic)
        try:
            if line.count > 1:
                async with deadline(order.clock, self._timeout_s):
                    await turn.acquire()
            else:
                await turn.acquire()
        except TimeoutError:
            self._leave()
            raise self._too_late() from None
        except BaseException:
            self._leave()
            raise

    async def __aexit__(self, *_: object) -> None:
        assert self._line.turn is not None
        self._line.turn.release()
        self._leave()

    def _leave(self) -> None:
        self._hold.release()
        self._line.count -= 1
        if not self._line.count:
            del self._order.lines[self._topic_partition]


class LoneTurn:
    """The turn of a call that finds nobody in the line of its partition. It begins at once, and has
    a lock only for those that come meanwhile.
    """

    __slots__ = ("_line", "_order", "_topic_partition", "hold")

    def __init__(self, order: "SendOrder", topic_partition: TopicPartition) -> None:
        self._order = order
        self._topic_partition = topic_partition
        self._line = order.lines[topic_partition] = _Line()
        self._line.count = 1
        self.hold = order.routes.hold(topic_partition[0])
        """Keeps `fast_append` from the topic."""

    def end(self) -> None:
        """Let the next call have the turn."""
        self.hold.release()
        line = self._line
        if line.turn is not None:
            line.turn.release()
        line.count -= 1
        if not line.count:
            del self._order.lines[self._topic_partition]


class SendOrder:
    """The waiting calls of one producer."""

    def __init__(self, routes: TopicRoutes, clock: Clock) -> None:
        self.routes = routes
        self.clock = clock
        self.lines: dict[TopicPartition, _Line] = {}
        """The lines of the partitions that a call waits for."""
        self._without_metadata: dict[str, MetadataWait] = {}
        """The newest wait of each topic."""

    def has_waiting(self, topic_partition: TopicPartition) -> bool:
        """Return whether a call waits for its turn in a partition, or waits in its turn."""
        return topic_partition in self.lines

    def turn(
        self,
        topic_partition: TopicPartition,
        timeout_s: float,
        too_late: Callable[[], Exception] = TimeoutError,
    ) -> "SendTurn":
        """Return a context. Entering it waits until all earlier calls for the partition are
        through, and raises `too_late()` after `timeout_s`.
        """
        return SendTurn(self, topic_partition, timeout_s, too_late)

    def lacks_metadata(self, topic: str) -> bool:
        """Return whether a call waits for a topic's metadata, or has not run since the wait."""
        return bool(self._without_metadata) and topic in self._without_metadata

    @property
    def topics_without_metadata(self) -> tuple[str, ...]:
        """The topics whose metadata calls wait for."""
        return (*self._without_metadata,)

    @contextmanager
    def waiting_for_metadata(self, topic: str) -> Iterator["MetadataWait"]:
        """Count a call while it waits for a topic's metadata."""
        wait = MetadataWait(self._without_metadata.get(topic))
        self._without_metadata[topic] = wait
        hold = self.routes.hold(topic)
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
    """A call that waits for the metadata of a topic, behind earlier calls."""

    __slots__ = ("_before", "_ended")

    def __init__(self, before: "MetadataWait | None") -> None:
        self._before = before
        self._ended = asyncio.Event()

    async def turn(self) -> None:
        """Return when all earlier calls have gone on or given up: new metadata may wake a later
        call first.
        """
        while self._before is not None:
            await self._before._ended.wait()
            self._before = self._before._before

    def end(self) -> None:
        """Let the later calls go on."""
        self._ended.set()

    def newest_left(self) -> "MetadataWait | None":
        """Return the last wait that has not ended, from this one back; None: all have ended."""
        wait: MetadataWait | None = self
        while wait is not None and wait._ended.is_set():
            wait = wait._before
        return wait


__all__ = ["LoneTurn", "MetadataWait", "SendOrder", "SendTurn"]
