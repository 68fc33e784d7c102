"""A client that does nothing: the same loops cost this much without any client.

So no client can cost less, and the ratio of a peer to ours cannot exceed the peer's ratio to this
one. Its calls return objects that were made before, and every `await` finds its result. Only the
tasks of `tasks` wait: for one future, which the event loop completes in its next turn.
"""

import asyncio
from collections.abc import Awaitable, Iterator, Mapping
from itertools import cycle
from typing import Any, Self

from aiokafka_lite import ConsumerRecord, TopicPartition
from aiokafka_lite.model import TimestampType
from aiokafka_lite.native import native
from benchmarks.peers.asyncio_paths import POLL_RECORDS, AsyncioPaths

VALUE = bytes(100)
Records = list[ConsumerRecord[Any, Any]]


class _Nothing:
    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


class _NoProducer(_Nothing):
    """Its `send` is a plain function, so that a record makes no coroutine."""

    def __init__(self, **_options: Any) -> None:
        ack = _done(None)
        self._sent = _done(ack)
        self._turn = ack

    def send(self, _topic: str, _value: bytes, _key: bytes) -> "asyncio.Future[Any]":
        return self._sent

    async def send_and_wait(self, _topic: str, _value: bytes, _key: bytes) -> None:
        if self._turn.done():
            loop = asyncio.get_running_loop()
            self._turn = loop.create_future()
            loop.call_soon(self._turn.set_result, None)
        await self._turn

    async def flush(self) -> None:
        return None

    async def partitions_for(self, _topic: str) -> None:
        return None


def _no_consumer(topic: str, **_options: Any) -> _Nothing:
    """Return a consumer that returns the same records again and again."""
    topic_partition = TopicPartition(topic, 0)
    records = [_record(topic_partition, offset) for offset in range(POLL_RECORDS)]
    polled = {topic_partition: records}

    class NoConsumer(_Nothing):
        __anext__ = _awaitables(records).__next__
        """`async for` asks the class for it; this one is C, and no method, so it takes nothing."""

        def __aiter__(self) -> Self:
            return self

        async def getmany(self, **_limits: int) -> Mapping[TopicPartition, Records]:
            return polled

    return NoConsumer()


def _awaitables(records: Records) -> Iterator[Awaitable[Any]]:
    """Return an iterator in C that gives the records in turn, each in an awaitable.

    From Python 3.12 on a future that is done makes a StopIteration in each `await`, for some 1,000
    instructions. The awaitables of the native leaf make none.
    """
    leaf = native("aiokafka_lite.concurrency._ready")
    if leaf is None:
        return cycle([_done(record) for record in records])
    return map(leaf.ready, cycle(records))


def _record(topic_partition: TopicPartition, offset: int) -> ConsumerRecord[Any, Any]:
    of_batch = (offset, 0, TimestampType.CREATE_TIME)
    return ConsumerRecord(*topic_partition, *of_batch, None, VALUE, None, -1, len(VALUE), ())


def _done(result: Any) -> "asyncio.Future[Any]":
    future = asyncio.get_running_loop().create_future()
    future.set_result(result)
    return future


PATHS = AsyncioPaths(
    producer=_NoProducer,
    consumer=_no_consumer,
    topic_partition=TopicPartition,
    assignors={},
)
