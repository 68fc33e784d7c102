"""Jobs by the command line of spark-submit, on a standalone cluster of Spark, with a real Kafka.

Each job goes through a round of faults. Tasks are held up, so that Spark starts them a second time.
A worker is killed in a batch, with all its executors. Executors come and go. The driver is killed,
and started again elsewhere. No number is lost, and none counts twice. In three rounds each job
meets each way to bring the package to executors.
"""

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import require_kafka, require_spark
from tests.spark.support.counted_job import FAR, JOBS, CountedJob
from tests.spark.support.standalone import Daemon, StandaloneCluster, standalone_cluster
from tests.spark.support.submitted_job import WAYS, SubmittedJob, submitted

COUNT = 1600
FIRST = 1000
LIMIT = 50
SETTINGS = {
    "spark.log.level": "INFO",
    "spark.locality.wait": "0s",
    "spark.speculation": "true",
    "spark.speculation.interval": "200ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "1s",
    "spark.speculation.task.duration.threshold": "3s",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "5s",
    "spark.dynamicAllocation.executorIdleTimeout": "15s",
    "spark.dynamicAllocation.initialExecutors": "2",
    "spark.dynamicAllocation.minExecutors": "0",
    "spark.dynamicAllocation.maxExecutors": "2",
}

pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    require_spark()
    require_kafka(DEFAULT_VERSION)
    with ApacheKafka(DEFAULT_VERSION) as started:
        yield started


@pytest.fixture(scope="module")
def cluster(
    kafka: ApacheKafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StandaloneCluster]:
    del kafka  # where there is none, there is no cluster either
    with standalone_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def here() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.close()


def driver(
    counted: CountedJob, way: str, cluster: StandaloneCluster, name: str, trigger: str, limit: int
) -> AbstractContextManager[SubmittedJob]:
    """A driver of the job, on a machine of that name."""
    keys = {**counted.keys, "trigger": trigger, "max_offsets_per_trigger": limit}
    return submitted(counted.job, cluster.url, way, counted.folder / name, keys, SETTINGS)


def busy(job: SubmittedJob, cluster: StandaloneCluster) -> Daemon:
    """Wait for a worker that runs tasks of a batch."""
    found: list[Daemon] = []

    def is_there() -> bool:
        found[:] = [each for each in cluster.workers if each.pythons()]
        return job.is_in_batch() and bool(found)

    job.wait_until(is_there)
    return found[0]


def hold_tasks_up(job: SubmittedJob, cluster: StandaloneCluster) -> None:
    """Spark starts them again on another machine, and later the first attempts go on."""
    with busy(job, cluster).tasks_held_up():
        job.goes_on()
    assert "as speculatable" in job.log()
    job.goes_on()


def kill_worker(job: SubmittedJob, cluster: StandaloneCluster) -> None:
    """A machine is gone in mid-batch; later there is another one."""
    worker = busy(job, cluster)
    assert worker.kill() > 2
    job.goes_on()
    cluster.replace(worker)


def let_executors_go(job: SubmittedJob, cluster: StandaloneCluster, done: int) -> None:
    """With nothing to do there are no executors any more."""
    job.wait_until(lambda: job.done_offsets() == done and not cluster.executors())


def kill_driver(job: SubmittedJob) -> None:
    job.wait_until(job.is_in_batch)
    assert job.kill() > 3


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("number", range(3), ids=lambda number: f"round{number + 1}")
def test_a_job_on_a_cluster_loses_nothing_and_repeats_nothing(
    kafka: ApacheKafka,
    cluster: StandaloneCluster,
    here: Worker,
    tmp_path: Path,
    job: str,
    number: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    way = list(WAYS)[(list(JOBS).index(job) + number) % len(WAYS)]
    name = f"{job}-{way.strip('-').replace(' ', '-')}"
    counted = CountedJob(job, name, kafka.bootstrap_servers, tmp_path)
    began_s = SYSTEM_CLOCK.monotonic()
    asyncio.run(counted.make_topics())
    asyncio.run(counted.send(range(FIRST)))
    with driver(counted, way, cluster, "driver-1", "200ms", LIMIT) as running:
        running.goes_on()
        hold_tasks_up(running, cluster)
        kill_worker(running, cluster)
        let_executors_go(running, cluster, FIRST)
        asyncio.run(counted.send(range(FIRST, COUNT)))
        running.goes_on()
        kill_driver(running)
        done = running.done_offsets()
    asyncio.run(counted.send([FAR]))
    with driver(counted, way, cluster, "driver-2", "available-now", 10 * LIMIT) as running:
        summary = running.summary()
    assert done < COUNT, "there has to be something left to do"
    assert (summary["status"], summary["lag"]) == ("done", 0)
    assert counted.found(here) == counted.expected(COUNT)
    with capsys.disabled():
        seconds = SYSTEM_CLOCK.monotonic() - began_s
        print(
            f"\n{job}, {way}: none lost, none twice; {running.commits()} batches, {seconds:.0f} s"
        )
