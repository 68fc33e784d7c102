"""Jobs by the command line of spark-submit, on a standalone cluster of Spark, with a real Kafka.

Each job goes through a round of faults. Tasks are held up, so that Spark starts them a second time.
A worker is killed in a batch, with all its executors. Executors come and go. The driver is killed,
and started again elsewhere. No number is lost, and none counts twice. In three rounds each job
meets each way to bring the package to executors.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import require_kafka, require_spark
from tests.spark.support.kills import texts
from tests.spark.support.standalone import Daemon, StandaloneCluster, standalone_cluster
from tests.spark.support.submitted_job import WAYS, SubmittedJob, submitted
from tests.support.topics import create_topic

PARTITIONS = 2
COUNT = 1600
FIRST = 1000
LIMIT = 50
WINDOW = 20
"""Numbers are the seconds of their events, and a window has so many."""
FAR = 10**6
"""An event that ends all windows."""
SUMS = f"""
SELECT concat_ws(' ', unix_seconds(window.start), count(*), sum(int(string(value)))) AS value
FROM records GROUP BY window(event_time, '{WINDOW} seconds')
"""
KEYS: dict[str, dict[str, object]] = {
    "archive": {},
    "mirror": {"delivery": "transactional"},
    "aggregate": {
        "delivery": "transactional",
        "sql": SUMS,
        "event_time": "timestamp_seconds(int(string(value)))",
        "watermark": "5 minutes",
    },
}
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

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]


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


class Round:
    """A job, its topics, and the folders that all its drivers share."""

    def __init__(self, job: str, way: str, servers: str, folder: Path) -> None:
        self.job = job
        self.servers = servers
        self.folder = folder
        self._way = way
        name = f"{job}-{way.strip('-').replace(' ', '-')}"
        self.source, self.target = f"{name}-in", f"{name}-out"
        place = {"path": str(folder / "out")} if job == "archive" else {"topic": self.target}
        self._keys: dict[str, object] = {
            "bootstrap_servers": servers,
            "topics": [self.source],
            "checkpoint": str(folder / "checkpoint"),
            **place,
            **KEYS[job],
        }

    async def make_topics(self) -> None:
        for topic in (self.source, self.target):
            await create_topic(self.servers, topic, partitions=PARTITIONS)

    async def send(self, numbers: Iterable[int]) -> None:
        async with AIOKafkaProducer(bootstrap_servers=self.servers) as producer:
            for number in numbers:
                await producer.send(self.source, b"%d" % number, partition=number % PARTITIONS)
            await producer.flush()

    def submitted(
        self, cluster: StandaloneCluster, driver: str, trigger: str, limit: int
    ) -> AbstractContextManager[SubmittedJob]:
        """A driver on a machine of that name."""
        keys = {**self._keys, "trigger": trigger, "max_offsets_per_trigger": limit}
        folder = self.folder / driver
        return submitted(self.job, cluster.url, self._way, folder, keys, SETTINGS)

    def found(self, here: Worker) -> Counter[str]:
        """What counts in the target, and how often."""
        if self.job == "archive":
            return Counter(archived(self.folder / "out"))
        return texts(here, self.servers, self.target, PARTITIONS)

    def expected(self) -> Counter[str]:
        if self.job != "aggregate":
            return Counter(str(number) for number in (*range(COUNT), FAR))
        windows = (range(first, first + WINDOW) for first in range(0, COUNT, WINDOW))
        return Counter(f"{each[0]} {WINDOW} {sum(each)}" for each in windows)


def archived(folder: Path) -> Iterator[str]:
    """Yield the numbers of the files that Spark's list in the folder names."""
    import pyarrow.parquet as pq

    listed = {
        json.loads(line)["path"]
        for entry in (folder / "_spark_metadata").glob("[0-9]*")
        for line in entry.read_text().splitlines()[1:]
    }
    for path in listed:
        table = pq.ParquetFile(path.removeprefix("file://")).read(columns=["value"])
        yield from (value.decode() for value in table.column("value").to_pylist())


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


@pytest.mark.parametrize("job", KEYS)
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
    way = list(WAYS)[(list(KEYS).index(job) + number) % len(WAYS)]
    played = Round(job, way, kafka.bootstrap_servers, tmp_path)
    began_s = SYSTEM_CLOCK.monotonic()
    asyncio.run(played.make_topics())
    asyncio.run(played.send(range(FIRST)))
    with played.submitted(cluster, "driver-1", "200ms", LIMIT) as running:
        running.goes_on()
        hold_tasks_up(running, cluster)
        kill_worker(running, cluster)
        let_executors_go(running, cluster, FIRST)
        asyncio.run(played.send(range(FIRST, COUNT)))
        running.goes_on()
        kill_driver(running)
        done = running.done_offsets()
    asyncio.run(played.send([FAR]))
    with played.submitted(cluster, "driver-2", "available-now", 10 * LIMIT) as running:
        summary = running.summary()
    assert done < COUNT, "there has to be something left to do"
    assert (summary["status"], summary["lag"]) == ("done", 0)
    assert played.found(here) == played.expected()
    with capsys.disabled():
        seconds = SYSTEM_CLOCK.monotonic() - began_s
        print(
            f"\n{job}, {way}: none lost, none twice; {running.commits()} batches, {seconds:.0f} s"
        )
