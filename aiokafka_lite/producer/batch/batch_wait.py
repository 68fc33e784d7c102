"""Waits for batches, with one future for any number of them."""

import asyncio
from collections.abc import Collection

from aiokafka_lite.concurrency.outcome import give
from aiokafka_lite.producer.batch.record_ack import BEHIND_ALL, BatchOutcome


async def all_done(batches: Collection[BatchOutcome]) -> None:
    """Return when every batch is written or has failed. Cancelled: nothing stays behind."""
    pending = [batch for batch in batches if not batch.is_done]
    if not pending:
        return
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    left = len(pending)

    def one_is_done() -> None:
        nonlocal left
        left -= 1
        if not left:
            give(done, None)

    tokens = [(batch, batch.add_listener(BEHIND_ALL, one_is_done)) for batch in pending]
    try:
        await done
    finally:
        for batch, token in tokens:
            batch.remove_listener(token)


__all__ = ["all_done"]
