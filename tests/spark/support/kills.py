"""A driver of Spark that is killed with all its processes, and what must be left of its streams."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.process.pyspark_zips import lasting_interpreter
from aiokafka_lite.spark.process.worker import Worker
from tests.spark.support.own_session import OwnSession

ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("killed_driver.py")


class Driver(OwnSession):
    """A child process with a session of its own, in which all of its processes are."""

    def __init__(self, servers: str, folder: Path, limit: int) -> None:
        self.folder = folder
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": lasting_interpreter(),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        }
        program = [sys.executable, str(SCRIPT), servers, str(folder), str(limit)]
        super().__init__(program, folder / "driver.log", environment, Path.cwd())

    def commits(self, name: str = "mirror") -> int:
        """How many batches of a stream Spark has noted as done."""
        return len(list(self.folder.glob(f"checkpoint-{name}/commits/[0-9]*")))

    def query_id(self, name: str = "mirror") -> str:
        """The id of a stream, which its transactional ids are made of."""
        text = (self.folder / f"checkpoint-{name}" / "metadata").read_text()
        found: str = json.loads(text)["id"]
        return found


@contextmanager
def driver(servers: str, folder: Path, limit: int = 0) -> Iterator[Driver]:
    """A driver that does not outlive the block."""
    made = Driver(servers, folder, limit)
    try:
        yield made
    finally:
        made.kill()


# What is left…


def texts(here: Worker, servers: str, topic: str, partitions: int) -> Counter[str]:
    """The values that count in a topic, and how often. No transaction is left open."""
    config: dict[str, Any] = {"bootstrap_servers": servers, "auto_offset_reset": "earliest"}
    wanted = [TopicPartition(topic, number) for number in range(partitions)]

    async def read() -> Counter[str]:
        async with AIOKafkaConsumer[Any, Any](**config) as consumer:
            ends = await consumer.end_offsets(wanted)
        found: Counter[str] = Counter()
        config["isolation_level"] = "read_committed"
        async with AIOKafkaConsumer[Any, Any](**config) as consumer:
            assert await consumer.end_offsets(wanted) == ends, "a transaction is open"
            consumer.assign(wanted)
            while any([await consumer.position(tp) < ends[tp] for tp in wanted]):
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    found.update((record.value or b"").decode() for record in records)
        return found

    return here.run(read)


def values(here: Worker, servers: str, topic: str, partitions: int) -> Counter[int]:
    """The numbers that count in a topic, and how often. No transaction is left open."""
    found = texts(here, servers, topic, partitions)
    return Counter({int(text): times for text, times in found.items()})


def archived(folder: Path) -> Counter[int]:
    """The numbers that Spark reads from the archive, and how often."""
    return Counter(int(line) for line in (folder / "archived").read_text().split())


def check(
    here: Worker, servers: str, folder: Path, count: int, partitions: int
) -> tuple[int, int, int]:
    """Fail unless every number below `count` is in each place as often as was promised; return how
    many are there once too often, in the archive, the plain copy and the transactional one."""
    once = Counter(range(count))
    archive = archived(folder)
    plain = values(here, servers, "plain", partitions)
    mirror = values(here, servers, "t", partitions)
    assert archive == once
    assert mirror == once
    assert plain.keys() == once.keys()
    return tuple(found.total() - count for found in (archive, plain, mirror))  # type: ignore[return-value]
