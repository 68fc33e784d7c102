"""Who goes on when, of the calls that wait for one partition or one topic's metadata."""

import asyncio
import random
import uuid

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.append.send_order import SendOrder
from aiokafka_lite.producer.partition.topic_routes import TopicRoutes
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.producer.batches import Shelf
from tests.producer.send.test_produce_round import snapshot

TP = TopicPartition("orders", 0)


def make_routes() -> TopicRoutes:
    routes = TopicRoutes(Shelf().accumulator, share_bytes=100, rng=random.Random(1))
    routes.update(snapshot(orders=uuid.UUID(int=1)))
    assert routes.find("orders") is not None
    return routes


async def test_turns_come_in_the_order_of_coming_and_hold_the_topic() -> None:
    routes = make_routes()
    order = SendOrder(routes, SYSTEM_CLOCK)
    came: list[int] = []
    may_go_on = asyncio.Event()

    async def call(number: int) -> None:
        async with order.turn(TP, 30):
            came.append(number)
            await may_go_on.wait()

    tasks = [asyncio.ensure_future(call(number)) for number in range(5)]
    await settle()
    assert came == [0]
    assert order.has_waiting(TP)
    assert not order.has_waiting(TopicPartition("orders", 1))
    assert "orders" not in routes.known
    tasks[1].cancel()
    may_go_on.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert came == [0, 2, 3, 4]
    assert not order.has_waiting(TP)
    assert "orders" in routes.known


async def test_a_turn_that_does_not_come_in_time_is_a_timeout() -> None:
    clock = FakeClock(autojump_threshold_s=0.06)
    routes = make_routes()
    order = SendOrder(routes, clock)
    async with order.turn(TP, 10):
        with pytest.raises(TimeoutError):
            async with order.turn(TP, 5):
                pytest.fail("its turn has not come")
        assert clock.monotonic() < 100
    assert not order.has_waiting(TP)
    assert "orders" in routes.known


def test_a_topic_is_held_while_any_call_waits_for_its_metadata() -> None:
    routes = make_routes()
    order = SendOrder(routes, SYSTEM_CLOCK)
    assert not order.lacks_metadata("orders")
    with order.waiting_for_metadata("orders"):
        with order.waiting_for_metadata("orders"):
            pass
        assert order.lacks_metadata("orders")
        assert not order.lacks_metadata("bills")
        assert "orders" not in routes.known
    assert not order.lacks_metadata("orders")
    assert "orders" in routes.known


async def test_calls_that_wait_for_metadata_go_on_in_the_order_of_coming() -> None:
    """Whichever the news wakes first; one that gives up lets those behind it go on."""
    order = SendOrder(make_routes(), SYSTEM_CLOCK)
    came: list[int] = []
    news = [asyncio.Event() for _ in range(4)]

    async def call(number: int) -> None:
        with order.waiting_for_metadata("orders") as wait:
            await news[number].wait()
            await wait.turn()
            came.append(number)

    tasks = [asyncio.ensure_future(call(number)) for number in range(4)]
    await settle()
    news[3].set()
    news[2].set()
    await settle()
    assert came == []
    tasks[1].cancel()
    await settle()
    assert came == []
    news[0].set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert came == [0, 2, 3]
    assert not order.lacks_metadata("orders")
