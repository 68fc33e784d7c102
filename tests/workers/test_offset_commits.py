"""Commits never pass an unfinished record, and their notes spare the next owner what is done."""

import asyncio

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.broker_errors import GroupAuthorizationFailedError
from aiokafka_lite.errors import ConsumerStoppedError
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.workers.finished import stored_note
from tests.workers.running import TOPIC, Pool, Record, committed, embedded_topic


async def test_the_note_spares_the_next_owner_what_is_finished() -> None:
    async with embedded_topic(records=10, keys=10) as broker:
        gate = asyncio.Event()

        async def handle(record: Record) -> None:
            if record.offset in {2, 5} and not gate.is_set():
                await asyncio.Event().wait()

        first = Pool(broker, drain_timeout_ms=1)
        first.does(handle)
        async with first.running():
            await broker.wait_until(lambda: len(first.ended) == 8 and committed(broker) == {0: 2})
        assert stored_note(broker) == [3, 4, 6, 7, 8, 9]
        gate.set()
        second = Pool(broker)
        second.does(handle)
        async with second.running():
            await broker.wait_until(lambda: len(second.ended) == 2)
            await broker.wait_until(lambda: committed(broker) == {0: 10})
        assert second.began == [(0, 2), (0, 5)]
        assert stored_note(broker) == []


async def test_a_note_that_the_broker_finds_too_long_is_left_out() -> None:
    async with embedded_topic(records=4, keys=4) as broker:
        broker.faults.fail(ApiKey.OFFSET_COMMIT, 12)  # OFFSET_METADATA_TOO_LARGE
        pool, gate = Pool(broker), asyncio.Event()

        async def handle(record: Record) -> None:
            if record.offset == 1:
                await gate.wait()

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: committed(broker) == {0: 1})
            assert stored_note(broker) == []
            gate.set()
        assert committed(broker) == {0: 4}


async def test_a_commit_that_fails_for_now_is_covered_by_the_next() -> None:
    async with embedded_topic(records=4) as broker:
        broker.faults.fail(ApiKey.OFFSET_COMMIT, 27)  # REBALANCE_IN_PROGRESS
        pool = Pool(broker)
        async with pool.running():
            await broker.wait_until(lambda: committed(broker) == {0: 4})


async def test_a_missing_right_stops_the_workers() -> None:
    async with embedded_topic(records=4) as broker:
        broker.faults.fail(ApiKey.OFFSET_COMMIT, 30, times=5)  # GROUP_AUTHORIZATION_FAILED
        pool = Pool(broker)
        async with pool.workers:
            with pytest.raises(GroupAuthorizationFailedError):
                await pool.workers.run()


async def test_notes_that_are_not_found_cost_repeated_work_only() -> None:
    async with embedded_topic(records=4) as broker:
        pool = Pool(broker)

        async def refused(_: object) -> object:
            raise GroupAuthorizationFailedError

        pool.consumer._committed_of = refused  # type: ignore[method-assign,assignment]
        async with pool.running():
            await broker.wait_until(lambda: committed(broker) == {0: 4})


async def test_the_last_commit_is_repeated_while_the_group_rebalances() -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=4, clock=clock) as broker:
        pool = Pool(broker, clock=clock, commit_interval_ms=600_000)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 4)
            broker.faults.fail(ApiKey.OFFSET_COMMIT, 27, times=2)  # REBALANCE_IN_PROGRESS
        assert committed(broker) == {0: 4}


async def test_a_consumer_that_somebody_stops_during_a_commit_ends_the_run() -> None:
    async with embedded_topic(records=1) as broker:
        pool = Pool(broker)

        async def stopped(_: object) -> None:
            raise ConsumerStoppedError

        pool.consumer.commit = stopped  # type: ignore[method-assign,assignment]
        async with pool.workers:
            with pytest.raises(ConsumerStoppedError):
                await pool.workers.run()
        assert pool.workers._engine._tasks.owner.failure is None


@pytest.mark.parametrize("records", [0, 4])
async def test_the_lag_ends_behind_aborted_transactions(records: int) -> None:
    """Nothing of them is returned, so no handler is ever called for what lies there."""
    async with embedded_topic(records=records) as broker:
        pool = Pool(broker, consumer={"isolation_level": "read_committed"})
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == records)
            async with AIOKafkaProducer(
                bootstrap_servers=broker.bootstrap_servers, transactional_id="x"
            ) as producer:
                await producer.begin_transaction()
                await producer.send_and_wait(TOPIC, b"v", partition=0)
                await producer.abort_transaction()
            end = broker.log((TOPIC, 0)).high_watermark
            assert end == records + 2
            await broker.wait_until(lambda: committed(broker) == {0: end})
        assert len(pool.ended) == records
