"""A member that its brokers throttle (KIP-219) still tells its group that it leaves, within the
time of `stop()`, and stores what it has read; otherwise the log says so. In virtual time.
"""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaShareConsumer
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

KINDS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "Heartbeat": (AIOKafkaConsumer, {"auto_offset_reset": "earliest"}),
    "ConsumerGroupHeartbeat": (
        AIOKafkaConsumer,
        {"group_protocol": "consumer", "auto_offset_reset": "earliest"},
    ),
    "ShareGroupHeartbeat": (AIOKafkaShareConsumer, {}),
}
WITH_COMMITS = ["Heartbeat", "ConsumerGroupHeartbeat"]


async def throttled_member(
    kafka: VirtualKafka, heartbeat: str, throttle_ms: int, **options: Any
) -> Any:
    """A member whose heartbeats were answered with a throttle just now."""
    kafka.broker.create_topic("t")
    kafka.broker.produce("t", "1")
    kind, own = KINDS[heartbeat]
    consumer = kind("t", **kafka.client_options, group_id="g", **own, **options)
    await consumer.start()
    polling = asyncio.create_task(consumer.getmany(timeout_ms=20_000))
    await kafka.clock.sleep(2)
    kafka.broker.faults.throttle(heartbeat, throttle_ms)
    while consumer.statistics().network.throttle_time_s == 0:
        await kafka.clock.sleep(0.05)
    await polling
    return consumer


@pytest.mark.parametrize("throttle_ms", [100, 500, 3000, 10_000, 100_000])
@pytest.mark.parametrize("heartbeat", KINDS)
def test_a_member_whose_heartbeats_are_throttled_leaves_at_once(
    heartbeat: str, throttle_ms: int
) -> None:
    """By its other connection, which is not throttled, if that is sooner."""

    async def main(kafka: VirtualKafka) -> None:
        consumer = await throttled_member(kafka, heartbeat, throttle_ms)
        began_s = kafka.clock.monotonic()
        await consumer.stop()
        assert kafka.clock.monotonic() - began_s <= 1.0
        assert not kafka.broker.group("g").members

    run_virtual_kafka(main)


@pytest.mark.parametrize("heartbeat", WITH_COMMITS)
def test_a_member_of_which_all_is_throttled_waits_for_that_and_leaves(heartbeat: str) -> None:
    async def main(kafka: VirtualKafka) -> None:
        consumer = await throttled_member(kafka, heartbeat, 10_000, enable_auto_commit=False)
        kafka.broker.faults.throttle("OffsetCommit", 10_000)
        await consumer.commit()
        await consumer.stop()
        assert not kafka.broker.group("g").members

    run_virtual_kafka(main)


@pytest.mark.parametrize("heartbeat", WITH_COMMITS)
def test_what_the_time_to_stop_does_not_allow_is_told(
    heartbeat: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        consumer = await throttled_member(kafka, heartbeat, 60_000, enable_auto_commit=False)
        kafka.broker.faults.throttle("OffsetCommit", 60_000)
        await consumer.commit()
        began_s = kafka.clock.monotonic()
        await consumer.stop()
        assert kafka.clock.monotonic() - began_s < 1.0, "the wait would be in vain"
        assert kafka.broker.group("g").members

    run_virtual_kafka(main)
    (line,) = [line for line in caplog.messages if "may not hear of it" in line]
    assert "throttles this client for" in line


@pytest.mark.parametrize("heartbeat", WITH_COMMITS)
def test_the_last_commit_waits_for_a_throttle_as_long_as_the_stop_may_take(heartbeat: str) -> None:
    async def main(kafka: VirtualKafka) -> None:
        consumer = await throttled_member(kafka, heartbeat, 100)
        kafka.broker.faults.throttle("OffsetCommit", 10_000)
        await consumer.commit()
        kafka.broker.produce("t", "2")
        assert (await consumer.getone()).value == b"2"
        await consumer.stop()
        stored = kafka.broker.group("g").offsets
        assert [each.offset for each in stored.values()] == [2]
        assert not kafka.broker.group("g").members

    run_virtual_kafka(main)


@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("heartbeat", KINDS)
def test_a_stop_that_is_cancelled_leaves_the_group_or_says_that_it_did_not(
    heartbeat: str, turns: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        consumer = await throttled_member(kafka, heartbeat, 100)
        await kafka.clock.sleep(1)
        stopping = asyncio.create_task(consumer.stop())
        for _ in range(turns + 1):
            await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
        await consumer.stop()
        await kafka.clock.sleep(1)
        assert not kafka.broker.group("g").members or "may not hear of it" in caplog.text

    run_virtual_kafka(main)


@pytest.mark.parametrize("heartbeat", WITH_COMMITS)
def test_a_stop_that_is_cancelled_while_it_waits_for_a_throttle_says_so(
    heartbeat: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        consumer = await throttled_member(kafka, heartbeat, 500)
        stopping = asyncio.create_task(consumer.stop())
        await kafka.clock.sleep(0.2)
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
        assert kafka.broker.group("g").members

    run_virtual_kafka(main)
    (line,) = [line for line in caplog.messages if "may not hear of it" in line]
    assert "was cancelled" in line
