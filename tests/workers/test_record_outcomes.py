"""What follows a failure: another attempt after its backoff, a dead letter, or a stop."""

import asyncio
import itertools
import logging

import pytest

from aiokafka_lite import AIOKafkaProducer, DeadLetters
from aiokafka_lite.errors import HandlerFailedError
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.workers.running import Pool, Record, committed, embedded_topic


async def test_a_retry_waits_for_its_backoff_and_holds_back_its_key_only() -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=6, keys=2, clock=clock) as broker:
        pool, moments = Pool(broker, clock=clock, retry_backoff_ms=1000), list[float]()

        async def handle(record: Record) -> None:
            if record.offset == 0:
                moments.append(clock.monotonic())
                if len(moments) < 4:
                    raise ValueError("not yet")

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.ended) == 6)
        assert pool.ended == [(0, n) for n in (1, 3, 5, 0, 2, 4)]
        waits = [after - before for before, after in itertools.pairwise(moments)]
        for wait_s, backoff_s in zip(waits, (1, 2, 4), strict=True):
            assert backoff_s * 0.8 <= wait_s <= backoff_s * 1.2 + 0.1
        assert committed(broker) == {0: 6}


async def test_a_record_that_fails_for_good_goes_to_the_dead_letters(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded_topic(records=4, keys=1) as broker:
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            broker.create_topic("dead", 1)
            letters = DeadLetters(producer, "dead")
            pool = Pool(broker, retries=1, retry_backoff_ms=1, dead_letters=letters)

            async def handle(record: Record) -> None:
                if record.offset == 1:
                    raise ValueError("never")

            pool.does(handle)
            async with pool.running():
                await broker.wait_until(lambda: len(pool.ended) == 3)
            assert pool.workers.statistics().dead_letters == 1
            assert pool.workers.statistics().failed_attempts == 2
        assert broker.log(("dead", 0)).high_watermark == 1
        assert pool.began == [(0, 0), (0, 1), (0, 1), (0, 2), (0, 3)]
        assert committed(broker) == {0: 4}
        said = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
        assert "handler of t-0 offset 1 failed, attempt 1" in said[0]
        assert "the record is in 'dead'" in said[-1]


async def test_errors_that_no_retry_mends_are_given_up_at_once() -> None:
    async with embedded_topic(records=2) as broker:
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            broker.create_topic("dead", 1)
            pool = Pool(
                broker,
                retries=9,
                not_retried=(KeyError,),
                dead_letters=DeadLetters(producer, "dead"),
            )

            async def handle(record: Record) -> None:
                if record.offset == 0:
                    raise KeyError("k")

            pool.does(handle)
            async with pool.running():
                await broker.wait_until(lambda: pool.workers.statistics().dead_letters == 1)
        assert pool.began.count((0, 0)) == 1


async def test_a_dead_letter_that_cannot_be_written_stops_the_workers() -> None:
    async with embedded_topic(records=3) as broker:
        async with refused_topic(broker) as producer:
            pool = Pool(broker, retries=0, dead_letters=DeadLetters(producer, "no topic"))

            async def handle(record: Record) -> None:
                if record.offset == 1:
                    raise ValueError("never")

            pool.does(handle)
            async with pool.workers:
                with pytest.raises(
                    HandlerFailedError, match="did not take its dead letter"
                ) as caught:
                    await pool.workers.run()
        assert "set dead_letters" not in str(caught.value), "they are set"
        assert committed(broker)[0] == 1


async def test_a_dead_letter_that_waits_is_no_slow_or_stuck_handler(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with embedded_topic(records=2, clock=clock) as broker:
        broker.create_topic("dead", 1)
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, clock=clock, linger_ms=20_000
        )
        async with producer:
            pool = Pool(
                broker,
                clock=clock,
                retries=0,
                dead_letters=DeadLetters(producer, "dead"),
                slow_handler_ms=4000,
                handler_timeout_ms=8000,
            )

            async def handle(record: Record) -> None:
                if record.offset == 0:
                    raise ValueError("never")

            pool.does(handle)
            async with pool.running():
                await broker.wait_until(lambda: pool.workers.statistics().dead_letters == 1)
    assert "the dead letter of t-0 offset 0" in caplog.text
    assert "works since" not in caplog.text


async def test_a_failure_after_the_stop_promises_no_other_attempt(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded_topic(records=1) as broker:
        pool, gate = Pool(broker), asyncio.Event()

        async def handle(_: Record) -> None:
            await gate.wait()
            raise ValueError("late")

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: pool.began == [(0, 0)])
            pool.workers.stop()
            gate.set()
    assert "none follows here, because the workers stop" in caplog.text
    assert "the next one follows" not in caplog.text


def refused_topic(broker: EmbeddedBroker) -> AIOKafkaProducer[bytes, bytes]:
    """A producer to whose topic nothing can be written: its name is none that Kafka takes."""
    return AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)


async def test_a_retry_that_is_planned_ends_with_the_workers() -> None:
    async with embedded_topic(records=1) as broker:
        pool = Pool(broker, retry_backoff_ms=50_000, retry_backoff_max_ms=50_000)

        async def handle(_: Record) -> None:
            raise ValueError("no")

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: pool.workers.statistics().waiting_retries == 1)
        await asyncio.sleep(0)
        assert not committed(broker)


class NamelessError(Exception):
    """An error of the application that cannot be put into words."""

    def __str__(self) -> str:
        raise ZeroDivisionError


async def test_a_dead_letter_that_cannot_be_made_stops_the_workers() -> None:
    async with embedded_topic(records=3, keys=3) as broker:
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            broker.create_topic("dead", 1)
            pool = Pool(broker, retries=0, dead_letters=DeadLetters(producer, "dead"))

            async def handle(record: Record) -> None:
                if record.offset == 1:
                    raise NamelessError

            pool.does(handle)
            async with pool.workers:
                with pytest.raises(
                    HandlerFailedError, match="did not take its dead letter"
                ) as caught:
                    await pool.workers.run()
        assert "set dead_letters" not in str(caught.value), "they are set"
        assert committed(broker)[0] == 1


async def test_no_timer_is_set_once_the_workers_end() -> None:
    async with embedded_topic(records=1) as broker:
        pool, gate = Pool(broker), asyncio.Event()

        async def handle(_: Record) -> None:
            await gate.wait()
            raise ValueError("no")

        pool.does(handle)
        async with pool.running():
            await broker.wait_until(lambda: len(pool.began) == 1)
            outcomes = pool.workers._engine.outcomes
            outcomes.close()
            gate.set()
            await broker.wait_until(lambda: pool.workers.statistics().waiting_retries == 1)
            assert outcomes._timer is None
