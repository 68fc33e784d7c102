"""A driver of Spark that is killed with all its processes, and what must be left of its streams."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.java_runtime import find_java

ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("killed_driver.py")
PATIENCE_S = 240.0
_POLL_S = 0.02


class Driver:
    """A child process with a session of its own, in which all of its processes are."""

    def __init__(self, servers: str, folder: Path, limit: int) -> None:
        self.folder = folder
        self._log = folder / "driver.log"
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "JAVA_HOME": str(find_java().resolve().parents[1]),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        }
        with self._log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, str(SCRIPT), servers, str(folder), str(limit)],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
            )

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Return when something is so. Fails when the driver ends before, or it takes too long."""
        until_s = SYSTEM_CLOCK.monotonic() + PATIENCE_S
        while not is_so():
            assert SYSTEM_CLOCK.monotonic() < until_s, f"not so in time:\n{self._tail()}"
            assert self.runs_on_for(_POLL_S), f"the driver ended:\n{self._tail()}"

    def runs_on_for(self, seconds: float) -> bool:
        """Wait; say whether it still runs."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.poll() is None

    def ends_well(self) -> None:
        """Wait for its end. Fails when it fails."""
        code = self._process.wait(PATIENCE_S)
        assert code == 0, f"exit code {code}:\n{self._tail()}"

    def kill(self) -> int:
        """kill -9 for the driver, its JVM and their Python workers; return how many there were."""
        killed = 0
        while members := [pid for pid in _processes() if _session(pid) == self._process.pid]:
            for pid in members:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
            self._process.wait()
        return killed

    def kill_workers(self) -> int:
        """kill -9 for the Python workers of tasks only; return how many there were."""
        pids = [pid for pid in _processes() if _session(pid) == self._process.pid]
        daemons = {pid for pid in pids if "pyspark.daemon" in _command(pid)}
        workers = [pid for pid in daemons if _parent(pid) in daemons]
        for pid in workers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return len(workers)

    def commits(self, name: str = "mirror") -> int:
        """How many batches of a stream Spark has noted as done."""
        return len(list(self.folder.glob(f"checkpoint-{name}/commits/[0-9]*")))

    def query_id(self, name: str = "mirror") -> str:
        """The id of a stream, which its transactional ids are made of."""
        text = (self.folder / f"checkpoint-{name}" / "metadata").read_text()
        found: str = json.loads(text)["id"]
        return found

    def _tail(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]


@contextmanager
def driver(servers: str, folder: Path, limit: int = 0) -> Iterator[Driver]:
    """A driver that does not outlive the block."""
    made = Driver(servers, folder, limit)
    try:
        yield made
    finally:
        made.kill()


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _fields(pid: int) -> list[str]:
    """The fields of a process behind its name; a zombie is none."""
    try:
        found = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ["Z", "0", "0", "0"]
    return ["Z", "0", "0", "0"] if found[0] == "Z" else found


def _parent(pid: int) -> int:
    return int(_fields(pid)[1])


def _session(pid: int) -> int:
    return int(_fields(pid)[3])


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


# What is left…


def values(here: Worker, servers: str, topic: str, partitions: int) -> Counter[int]:
    """The numbers that count in a topic, and how often. No transaction is left open."""
    config: dict[str, Any] = {"bootstrap_servers": servers, "auto_offset_reset": "earliest"}
    wanted = [TopicPartition(topic, number) for number in range(partitions)]

    async def read() -> Counter[int]:
        async with AIOKafkaConsumer[Any, Any](**config) as consumer:
            ends = await consumer.end_offsets(wanted)
        found: Counter[int] = Counter()
        config["isolation_level"] = "read_committed"
        async with AIOKafkaConsumer[Any, Any](**config) as consumer:
            assert await consumer.end_offsets(wanted) == ends, "a transaction is open"
            consumer.assign(wanted)
            while any([await consumer.position(tp) < ends[tp] for tp in wanted]):
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    found.update(int(record.value or b"") for record in records)
        return found

    return here.run(read)


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
