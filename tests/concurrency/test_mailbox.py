"""Mailbox: bounded, first in first out, cancel-safe, and closing leaves nobody waiting."""

import asyncio

import pytest

from aiokafka_lite.concurrency.mailbox import Mailbox, MailboxClosedError, MailboxFullError
from aiokafka_lite.testing.fake_clock import settle


async def test_items_come_out_in_the_order_they_went_in() -> None:
    mailbox: Mailbox[int] = Mailbox()
    for number in range(3):
        mailbox.put_nowait(number)
    assert len(mailbox) == 3
    assert [await mailbox.get() for _ in range(3)] == [0, 1, 2]
    assert mailbox.get_nowait() is None


async def test_get_waits_for_an_item() -> None:
    mailbox: Mailbox[str] = Mailbox()
    getting = asyncio.create_task(mailbox.get())
    await settle()
    mailbox.put_nowait("x")
    assert await getting == "x"


async def test_full_mailbox_refuses_put_nowait() -> None:
    mailbox: Mailbox[int] = Mailbox(1)
    mailbox.put_nowait(1)
    assert mailbox.is_full
    with pytest.raises(MailboxFullError, match="holds 1 of 1 items"):
        mailbox.put_nowait(2)


async def test_writers_get_room_in_their_order_and_newcomers_queue_up() -> None:
    mailbox: Mailbox[int] = Mailbox(1)
    mailbox.put_nowait(0)
    writers = [asyncio.create_task(mailbox.put(number)) for number in (1, 2, 3)]
    await settle()
    assert await mailbox.get() == 0
    with pytest.raises(MailboxFullError):
        mailbox.put_nowait(9)  # the room belongs to the writer that was woken
    assert [await mailbox.get() for _ in range(3)] == [1, 2, 3]
    await asyncio.gather(*writers)


async def test_drain_takes_everything_and_lets_as_many_writers_in() -> None:
    mailbox: Mailbox[int] = Mailbox(2)
    mailbox.put_nowait(0)
    mailbox.put_nowait(1)
    writers = [asyncio.create_task(mailbox.put(number)) for number in (2, 3, 4)]
    await settle()
    assert mailbox.drain() == [0, 1]
    await settle()
    assert len(mailbox) == 2
    assert mailbox.drain() == [2, 3]
    await settle()
    assert mailbox.drain() == [4]
    await asyncio.gather(*writers)


async def test_cancelled_get_loses_no_item_and_no_wakeup() -> None:
    mailbox: Mailbox[int] = Mailbox()
    first, second = asyncio.create_task(mailbox.get()), asyncio.create_task(mailbox.get())
    await settle()
    mailbox.put_nowait(1)  # wakes the first, which is cancelled in the same moment
    first.cancel()
    assert await second == 1
    await asyncio.wait([first])
    assert first.cancelled()


async def test_cancelled_put_is_not_in_and_passes_its_room_on() -> None:
    mailbox: Mailbox[int] = Mailbox(1)
    mailbox.put_nowait(0)
    first, second = asyncio.create_task(mailbox.put(1)), asyncio.create_task(mailbox.put(2))
    await settle()
    assert mailbox.drain() == [0]
    first.cancel()
    await second
    assert mailbox.drain() == [2]
    assert first.cancelled()


async def test_closing_rejects_what_is_left_with_the_cause() -> None:
    rejected: list[tuple[int, BaseException | None]] = []
    mailbox: Mailbox[int] = Mailbox(reject=lambda item, cause: rejected.append((item, cause)))
    mailbox.put_nowait(1)
    mailbox.put_nowait(2)
    cause = ConnectionResetError("gone")
    assert mailbox.close(cause) == [1, 2]
    assert rejected == [(1, cause), (2, cause)]
    assert mailbox.close(ValueError("later")) == []
    assert mailbox.cause is cause


async def test_closing_wakes_everybody_with_the_cause_chained() -> None:
    mailbox: Mailbox[int] = Mailbox(1)
    mailbox.put_nowait(1)
    putting = asyncio.create_task(mailbox.put(2))
    empty: Mailbox[int] = Mailbox()
    getting = asyncio.create_task(empty.get())
    await settle()
    cause = ConnectionResetError("gone")
    mailbox.close(cause)
    empty.close(cause)
    for task in (putting, getting):
        with pytest.raises(MailboxClosedError) as caught:
            await task
        assert caught.value.__cause__ is cause
    for act in (lambda: mailbox.put_nowait(1), mailbox.get_nowait, mailbox.drain):
        with pytest.raises(MailboxClosedError):
            act()
    with pytest.raises(MailboxClosedError):
        await mailbox.get()
    with pytest.raises(MailboxClosedError):
        await mailbox.put(1)


def test_empty_mailbox_is_true() -> None:
    assert Mailbox[int]()
