"""Jobs on a standalone cluster by the command line of spark-submit, and how the package gets there:
in a file beside the program, in an archive with an environment, or in what Spark pickles."""

import json
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from aiokafka_lite.spark.process.cargo import sources
from tests.spark.support.environment_archive import pack_environment
from tests.spark.support.own_session import OwnSession
from tests.spark.support.standalone import PYTHON, QUICK_JVM, SPARK_HOME, machine
from tests.support.documents import ROOT

_RUN = "from aiokafka_lite.spark.__main__ import main\n\nmain()\n"
_INSTALLED = f"import sys\n\nsys.path.insert(0, {str(ROOT)!r})\n"
"""As if the package were installed where the driver runs, and in no other process."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK_JVM,
    "spark.executor.extraJavaOptions": QUICK_JVM,
    "spark.executor.memory": "512m",
    "spark.executor.cores": "2",
    "spark.cores.max": "4",
    "spark.sql.shuffle.partitions": "2",
}


class Way(NamedTuple):
    """How the package gets to the processes of a job."""

    arguments: list[str]
    """Those of spark-submit."""
    driver: str
    """The interpreter of the driver."""
    tasks: str
    """The interpreter of executors and planners."""
    program: str
    keys: list[str]
    """Those of the job."""


def by_py_files(folder: Path) -> Way:
    """The driver and all others have the package by `--py-files` alone."""
    package = folder / "aiokafka_lite.zip"
    package.write_bytes(sources())
    return Way(["--py-files", str(package)], PYTHON, PYTHON, _RUN, [])


def by_archive(folder: Path) -> Way:
    """Executors unpack an environment, and the driver has it unpacked in its folder."""
    archive = folder.parent / "environment.tar.gz"
    if not archive.exists():
        pack_environment(archive)
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "environment", filter="fully_trusted")
    python = "./environment/bin/python"
    given = ["--archives", f"{archive}#environment"]
    return Way(given, sys.executable, python, _INSTALLED + _RUN, [])


def by_value(_folder: Path) -> Way:
    """Only the driver has the package."""
    return Way([], sys.executable, PYTHON, _INSTALLED + _RUN, ["by_value=true"])


WAYS: Mapping[str, Callable[[Path], Way]] = {
    "--py-files": by_py_files,
    "environment archive": by_archive,
    "by value": by_value,
}


class SubmittedJob(OwnSession):
    """A driver on a machine of its own: spark-submit, its JVM, and the job in Python."""

    patience_s = 600.0

    def __init__(
        self,
        job: str,
        master: str,
        way: str,
        folder: Path,
        keys: Mapping[str, object],
        settings: Mapping[str, str],
    ) -> None:
        self._checkpoint = Path(str(keys["checkpoint"]))
        environment = machine(folder)
        found = WAYS[way](folder)
        program = folder / "run_job.py"
        program.write_text(found.program)
        environment["PYSPARK_PYTHON"] = found.tasks
        environment["PYSPARK_DRIVER_PYTHON"] = found.driver
        conf = [f"--conf={name}={value}" for name, value in {**SETTINGS, **settings}.items()]
        given = [*found.keys, *(f"{name}={json.dumps(value)}" for name, value in keys.items())]
        submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", master]
        command = [*submit, *conf, *found.arguments, str(program), job]
        for each in given:
            command += ["--set", each]
        super().__init__(command, folder / "log", environment, folder)

    def commits(self) -> int:
        """How many batches Spark has noted as done."""
        return _newest(self._checkpoint / "commits")

    def is_in_batch(self) -> bool:
        """Whether a batch has begun, and has not ended."""
        return _newest(self._checkpoint / "offsets") > self.commits()

    def done_offsets(self) -> int:
        """Return how many offsets of all partitions are done, in topics that began at 0."""
        done = self.commits()
        if not done:
            return 0
        text = (self._checkpoint / "offsets" / str(done - 1)).read_text()
        ends = json.loads(text.splitlines()[-1])
        return sum(end for partitions in ends.values() for end in partitions.values())

    def goes_on(self, batches: int = 2) -> None:
        """Wait for some more batches."""
        done = self.commits()
        self.wait_until(lambda: self.commits() >= done + batches)

    def summary(self) -> dict[str, Any]:
        """Wait for its end, and return the summary. Fails when it fails."""
        self.ends_well()
        lines = [line for line in self.log().splitlines() if line.startswith("{")]
        found: dict[str, Any] = json.loads(lines[-1])
        return found


def _newest(folder: Path) -> int:
    """Return the number of batches; Spark removes the files of early ones."""
    return max((int(each.name) + 1 for each in folder.glob("[0-9]*")), default=0)


@contextmanager
def submitted(
    job: str,
    master: str,
    way: str,
    folder: Path,
    keys: Mapping[str, object],
    settings: Mapping[str, str],
) -> Iterator[SubmittedJob]:
    """A job that does not outlive the block."""
    made = SubmittedJob(job, master, way, folder, keys, settings)
    try:
        yield made
    finally:
        made.kill()
