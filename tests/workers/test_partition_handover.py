"""A rebalance: what runs may end in time, the rest is dropped, no key is handled twice at once."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, CooperativeStickyAssignor, RangePartitionAssignor
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.scenarios.grouping import Diary, Listener, expel, nobody_is_left, stable
from tests.workers.running import (
    GROUP,
    TOPIC,
    Pool,
    Record,
    committed,
    embedded_topic,
    write,
)

COOPERATIVE: dict[str, Any] = {"partition_assignment_strategy": [CooperativeStickyAssignor]}


@pytest.mark.parametrize("consumer", [{}, COOPERATIVE], ids=["eager", "cooperative"])
async def test_what_moves_is_drained_and_committed_before_it_goes(
    consumer: dict[str, Any],
) -> None:
    async with embedded_topic(records=40, partitions=2, keys=40) as broker:
        gate = asyncio.Event()

        async def wait(_: Record) -> None:
            await gate.wait()

        first = Pool(broker, concurrency=2, consumer=consumer, commit_interval_ms=60_000)
        second = Pool(broker, consumer=consumer)
        first.does(wait)
        async with first.running():
            await broker.wait_until(lambda: len(first.began) == 2)
            async with asyncio.TaskGroup() as tasks:

                async def join() -> None:
                    async with second.running():
                        await broker.wait_until(
                            lambda: len(set(first.ended) | set(second.ended)) == 40
                        )

                tasks.create_task(join())
                await broker.wait_until(lambda: len(broker.group(GROUP).members) == 2)
                gate.set()
        handled = [*first.ended, *second.ended]
        assert len(handled) == len(set(handled)) == 40
        assert committed(broker) == {0: 20, 1: 20}


def let_the_first_wait(pool: Pool) -> None:
    """Let the first handler of the pool not end; the others do."""

    async def handle(_: Record) -> None:
        if len(pool.began) == 1:
            await asyncio.Event().wait()

    pool.does(handle)


async def test_a_handler_that_does_not_end_in_time_is_cancelled_and_comes_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded_topic(records=4, keys=1) as broker:
        pool = Pool(broker, drain_timeout_ms=50)
        let_the_first_wait(pool)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.began) == 1)
            pool.consumer.enforce_rebalance()
            await broker.wait_until(lambda: len(pool.ended) == 4)
        assert pool.began == [(0, 0), (0, 0), (0, 1), (0, 2), (0, 3)]
        assert (
            "1 handlers are cancelled, their partitions go; the first is that of t-0" in caplog.text
        )


async def test_what_was_given_back_is_not_committed_when_its_partition_comes_again() -> None:
    """The member that has the partition again had polled the records, and dropped them."""
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=4, keys=1, clock=clock) as broker:
        pool = Pool(broker, clock=clock, commit_interval_ms=100, drain_timeout_ms=50)
        let_the_first_wait(pool)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.began) == 1)
            joined = broker.group(GROUP).generation_id
            broker.faults.stall(FetchRequest, None)
            pool.consumer.enforce_rebalance()
            await broker.wait_until(lambda: broker.group(GROUP).generation_id > joined)
            await clock.sleep(10)
            assert committed(broker).get(0, 0) == 0
            broker.faults.clear()
            broker.faults.release()
            await broker.wait_until(lambda: len(pool.ended) == 4)
        assert sorted(set(pool.ended)) == [(0, n) for n in range(4)]


async def test_a_handler_that_ignores_its_cancellation_is_named_and_holds_its_partition_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=2, keys=1, clock=clock) as broker:
        pool, gate = Pool(broker, clock=clock, drain_timeout_ms=50), asyncio.Event()

        async def handle(_: Record) -> None:
            while not gate.is_set():
                try:
                    await gate.wait()
                except asyncio.CancelledError:
                    continue

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.began) == 1)
            pool.consumer.enforce_rebalance()
            try:
                await broker.wait_until(lambda: "has not ended 1 s after" in caplog.text)
                await broker.wait_until(lambda: pool.workers.statistics().unfinished_records == 2)
                await settle()
                assert pool.began == [(0, 0)], "the partition is back, and waits"
            finally:
                gate.set()  # without this a failure would hang
            await broker.wait_until(lambda: len(pool.began) == 3)


async def test_lost_partitions_are_dropped_at_once_and_uncommitted() -> None:
    async with embedded_topic(records=4, keys=1) as broker:
        diary: Diary = []
        pool = Pool(broker, listener=Listener(diary), commit_interval_ms=60_000)

        async def handle(record: Record) -> None:
            if record.offset == 2 and len(pool.began) == 3:
                await asyncio.Event().wait()

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.began) == 3)
            await expel(pool.consumer)
            await broker.wait_until(lambda: len(pool.ended) == 6)
        assert pool.began == [(0, n) for n in (0, 1, 2, 0, 1, 2, 3)]
        assert [what for what, _ in diary] == [
            "revoked",  # of nothing, before the first assignment
            "assigned",
            "lost",
            "assigned",
            "revoked",
        ]


async def test_the_users_listener_is_called_after_the_workers() -> None:
    async with embedded_topic(records=4) as broker:
        seen = []

        class Seeing(Listener):
            async def on_partitions_revoked(self, revoked: Any) -> None:
                await asyncio.sleep(0)
                if revoked:
                    seen.append(committed(broker))

        pool = Pool(broker, listener=Seeing(), commit_interval_ms=60_000)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 4)
            pool.consumer.enforce_rebalance()
            await broker.wait_until(lambda: bool(seen))
            await stable(broker, 1)
        await nobody_is_left(broker)
        assert seen[0] == {0: 4}


async def test_workers_share_a_group_with_a_plain_consumer_of_another_assignor() -> None:
    """As in a rolling upgrade: the eager assignor is the one that both know."""
    both = [CooperativeStickyAssignor, RangePartitionAssignor]
    async with embedded_topic(records=40, partitions=2, keys=40) as broker:
        pool = Pool(broker, consumer={"partition_assignment_strategy": both})
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 40)
            async with AIOKafkaConsumer(
                TOPIC,
                bootstrap_servers=broker.bootstrap_servers,
                group_id=GROUP,
                partition_assignment_strategy=[RangePartitionAssignor],
                enable_auto_commit=False,
                heartbeat_interval_ms=20,
            ) as plain:
                await stable(broker, 2)
                await write(broker, range(40, 80), keys=40)
                read = 0
                while read < 20:
                    read += sum(map(len, (await plain.getmany(timeout_ms=100)).values()))
                await plain.commit()
                await broker.wait_until(lambda: len(pool.ended) == 60)
            await write(broker, range(80, 120), keys=40)
            await broker.wait_until(lambda: len(pool.ended) == 100)
        assert len(set(pool.ended)) == 100, "nothing came twice"
        assert committed(broker) == {0: 60, 1: 60}
