"""Kills three jobs ten times, with all their processes, and starts each again by its command line.

Each kill comes at a random moment. No number is lost, and none counts twice. Another driver goes on
from the checkpoint each time. A mirror whose source copies its ranges loses nothing either, and
repeats only the batch of a kill. The figures are printed.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import require_kafka, require_spark
from tests.spark.support.counted_job import FAR, JOBS, PARTITIONS, CountedJob
from tests.spark.support.job_process import JobProcess, by_command_line
from tests.spark.support.standalone import QUICK_JVM

KILLS = 10
COUNT = 6000
LIMIT = 20
COPIED, COPY_LIMIT = 60_000, 400
"""Records of the mirror at least once, and of each of its batches."""
SPARK = {
    "master": "local[2]",
    "ui.enabled": "false",
    "driver.bindAddress": "127.0.0.1",
    "driver.host": "127.0.0.1",
    "driver.memory": "512m",
    "driver.extraJavaOptions": QUICK_JVM,
    "sql.shuffle.partitions": "2",
}

pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(3600)]


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


def started(
    stack: ExitStack, job: CountedJob, driver: str, *, ends: bool, limit_to: int = LIMIT
) -> JobProcess:
    """A driver of the job. It ends with the records that there are, or goes on."""
    trigger = {"trigger": "available-now" if ends else "500ms"}
    limit = {"max_offsets_per_trigger": COUNT if ends else limit_to}
    spark = {f"spark.{name}": value for name, value in SPARK.items()}
    keys = {**trigger, **limit, **spark, **job.keys}
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


def test_ten_kills_of_a_mirror_at_least_once_repeat_only_the_batches_that_had_begun(
    kafka: ApacheKafka, here: Worker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each round kills the Python workers of a batch, and then the command line."""
    job = CountedJob("mirror", "copied", kafka.bootstrap_servers, tmp_path, keys={})
    asyncio.run(job.make_topics())
    asyncio.run(job.send(range(COPIED)))
    rng = random.Random()
    spark = {"spark.master": "local[2,4]"}  # tasks whose worker was killed come again
    job.keys |= spark
    may_come_again: Counter[str] = Counter()
    in_batch = Counter[str]()

    def kill(running: JobProcess, what: str, how: Callable[[], int]) -> None:
        running.goes_on(1)
        assert running.runs_on_for(rng.uniform(0, 1.5))
        before = running.done_ends()
        in_batch[what] += running.is_in_batch()
        assert how() > 0
        for partition, end in running.begun_ends().items():
            for offset in range(before[partition], end):
                may_come_again[str(offset * PARTITIONS + partition)] += 1

    for number in range(KILLS):
        with ExitStack() as stack:
            running = started(stack, job, f"driver-{number}", ends=False, limit_to=COPY_LIMIT)
            kill(running, "workers", running.kill_workers)
            kill(running, "command line", running.kill)
            assert running.done_offsets() < COPIED, "nothing is left to do"
    asyncio.run(job.send([FAR]))
    with ExitStack() as stack:
        summary = started(stack, job, "last-driver", ends=True).summary()
    assert (summary["status"], summary["lag"]) == ("done", 0)
    found = job.found(here)
    assert found.keys() == job.expected(COPIED).keys()
    too_often = {number for number, times in found.items() if times > 1 + may_come_again[number]}
    assert not too_often
    twice = found.total() - len(found)
    with capsys.disabled():
        print(
            f"\n{KILLS} kills of workers and of the command line, {len(found)} records: none lost"
        )
        print(f"  kills in a batch: {dict(in_batch)}; {running.commits()} batches before the last")
        print(f"  {twice} copied again, of {may_come_again.total()} that might")
