"""Kills ten Spark drivers, one after the other, at random moments of three streams on a real Kafka.

No record is lost, and streams with exactly-once delivery repeat none. The figures are printed.
"""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import require_kafka, require_spark
from tests.spark.support.kills import check, driver
from tests.support.topics import create_topic

KILLS = 10
COUNT = 20_000
LIMIT = 40
PARTITIONS = 2

pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(3600)]


@pytest.fixture
def kafka() -> Iterator[ApacheKafka]:
    require_kafka(DEFAULT_VERSION)
    with ApacheKafka(DEFAULT_VERSION) as started:
        yield started


@pytest.fixture
def here() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


async def fill(servers: str) -> None:
    for topic in ("in", "plain", "t"):
        await create_topic(servers, topic, partitions=PARTITIONS)
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(COUNT):
            await producer.send("in", b"%d" % number, partition=number % PARTITIONS)
        await producer.flush()


def test_ten_kills_lose_nothing_and_repeat_nothing_that_is_exactly_once(
    kafka: ApacheKafka, here: Worker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require_spark()
    servers = kafka.bootstrap_servers
    asyncio.run(fill(servers))
    rng = random.Random()
    moments = []
    for _ in range(KILLS):
        with driver(servers, tmp_path, LIMIT) as child:
            done = child.commits()
            batches, seconds = rng.randint(1, 4), rng.uniform(0, 1.5)
            child.wait_until(lambda: child.commits() >= done + batches)  # noqa: B023 - called here
            assert child.runs_on_for(seconds)
            assert child.kill() > 3
            moments.append(f"{child.commits() - done} batches")
    assert child.commits() * LIMIT < COUNT, "there has to be something left to do"
    with driver(servers, tmp_path) as child:
        child.ends_well()
    twice = check(here, servers, tmp_path, COUNT, PARTITIONS)
    with capsys.disabled():
        print(f"\n{KILLS} kills of three streams of {COUNT} rows, after {', '.join(moments)} more")
        for name, count in zip(("archive", "plain sink", "mirror"), twice, strict=True):
            print(f"  {name:<12} none lost, {count} twice")
