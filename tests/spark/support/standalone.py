"""A standalone cluster of Spark on this machine: a master, and workers that share nothing.

Each worker has a folder, a Python environment without this package, and a loopback address of its
own: Spark takes each address for a machine, and starts no second attempt of a task on the same one.
"""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import NO_SPARK
from tests.spark.support.other_workers import without_the_package
from tests.spark.support.own_session import OwnSession, descendants

_pyspark = pytest.importorskip("pyspark", reason=NO_SPARK)
SPARK_HOME = Path(_pyspark.__file__).parent
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
PYTHON = "python"
"""The interpreter of tasks: each machine finds another one by its path."""
_EXECUTOR = "CoarseGrainedExecutorBackend"


def machine(folder: Path) -> dict[str, str]:
    """Return the environment of programs on a machine: its path begins with a Python of its own,
    that lacks the package."""
    folder.mkdir()
    without_the_package(folder)
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": f"{QUICK_JVM} -Dspark.master.rest.enabled=false",
    }


class Daemon(OwnSession):
    """A master or a worker, with its executors."""

    def __init__(self, kind: str, folder: Path, address: str, *arguments: str) -> None:
        environment = {**machine(folder), "SPARK_LOCAL_IP": address}
        places = ["--host", address, "--port", "0", "--webui-port", "0", *arguments]
        program = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}"]
        super().__init__([*program, *places], folder / "log", environment, folder)

    def found(self, pattern: str) -> str:
        """Wait for something in its log, and return it."""
        self.wait_until(lambda: re.search(pattern, self.log()) is not None)
        match = re.search(pattern, self.log())
        assert match is not None
        return match[0]

    def executors(self) -> list[int]:
        """Return the processes of its executors."""
        return self.members(_EXECUTOR)

    def pythons(self) -> list[int]:
        """Return the Python processes of its executors."""
        return [pid for each in self.executors() for pid in descendants(each)]

    @contextmanager
    def tasks_held_up(self) -> Iterator[None]:
        """Hold up those Python processes. They go on with the end of the block."""
        held = self.pythons()
        for pid in held:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in held:
                if pid in self.members():
                    os.kill(pid, signal.SIGCONT)


class StandaloneCluster:
    """The master and its workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._master = Daemon("master.Master", folder / "master", "127.0.0.1")
        self.workers: list[Daemon] = []
        self._addresses = iter(f"127.0.0.{number}" for number in range(2, 255))
        self.url = ""

    def start(self, workers: int) -> None:
        """Return when all are there."""
        self.url = self._master.found(r"spark://127.0.0.1:\d+")
        self.workers = [self._started() for _ in range(workers)]
        self._await_workers()

    def replace(self, worker: Daemon) -> None:
        """Start another worker in the place of one that is no more."""
        self.workers[self.workers.index(worker)] = self._started()
        self._await_workers()

    def executors(self) -> int:
        """Return how many executors run."""
        return sum(len(each.executors()) for each in self.workers)

    def kill(self) -> None:
        """kill -9 for all of its processes."""
        for each in [*self.workers, self._master]:
            each.kill()

    def _started(self) -> Daemon:
        address = next(self._addresses)
        folder = self._folder / f"worker-{address}"
        room = ["--cores", "4", "--memory", "4g", "--work-dir", str(folder / "work")]
        return Daemon("worker.Worker", folder, address, *room, self.url)

    def _await_workers(self) -> None:
        for each in self.workers:
            each.found("Successfully registered with master")


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[StandaloneCluster]:
    """A cluster that does not outlive the block."""
    made = StandaloneCluster(folder)
    try:
        made.start(workers)
        yield made
    finally:
        made.kill()
