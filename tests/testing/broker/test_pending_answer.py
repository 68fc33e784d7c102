"""An answer that comes now or later."""

import asyncio

import pytest

from aiokafka_lite.testing.broker.pending_answer import PendingAnswer
from aiokafka_lite.testing.fake_clock import settle


async def test_an_answer_that_is_there_is_not_waited_for() -> None:
    pending = PendingAnswer[str]()
    assert pending.value is None
    pending.give("yes")
    assert pending.value == "yes"
    assert await pending.wait() == "yes"


async def test_a_late_answer_wakes_who_waits() -> None:
    pending = PendingAnswer[str]()
    waiter = asyncio.ensure_future(pending.wait())
    await settle()
    assert not waiter.done()
    pending.give("late")
    assert await waiter == "late"


async def test_an_answer_after_the_waiter_was_cancelled_is_dropped() -> None:
    pending = PendingAnswer[str]()
    waiter = asyncio.ensure_future(pending.wait())
    await settle()
    waiter.cancel()
    pending.give("nobody is there")
    with pytest.raises(asyncio.CancelledError):
        await waiter
    pending.give("still nobody")
