import asyncio

import pytest

from aiokafka_lite.errors import KafkaError
from aiokafka_lite.producer.batch.batch_wait import all_done
from tests.producer.batches import make_batch
from tests.support.patience import PATIENCE_S


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_nothing_to_wait_for_is_no_wait() -> None:
    done = make_batch()
    done.succeed(0)
    await asyncio.wait_for(all_done([]), PATIENCE_S)
    await asyncio.wait_for(all_done([done]), PATIENCE_S)


async def test_the_last_outcome_ends_the_wait_good_or_bad() -> None:
    """Waiting for batches ends with the last outcome, success or failure (2d-21)."""
    batches = [make_batch() for _ in range(3)]
    waiting = asyncio.create_task(all_done(batches))
    for batch in batches:
        await settle()
        assert not waiting.done()
        if batch is batches[1]:
            batch.fail(KafkaError("x"))
            batch.error_of(0)
        else:
            batch.succeed(0)
    await asyncio.wait_for(waiting, PATIENCE_S)


async def test_several_may_wait_for_the_same_batches() -> None:
    batch = make_batch()
    waiting = [asyncio.create_task(all_done([batch])) for _ in range(3)]
    await settle()
    waiting[1].cancel()
    await settle()
    batch.succeed(0)
    await asyncio.wait_for(asyncio.gather(waiting[0], waiting[2]), PATIENCE_S)


async def test_who_is_cancelled_leaves_nothing_behind() -> None:
    batches = [make_batch(), make_batch()]
    waiting = asyncio.create_task(all_done(batches))
    await settle()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert all(not batch._listeners for batch in batches)
    for batch in batches:
        batch.succeed(0)
