"""What follows each attempt: a release after a backoff, a rejection, or nothing more."""

import asyncio
from itertools import pairwise

import pytest

from aiokafka_lite import AcknowledgeType
from aiokafka_lite.errors import KafkaConfigurationError, RecordDeserializationError
from aiokafka_lite.share.held_records import Record
from tests.share.share_kafka import ShareKafka, run_share
from tests.workers.share.share_pool import SharePool, left_over


def test_a_record_whose_handler_raises_comes_again_until_the_group_archives_it() -> None:
    async def main(share: ShareKafka) -> None:
        began_s: list[float] = []

        async def handle(_: Record) -> None:
            began_s.append(share.clock.monotonic())
            raise OSError("the database is away")

        pool = SharePool(share, handle, retry_backoff_ms=1000, retry_backoff_max_ms=2000)
        async with pool.running():
            await pool.until(lambda: pool.figures.released_records == 4)
            await asyncio.sleep(20)
            assert pool.began == [(0, 1), (0, 2), (0, 3), (0, 4)]
            gaps = [after - before for before, after in pairwise(began_s)]
            assert gaps == pytest.approx([1, 2, 2], rel=0.35)
            assert pool.figures.failed_attempts == 4
        assert await left_over(share) == []

    run_share(main, "a", configs={"delivery_count_limit": "4"})


def test_errors_that_are_not_retried_reject() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(record: Record) -> None:
            raise (ValueError, OSError)[record.offset](str(record.delivery_count))

        pool = SharePool(share, handle, not_retried=(ValueError,))
        async with pool.running():
            await pool.until(lambda: pool.figures.released_records == 2)
        assert pool.began.count((0, 1)) == 1
        assert (0, 2) not in pool.began
        assert pool.figures.rejected_records == 1
        assert await left_over(share) == []

    run_share(main, "a", "b", together=True, configs={"delivery_count_limit": "2"})


def test_a_stop_releases_what_waits_for_its_backoff() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(_: Record) -> None:
            raise OSError

        pool = SharePool(share, handle, retry_backoff_ms=3_600_000, retry_backoff_max_ms=3_600_000)
        async with pool.running():
            await pool.until(lambda: pool.figures.waiting_releases == 1)
            await asyncio.sleep(120)
            assert pool.figures.waiting_releases == 1, "its lock is renewed meanwhile"
        assert pool.figures.waiting_releases == pool.figures.unfinished_records == 0
        assert await left_over(share) == [("a", 2)]

    run_share(main, "a")


def number(data: bytes) -> int:
    return int(data)


@pytest.mark.parametrize("not_retried", [(), (RecordDeserializationError,), (ValueError,)])
def test_a_record_that_cannot_be_deserialized(not_retried: tuple[type[Exception], ...]) -> None:
    async def main(share: ShareKafka) -> None:
        pool = SharePool(share, consumer={"value_deserializer": number}, not_retried=not_retried)
        async with pool.running():
            await pool.until(lambda: len(pool.ended) == 2)
            figures = pool.figures
            await pool.until(lambda: pool.figures.failed_attempts == (1 if not_retried else 3))
            await asyncio.sleep(30)
            figures = pool.figures
        assert sorted(pool.ended) == [(0, 1), (2, 1)]
        assert figures.failed_attempts == (1 if not_retried else 3)
        assert figures.rejected_records == len(not_retried)
        assert figures.waiting_releases == 0
        assert await left_over(share) == []

    run_share(main, "1", "two", "3", together=True, configs={"delivery_count_limit": "3"})


def test_a_renewal_is_no_outcome() -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(_: Record) -> object:
            return AcknowledgeType.RENEW

        pool = SharePool(share, handle)
        async with pool.workers:
            with pytest.raises(KafkaConfigurationError, match="locks are renewed while a handler"):
                await pool.workers.run()
        assert await left_over(share) == [("a", 2)]

    run_share(main, "a")


def test_an_acknowledgement_that_brokers_refuse_is_counted_and_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(share: ShareKafka) -> None:
        async def handle(record: Record) -> None:
            if record.delivery_count == 1:
                share.broker.expire_share_locks("g")  # without the client's knowledge

        pool = SharePool(share, handle)
        async with pool.running():
            await pool.until(lambda: pool.figures.accepted_records == 1)
        assert pool.ended == [(0, 1), (0, 2)]
        assert pool.figures.refused_acknowledgements == 1

    run_share(main, "a")
    assert "acknowledgements of 1 records of t-0 were refused" in caplog.text
