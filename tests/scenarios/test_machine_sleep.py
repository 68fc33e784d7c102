"""A machine sleeps, as under a laptop's lid, with clients in the middle of their work: time has
passed, and nobody is blamed for it. In virtual time, which timers wait for as the system's do.
"""

import asyncio
import logging
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaShareConsumer, KeyedWorkers, ShareWorkers
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.share.share_kafka import ShareKafka, read, run_share, seen

TP = TopicPartition("t", 0)
HOUR_S = 3600.0
LOCK_S = 30


def filled(kafka: VirtualKafka, count: int = 3) -> None:
    kafka.broker.create_topic("t")
    for number in range(count):
        kafka.broker.produce("t", b"%d" % number)


def member(kafka: VirtualKafka, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    return AIOKafkaConsumer(
        "t",
        group_id="g",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **options,
        **kafka.client_options,
    )


def blamed(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the log says of handlers, polls or a loop that would be too slow."""
    words = ("max_poll_interval_ms", "blocked", "handler")
    texts = [record.getMessage() for record in caplog.records]
    return [text for text in texts if any(word in text for word in words)]


def test_locks_end_while_the_machine_sleeps() -> None:
    """What was acquired before is not returned; it comes again, locked anew."""

    async def main(share: ShareKafka) -> None:
        await share.write("a", "b", "c", together=True)
        async with share.explicit(share_acquire_mode="batch_optimized") as consumer:
            ((record,),) = (await consumer.getmany(timeout_ms=5000, max_records=1)).values()
            consumer.acknowledge(record)
            await consumer.commit()
            share.kafka.clock.sleep_through(LOCK_S + 1)
            later = await read(consumer, 60_000)
            assert seen(later)
            assert all(count > 1 for _, count in seen(later))

    run_share(main)


@pytest.mark.parametrize("slept_s", [100.0, HOUR_S])
def test_an_application_that_could_not_poll_is_not_overdue(
    slept_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    """It had `max_poll_interval_ms`, without the sleep; the session has ended all the same."""
    caplog.set_level(logging.INFO)

    async def main(kafka: VirtualKafka) -> None:
        filled(kafka)
        async with member(kafka, max_poll_interval_ms=300_000) as consumer:
            assert len(await read_all(consumer)) == 3
            await asyncio.sleep(100)
            kafka.clock.sleep_through(slept_s)
            await asyncio.sleep(60)
            assert not blamed(caplog), blamed(caplog)
            await asyncio.sleep(200)
            assert any("max_poll_interval_ms" in text for text in blamed(caplog))

    run_virtual_kafka(main)


async def read_all(consumer: AIOKafkaConsumer[Any, Any]) -> list[ConsumerRecord[Any, Any]]:
    return [
        record
        for records in (await consumer.getmany(timeout_ms=10_000)).values()
        for record in records
    ]


def test_a_member_whose_session_ended_meanwhile_joins_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The loop was not blocked, and no poll was late."""
    caplog.set_level(logging.INFO)

    async def main(kafka: VirtualKafka) -> None:
        filled(kafka)
        async with member(kafka, session_timeout_ms=45_000) as consumer:
            assert len(await read_all(consumer)) == 3
            joins = consumer.statistics().rebalances
            kafka.broker.faults.fail("Heartbeat", "UNKNOWN_MEMBER_ID")
            kafka.clock.sleep_through(HOUR_S)
            await consumer.getmany(timeout_ms=120_000)
            assert consumer.statistics().rebalances > joins
        assert not blamed(caplog), blamed(caplog)

    run_virtual_kafka(main)


@pytest.mark.parametrize("is_shared", [False, True], ids=["keyed", "share"])
def test_a_handler_is_not_stuck_because_the_machine_slept(
    is_shared: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        filled(kafka, 0)
        began = asyncio.Event()

        async def handle(_: ConsumerRecord[Any, Any]) -> None:
            began.set()
            await asyncio.sleep(20)

        workers: Any
        if is_shared:
            sharer = AIOKafkaShareConsumer[Any, Any](
                "t", group_id="s", share_acknowledgement_mode="explicit", **kafka.client_options
            )
            workers = ShareWorkers(sharer, handle, handler_timeout_ms=60_000, clock=kafka.clock)
        else:
            workers = KeyedWorkers(
                member(kafka), handle, handler_timeout_ms=60_000, clock=kafka.clock
            )
        async with workers:
            running = asyncio.create_task(workers.run())
            await asyncio.sleep(5)
            kafka.broker.produce("t", b"v")
            await began.wait()
            kafka.clock.sleep_through(HOUR_S)
            await asyncio.sleep(30)
            assert not running.done(), running
            assert workers.statistics().failed_attempts == 0
            workers.stop()
            await running
        assert not [text for text in blamed(caplog) if "stuck" in text or "blocked" in text]

    run_virtual_kafka(main)
