"""Kills three jobs ten times, with all their processes, and starts each again by its command line.

Each kill comes at a random moment. No number is lost, and none counts twice. Another driver goes on
from the checkpoint each time. The figures are printed.
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import require_kafka, require_spark
from tests.spark.support.counted_job import FAR, JOBS, CountedJob
from tests.spark.support.job_process import JobProcess, by_command_line
from tests.spark.support.standalone import QUICK_JVM

KILLS = 10
COUNT = 6000
LIMIT = 20
SPARK = {
    "master": "local[2]",
    "ui.enabled": "false",
    "driver.bindAddress": "127.0.0.1",
    "driver.host": "127.0.0.1",
    "driver.memory": "512m",
    "driver.extraJavaOptions": QUICK_JVM,
    "sql.shuffle.partitions": "2",
}

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]


@pytest.fixture
def kafka() -> Iterator[ApacheKafka]:
    require_spark()
    require_kafka(DEFAULT_VERSION)
    with ApacheKafka(DEFAULT_VERSION) as started:
        yield started


@pytest.fixture
def here() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


def started(stack: ExitStack, job: CountedJob, driver: str, *, ends: bool) -> JobProcess:
    """A driver of the job. It ends with the records that there are, or goes on."""
    trigger = {"trigger": "available-now" if ends else "500ms"}
    limit = {"max_offsets_per_trigger": COUNT if ends else LIMIT}
    spark = {f"spark.{name}": value for name, value in SPARK.items()}
    keys = {**job.keys, **trigger, **limit, **spark}
    return stack.enter_context(by_command_line(job.job, keys, job.folder / driver))


def test_ten_kills_of_jobs_lose_nothing_and_repeat_nothing(
    kafka: ApacheKafka, here: Worker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = kafka.bootstrap_servers
    jobs = [CountedJob(name, name, servers, tmp_path / name) for name in JOBS]
    for job in jobs:
        job.folder.mkdir()
        asyncio.run(job.make_topics())
        asyncio.run(job.send(range(COUNT)))
    rng = random.Random()
    began_s = SYSTEM_CLOCK.monotonic()
    in_batch = dict.fromkeys(JOBS, 0)
    for number in range(KILLS):
        with ExitStack() as stack:
            running = [started(stack, job, f"driver-{number}", ends=False) for job in jobs]
            for each in running:
                each.goes_on(1)
            for job, each in rng.sample(list(zip(jobs, running, strict=True)), len(jobs)):
                assert each.runs_on_for(rng.uniform(0, 1.5))
                in_batch[job.job] += each.is_in_batch()
                assert each.kill() > 2
            done = {job.job: each.commits() for job, each in zip(jobs, running, strict=True)}
            assert all(each.done_offsets() < COUNT for each in running), "nothing is left to do"
    for job in jobs:
        asyncio.run(job.send([FAR]))
        with ExitStack() as stack:
            summary = started(stack, job, "last-driver", ends=True).summary()
        assert (summary["status"], summary["lag"]) == ("done", 0)
        assert job.found(here) == job.expected(COUNT)
    with capsys.disabled():
        seconds = SYSTEM_CLOCK.monotonic() - began_s
        print(
            f"\n{KILLS} kills of each job, {COUNT} records: none lost, none twice; {seconds:.0f} s"
        )
        for name, batches in done.items():
            print(f"  {name:<10} none lost, none twice; {batches} batches,", end=" ")
            print(f"{in_batch[name]} kills in a batch")
