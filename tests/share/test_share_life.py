"""A share consumer starts once, all or nothing, and stops in bounded time whatever happens."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    ConsumerStoppedError,
    GroupAuthorizationFailedError,
    IllegalStateError,
    KafkaConnectionError,
)
from aiokafka_lite.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.share.share_kafka import ShareKafka, read, run_share, seen


def test_a_start_that_failed_may_be_repeated() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        share.broker.faults.fail(ShareGroupHeartbeatRequest, GroupAuthorizationFailedError, times=1)
        with pytest.raises(GroupAuthorizationFailedError):
            await consumer.start()
        async with consumer:
            assert seen(await read(consumer)) == [("a", 1)]

    run_share(main, "a")


def test_it_starts_once() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            with pytest.raises(IllegalStateError, match="start\\(\\) twice"):
                await consumer.start()
        await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await consumer.start()

    run_share(main)


def test_a_start_that_is_cancelled_leaves_nothing() -> None:
    async def main(share: ShareKafka) -> None:
        share.broker.faults.stall(ShareGroupHeartbeatRequest)
        consumer = share.consumer()
        starting = asyncio.create_task(consumer.start())
        await asyncio.sleep(1)
        starting.cancel()
        await asyncio.wait([starting])
        assert starting.cancelled()
        share.broker.faults.clear()
        async with consumer:
            assert seen(await read(consumer)) == [("a", 1)]

    run_share(main, "a")


def test_a_stop_ends_a_start() -> None:
    async def main(share: ShareKafka) -> None:
        share.broker.faults.stall(ShareGroupHeartbeatRequest)
        consumer = share.consumer()
        starting = asyncio.create_task(consumer.start())
        await asyncio.sleep(1)
        await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await starting

    run_share(main)


def test_without_brokers_the_start_says_so() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer(bootstrap_servers="127.0.0.1:1")
        with pytest.raises(KafkaConnectionError):
            await consumer.start()

    run_share(main)


def test_a_stop_is_bounded_without_an_answer() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        await consumer.start()
        await read(consumer)
        share.broker.faults.stall(ShareAcknowledgeRequest)
        share.broker.faults.stall(ShareGroupHeartbeatRequest)
        began_s = share.clock.monotonic()
        await consumer.stop(timeout_ms=3_000)
        assert share.clock.monotonic() - began_s <= 4.5
        share.broker.faults.clear()

    run_share(main, "a")


def test_two_stops_end_together() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        await consumer.start()
        await asyncio.gather(consumer.stop(), consumer.stop())
        await consumer.stop()

    run_share(main)


def test_a_stop_sends_what_a_stop_needs_although_it_is_cancelled() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        await consumer.start()
        await read(consumer)
        share.broker.faults.stall(ShareAcknowledgeRequest)
        stopping = asyncio.create_task(consumer.stop())
        await asyncio.sleep(0.5)
        stopping.cancel()
        await asyncio.wait([stopping])
        share.broker.faults.clear()
        async with share.consumer() as other:
            assert seen(await read(other)) == [("a", 2)]

    run_share(main, "a")
