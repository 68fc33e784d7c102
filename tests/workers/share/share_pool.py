"""Share workers over a topic in virtual time, and a note of each handler that began and ended."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite import ShareWorkers
from aiokafka_lite.share.held_records import Record
from aiokafka_lite.workers.share.share_workers_statistics import ShareWorkersStatistics
from tests.share.share_kafka import ShareKafka, read, seen

Place = tuple[int, int]
"""Offset and delivery count."""


class SharePool:
    """One member of the share group with its workers."""

    def __init__(
        self,
        share: ShareKafka,
        handle: Callable[[Record], Awaitable[object]] | None = None,
        *,
        consumer: dict[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.share = share
        self.began: list[Place] = []
        self.ended: list[Place] = []
        self._handle = handle
        options: dict[str, Any] = {"share_acquire_mode": "record_limit", **(consumer or {})}
        self.consumer = share.explicit(**options)
        self.workers = ShareWorkers(
            self.consumer, self._noted, clock=share.clock, rng=random.Random(1), **settings
        )

    async def _noted(self, record: Record) -> object:
        place = (record.offset, record.delivery_count)
        self.began.append(place)
        result = None if self._handle is None else await self._handle(record)
        self.ended.append(place)
        return result

    @property
    def figures(self) -> ShareWorkersStatistics:
        return self.workers.statistics()

    async def until(self, condition: Callable[[], bool], within_s: float = 600) -> None:
        """Wait in virtual time."""
        async with asyncio.timeout(within_s):
            while not condition():
                await asyncio.sleep(0.2)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["asyncio.Task[None]"]:
        """Run the workers beside the block, and stop them in order after it."""
        async with self.workers as workers:
            run = asyncio.create_task(workers.run())
            try:
                yield run
                workers.stop()
                await run
            finally:
                run.cancel()
                await asyncio.gather(run, return_exceptions=True)


async def left_over(share: ShareKafka) -> list[tuple[str, int]]:
    """What another member gets: values and delivery counts."""
    async with share.consumer() as other:
        found: list[tuple[str, int]] = []
        while records := await read(other, 2000):
            found += seen(records)
        await other.commit()
    return sorted(found)
