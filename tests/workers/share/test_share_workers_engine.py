"""The engine: locks live as long as handlers work, and stuck handlers are told and let go."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import HandlerFailedError, KafkaError
from aiokafka_lite.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from aiokafka_lite.protocol.messages.share_fetch import ShareFetchRequest
from aiokafka_lite.share.held_records import Record
from tests.share.share_kafka import TOPIC, TP, ShareKafka, run_share, text
from tests.workers.share.share_pool import SharePool, left_over

LONG: dict[str, Any] = {"handler_timeout_ms": 10_000_000}


def test_locks_are_renewed_while_records_wait_and_handlers_work() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(_: Record) -> None:
            await asyncio.sleep(100)

        pool = SharePool(share, handle, concurrency=1, **LONG)
        async with pool.running():
            await pool.until(lambda: pool.figures.accepted_records == 3)
        assert pool.began == [(0, 1), (1, 1), (2, 1)]
        figures = pool.figures
        assert (figures.lost_locks, figures.refused_acknowledgements) == (0, 0)
        assert figures.renewed_locks > 300 / 30

    run_share(main, "a", "b", "c", together=True)


def test_locks_that_turn_out_to_be_short_are_renewed_from_the_first_on() -> None:
    """The first response says how long locks last; by then the first of them may end soon."""

    async def main(share: ShareKafka) -> None:
        async def handle(_: Record) -> None:
            await asyncio.sleep(1.5)

        pool = SharePool(share, handle, concurrency=1, consumer={"fetch_max_wait_ms": 100}, **LONG)
        async with pool.running():
            await pool.until(lambda: pool.figures.accepted_records == 3)
        assert pool.began == [(0, 1), (1, 1), (2, 1)]
        figures = pool.figures
        assert (figures.lost_locks, figures.refused_acknowledgements) == (0, 0)

    run_share(main, "a", "b", "c", together=True, group_share_record_lock_duration_ms=1_000)


def test_without_renewals_the_end_of_a_lock_is_told_and_no_second_handler_starts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(_: Record) -> None:
            await asyncio.sleep(40)

        pool = SharePool(share, handle, **LONG)
        async with pool.running():
            await pool.until(lambda: pool.figures.accepted_records == 1)
        assert pool.began == [(0, 1)], "it came again while its handler worked"
        assert pool.figures.lost_locks == 1
        assert await left_over(share) == []

    run_share(main, "a", configs={"renew_acknowledge_enable": "false"})
    assert "the lock of t-0 offset 0 has ended while its handler works" in caplog.text


def test_when_a_session_ends_its_records_come_again() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(record: Record) -> None:
            await asyncio.sleep(1 if record.delivery_count > 1 else 20)

        pool = SharePool(share, handle, concurrency=1, max_records=3)
        async with pool.running():
            await pool.until(lambda: len(pool.began) == 1)
            share.broker.end_share_sessions("g")
            await pool.until(lambda: pool.figures.accepted_records == 3)
        assert sorted(pool.began) == [(0, 1), (1, 2), (2, 2)]
        assert pool.figures.lost_locks == 3

    run_share(main, "a", "b", "c", together=True)


def test_a_topic_that_is_created_again_has_its_own_records(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Those at the offsets of running handlers are handled, too."""

    async def main(share: ShareKafka) -> None:
        handled: list[str] = []
        go_on = asyncio.Event()

        async def handle(record: Record) -> None:
            if text(record) == "old":
                await go_on.wait()
            handled.append(text(record))

        pool = SharePool(share, handle, consumer={"allow_auto_create_topics": False})
        async with pool.running():
            await pool.until(lambda: len(pool.began) == 1)
            share.broker.delete_topic(TOPIC)
            await asyncio.sleep(1)
            share.broker.create_topic(TOPIC, 1)
            await share.write("new", "newer")
            await pool.until(lambda: handled == ["new", "newer"])
            go_on.set()
            await pool.until(lambda: handled == ["new", "newer", "old"])
            assert "1 records of before are forgotten" in caplog.text
        assert await left_over(share) == []

    run_share(main, "old")


def test_an_acknowledgement_that_waits_until_its_lock_has_ended_is_not_sent() -> None:
    """Others may have the record by then, and a node says nothing to those below its start."""

    async def main(share: ShareKafka) -> None:
        go_on = asyncio.Event()

        async def handle(record: Record) -> None:
            await go_on.wait()

        pool = SharePool(share, handle)
        async with pool.running():
            await pool.until(lambda: len(pool.began) == 1)
            share.broker.forget_requests()
            share.broker.faults.stall(ShareFetchRequest, times=None)
            await pool.until(lambda: bool(share.broker.requests_of(ShareFetchRequest)))
            go_on.set()
            await asyncio.sleep(16)
            share.broker.faults.release()
            await pool.until(lambda: len(pool.ended) == 2)
            await pool.until(lambda: pool.figures.accepted_records == 1)
            assert pool.figures.refused_acknowledgements == 1
        assert await left_over(share) == []

    run_share(main, "a", configs={"record_lock_duration_ms": "15000"})


