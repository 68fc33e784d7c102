"""Jobs on a standalone cluster by the command line of spark-submit, and how the package gets there:
in a file beside the program, in an archive with an environment, or in what Spark pickles."""

import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.spark.support.environment_archive import pack_environment
from tests.spark.support.job_process import JobProcess, as_settings
from tests.spark.support.other_workers import zip_package
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
    zip_package(package)
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


class SubmittedJob(JobProcess):
    """A driver on a machine of its own: spark-submit, its JVM, and the job in Python."""

    def __init__(
        self,
        job: str,
        master: str,
        way: str,
        folder: Path,
        keys: Mapping[str, object],
        settings: Mapping[str, str],
    ) -> None:
        environment = machine(folder)
        found = WAYS[way](folder)
        program = folder / "run_job.py"
        program.write_text(found.program)
        environment["PYSPARK_PYTHON"] = found.tasks
        environment["PYSPARK_DRIVER_PYTHON"] = found.driver
        conf = [f"--conf={name}={value}" for name, value in {**SETTINGS, **settings}.items()]
        submit = [str(SPARK_HOME / "bin" / "spark-submit"), "--master", master]
        command = [*submit, *conf, *found.arguments, str(program), job, *as_settings(keys)]
        for each in found.keys:
            command += ["--set", each]
        super().__init__(keys, command, environment, folder)


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
