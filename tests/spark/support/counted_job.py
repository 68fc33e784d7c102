"""Jobs that copy or add up numbers, so that each that is lost, or counts twice, is seen."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.spark.process.worker import Worker
from tests.spark.support.kills import texts
from tests.support.topics import create_topic

PARTITIONS = 2
WINDOW = 20
"""Numbers are the seconds of their events, and a window has so many."""
FAR = 10**6
"""An event that ends all windows."""
SUMS = f"""
SELECT concat_ws(' ', unix_seconds(window.start), count(*), sum(int(string(value)))) AS value
FROM records GROUP BY window(event_time, '{WINDOW} seconds')
"""
JOBS: dict[str, dict[str, object]] = {
    "archive": {},
    "mirror": {"delivery": "transactional"},
    "aggregate": {
        "delivery": "transactional",
        "sql": SUMS,
        "event_time": "timestamp_seconds(int(string(value)))",
        "watermark": "5 minutes",
    },
}
"""The jobs, and the keys of each."""


class CountedJob:
    """A job, its topics, and the folders that all its drivers share."""

    def __init__(
        self,
        job: str,
        name: str,
        servers: str,
        folder: Path,
        keys: Mapping[str, object] | None = None,
    ) -> None:
        """`name` is that of its topics; `keys` replace those that `JOBS` has for it."""
        self.job = job
        self.folder = folder
        self._servers = servers
        self._source, self._target = f"{name}-in", f"{name}-out"
        place = {"path": str(folder / "out")} if job == "archive" else {"topic": self._target}
        self.keys: dict[str, object] = {
            "bootstrap_servers": servers,
            "topics": [self._source],
            "checkpoint": str(folder / "checkpoint"),
            **place,
            **(JOBS[job] if keys is None else keys),
        }

    async def make_topics(self) -> None:
        for topic in (self._source, self._target):
            await create_topic(self._servers, topic, partitions=PARTITIONS)

    async def send(self, numbers: Iterable[int]) -> None:
        async with AIOKafkaProducer(bootstrap_servers=self._servers) as producer:
            for number in numbers:
                await producer.send(self._source, b"%d" % number, partition=number % PARTITIONS)
            await producer.flush()

    def found(self, here: Worker) -> Counter[str]:
        """What counts in the target, and how often."""
        if self.job == "archive":
            return Counter(_archived(self.folder / "out"))
        return texts(here, self._servers, self._target, PARTITIONS)

    def expected(self, count: int) -> Counter[str]:
        """What has to be there of so many numbers, and `FAR` behind them."""
        if self.job != "aggregate":
            return Counter(str(number) for number in (*range(count), FAR))
        windows = (range(first, first + WINDOW) for first in range(0, count, WINDOW))
        return Counter(f"{each[0]} {WINDOW} {sum(each)}" for each in windows)


def _archived(folder: Path) -> Iterator[str]:
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
