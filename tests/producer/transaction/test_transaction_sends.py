"""Calls that wait within a transaction, and end with it."""

import asyncio

import pytest

from aiokafka_lite.errors import IllegalOperation, KafkaError, NoTransactionError
from aiokafka_lite.producer.transaction.transaction_sends import TransactionSends


class World:
    """Transactions of which only the newest number and a check are there."""

    def __init__(self) -> None:
        self.sends = TransactionSends(self.check)
        self.error: KafkaError | None = None

    def check(self) -> None:
        if self.error is not None:
            raise self.error

    async def wait(self, number: int, until: asyncio.Event) -> str:
        with self.sends.call(number):
            await until.wait()
        return "sent"


async def started(world: World, until: asyncio.Event) -> asyncio.Task[str]:
    task = asyncio.create_task(world.wait(world.sends.number, until))
    await asyncio.sleep(0)
    return task


async def test_a_call_within_its_transaction_is_left_alone() -> None:
    world, event = World(), asyncio.Event()
    world.sends.begin()
    task = await started(world, event)
    event.set()
    assert await task == "sent"
    world.sends.end()


async def test_a_call_that_waits_ends_with_its_transaction() -> None:
    world, event = World(), asyncio.Event()
    world.sends.begin()
    tasks = [await started(world, event) for _ in range(3)]
    world.sends.end()
    event.set()  # too late
    for task in tasks:
        with pytest.raises(IllegalOperation, match="the transaction ended while send"):
            await task
        assert task.cancelling() == 0
    world.sends.end()  # they are forgotten


async def test_a_call_of_before_is_not_taken_into_the_next_transaction() -> None:
    world = World()
    number = world.sends.number
    world.sends.begin()
    with pytest.raises(NoTransactionError, match="called before the transaction"):
        await world.wait(number, asyncio.Event())


async def test_what_a_transaction_failed_with_says_more() -> None:
    world = World()
    number = world.sends.number
    world.sends.begin()
    world.error = KafkaError("failed")
    with pytest.raises(KafkaError, match="failed"):
        await world.wait(number, asyncio.Event())


async def test_a_cancel_from_outside_stays_one() -> None:
    """Also when it comes in the same moment as the end of the transaction."""
    for both in (False, True):
        world, event = World(), asyncio.Event()
        world.sends.begin()
        task = await started(world, event)
        task.cancel()
        if both:
            world.sends.end()
        await asyncio.wait([task])
        assert task.cancelled()


async def test_a_task_that_was_cancelled_before_hears_of_the_end_of_the_transaction() -> None:
    """As one that still writes its last records, after it has caught its cancellation."""
    world = World()
    world.sends.begin()

    async def last_records() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await world.wait(world.sends.number, asyncio.Event())

    task = asyncio.create_task(last_records())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    world.sends.end()
    with pytest.raises(NoTransactionError):
        await task
    assert task.cancelling() == 1


async def test_a_call_within_a_call_ends_too() -> None:
    """As one that an interceptor makes."""
    world = World()
    world.sends.begin()

    async def outer() -> None:
        with world.sends.call(world.sends.number):
            await world.wait(world.sends.number, asyncio.Event())

    task = asyncio.create_task(outer())
    await asyncio.sleep(0)
    world.sends.end()
    with pytest.raises(NoTransactionError):
        await task
    assert task.cancelling() == 0


async def test_an_error_of_its_own_goes_on() -> None:
    world = World()
    world.sends.begin()
    with pytest.raises(ZeroDivisionError), world.sends.call(world.sends.number):
        raise ZeroDivisionError
