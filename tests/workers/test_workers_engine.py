"""The engine: a stuck handler is named and stops the workers, and nothing dies unseen."""

import asyncio

import pytest

from aiokafka_lite.errors import HandlerFailedError, KafkaError
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.workers.running import Pool, Record, committed, embedded_topic


async def test_a_stuck_handler_is_named_and_stops_the_workers(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=3, keys=3, clock=clock) as broker:
        pool = Pool(broker, clock=clock, slow_handler_ms=2000, handler_timeout_ms=12_000)

        async def handle(record: Record) -> None:
            if record.offset == 1:
                await asyncio.Event().wait()

        pool.does(handle)
        async with pool.workers:
            with pytest.raises(HandlerFailedError, match="handler_timeout_ms=12000") as raised:
                await pool.workers.run()
        assert isinstance(raised.value.__cause__, TimeoutError)
        slow = [each.getMessage() for each in caplog.records if "works since" in each.message]
        assert [float(text.split()[-2]) for text in slow] == pytest.approx([2, 4, 8], abs=0.6)
        assert all("t-0 offset 1" in text for text in slow)
        assert "handler of t-0 offset 1 is stuck since" in caplog.text
        assert committed(broker) == {0: 1}


async def test_a_task_that_fails_ends_the_run_with_its_error() -> None:
    async with embedded_topic(records=3) as broker:
        pool = Pool(broker)

        async def broken() -> None:
            raise ZeroDivisionError

        pool.workers._engine._commits.run = broken  # type: ignore[method-assign]
        async with pool.workers:
            with pytest.raises(KafkaError, match="'commits' of KeyedWorkers failed") as raised:
                await pool.workers.run()
        assert isinstance(raised.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("is_stopped", [True, False], ids=["stopped", "stuck"])
async def test_a_handler_that_ignores_each_cancellation_does_not_keep_the_run_from_its_end(
    is_stopped: bool, caplog: pytest.LogCaptureFixture
) -> None:
    clock, gate = FakeClock(autojump_threshold_s=0.02), asyncio.Event()
    async with embedded_topic(records=2, keys=2, clock=clock) as broker:
        pool = Pool(broker, clock=clock, handler_timeout_ms=20_000)

        async def handle(record: Record) -> None:
            while record.offset == 1 and not gate.is_set():
                try:
                    await gate.wait()
                except asyncio.CancelledError:
                    continue

        pool.does(handle)
        async with pool.workers:
            run = asyncio.create_task(pool.workers.run())
            await broker.wait_until(lambda: len(pool.began) == 2)
            if is_stopped:
                pool.workers.stop()
            expected = "has not ended 5 s after its worker" if is_stopped else "handler_timeout_ms"
            try:
                with pytest.raises(HandlerFailedError, match=expected) as raised:
                    await asyncio.wait_for(run, 30)
            finally:
                gate.set()  # without this a failure would hang
            assert raised.value.offset == 1
        assert "offset 1 has not ended 5 s after its worker was cancelled" in caplog.text
        assert committed(broker) == {0: 1}