def test_a_stuck_handler_is_named_and_its_record_goes_to_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(record: Record) -> None:
            if record.delivery_count == 1:
                await asyncio.Event().wait()

        pool = SharePool(
            share, handle, concurrency=1, slow_handler_ms=20_000, handler_timeout_ms=100_000
        )
        async with pool.running():
            await pool.until(lambda: pool.figures.accepted_records == 1)
        assert pool.began == [(0, 1), (0, 2)]
        assert pool.figures.released_records == 1

    run_share(main, "a")
    slow = [text for text in caplog.messages if "works since" in text]
    assert [float(text.split()[-2]) for text in slow] == pytest.approx([20, 40, 80], abs=6)
    stuck = [text for text in caplog.messages if "is stuck since" in text]
    assert len(stuck) == 1
    assert stuck[0].startswith("handler of t-0 offset 0 is stuck since")
    assert stuck[0].endswith("it is cancelled, and its record released")


def test_a_timeout_may_reject() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(_: Record) -> None:
            await asyncio.Event().wait()

        pool = SharePool(share, handle, handler_timeout_ms=1000, not_retried=(TimeoutError,))
        async with pool.running():
            await pool.until(lambda: pool.figures.rejected_records == 1)
        assert pool.began == [(0, 1)]
        assert await left_over(share) == []

    run_share(main, "a")


def test_a_handler_that_ignores_its_cancellation_gets_no_second_one_beside_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(share: ShareKafka) -> None:
        gate = asyncio.Event()

        async def handle(record: Record) -> None:
            while record.delivery_count == 1 and not gate.is_set():
                try:
                    await gate.wait()
                except asyncio.CancelledError:
                    continue

        pool = SharePool(share, handle, concurrency=2, handler_timeout_ms=10_000)
        async with pool.running():
            await pool.until(lambda: pool.figures.released_records == 1)
            await asyncio.sleep(100)
            assert pool.began == [(0, 1)]
            gate.set()
            await pool.until(lambda: pool.figures.accepted_records == 1)

    run_share(main, "a")
    assert len([text for text in caplog.messages if "is stuck since" in text]) == 1


def test_a_handler_that_ignores_each_cancellation_does_not_keep_the_run_from_its_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(share: ShareKafka) -> None:
        gate = asyncio.Event()

        async def handle(_: Record) -> None:
            while not gate.is_set():
                try:
                    await gate.wait()
                except asyncio.CancelledError:
                    continue

        pool = SharePool(share, handle)
        async with pool.workers as workers:
            run = asyncio.create_task(workers.run())
            await pool.until(lambda: len(pool.began) == 1)
            workers.stop()
            try:
                with pytest.raises(HandlerFailedError, match="has not ended 5 s after") as raised:
                    await asyncio.wait_for(run, 60)
            finally:
                gate.set()
            assert raised.value.offset == 0
        assert await left_over(share) == [("a", 2)]

    run_share(main, "a")
    assert "another member may handle the record at the same time" in caplog.text


def test_a_task_that_fails_ends_the_run_with_its_error() -> None:
    async def main(share: ShareKafka) -> None:
        pool = SharePool(share)

        async def broken() -> None:
            raise ZeroDivisionError

        pool.workers._engine._intake.run = broken  # type: ignore[method-assign]
        async with pool.workers as workers:
            with pytest.raises(KafkaError, match="'intake' of ShareWorkers failed") as raised:
                await workers.run()
        assert isinstance(raised.value.__cause__, ZeroDivisionError)

    run_share(main)


def test_a_node_that_does_not_answer_a_renewal_does_not_stop_the_others() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(record: Record) -> None:
            await asyncio.sleep(60 if record.partition == 0 else 0)

        pool = SharePool(share, handle, concurrency=2, **LONG)
        async with pool.running():
            await pool.until(lambda: len(pool.began) == 1)
            share.broker.faults.drop(ShareAcknowledgeRequest, node_id=share.broker.leader(TP))
            await share.broker.wait_until(
                lambda: bool(share.broker.requests_of(ShareAcknowledgeRequest))
            )
            (other,) = {1, 2} - {share.broker.leader(TP)}
            share.broker.move_leader((TOPIC, 1), other)
            async with AIOKafkaProducer(**share.kafka.client_options) as producer:
                await producer.send_and_wait(TOPIC, b"b", partition=1)
            await pool.until(lambda: len(pool.began) == 2, within_s=3)

    run_share(main, "a", nodes=2, num_partitions=2)
