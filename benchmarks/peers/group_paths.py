"""The paths of `benchmarks.groups.protocols`: a group that balances, and an idle member."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.peers.job import Job

POLL_MS = 100
LOOK_EVERY_S = 0.01
SETTLE_S = 3.0
"""How long a member is in its group before its requests are counted."""


def is_balanced(owned: Iterable[Sequence[int]], job: Job) -> bool:
    """Say whether each partition has one owner, and no member more than another."""
    lists = list(owned)
    numbers = sorted(number for each in lists for number in each)
    counts = {len(each) for each in lists}
    return numbers == list(range(job.partitions)) and max(counts) - min(counts) <= 1


async def balance(consumers: Sequence[Any], job: Job) -> None:
    """Start all members at once, let each be polled by a task of its own, and wait until they are
    balanced.
    """

    async def live(consumer: Any) -> None:
        async with consumer:
            while not is_over.is_set():
                await consumer.getmany(timeout_ms=POLL_MS)

    is_over = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        with job.stopwatch():
            for consumer in consumers:
                tasks.create_task(live(consumer))
            await _balanced(consumers, job)
        is_over.set()
    job.outcome.records = len(consumers)


async def idle(consumer: Any, requests: dict[str, int], job: Job) -> None:
    """Be the only member of a group, and note which requests it sends while no record comes.

    `requests`: the counts of the consumer, by kind.
    """
    async with consumer:
        polling = asyncio.create_task(_poll(consumer))
        await _balanced([consumer], job)
        await asyncio.sleep(SETTLE_S)
        before = requests.copy()
        await asyncio.sleep(job.idle_s)
        note_requests(before, requests, job)
        polling.cancel()
        await asyncio.gather(polling, return_exceptions=True)


async def _balanced(consumers: Sequence[Any], job: Job) -> None:
    while not is_balanced(  # noqa: ASYNC110  no event tells it
        ([tp.partition for tp in each.assignment()] for each in consumers), job
    ):
        await asyncio.sleep(LOOK_EVERY_S)


async def _poll(consumer: Any) -> None:
    while True:
        await consumer.getmany(timeout_ms=POLL_MS)


def note_requests(before: dict[str, int], after: dict[str, int], job: Job) -> None:
    """Note how many requests of each kind have come to be."""
    grown = {kind: count - before.get(kind, 0) for kind, count in after.items()}
    job.outcome.requests = {kind: count for kind, count in grown.items() if count}
    job.outcome.records = sum(grown.values())
