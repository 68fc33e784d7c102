"""Owns a job as a program: from its configuration to the summary on stdout and the exit code.

Exit codes: 0 done, or stopped as asked; 1 failed; 2 wrong usage.
"""

import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job import FAILED, Job, JobResult, Progress, StopSignal
from aiokafka_lite.spark.jobs.job_config import JobConfig, read_file
from aiokafka_lite.spark.jobs.job_progress import complain, progress_for
from aiokafka_lite.spark.jobs.job_registry import find_job
from aiokafka_lite.spark.jobs.job_session import session

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_MISUSE: Final = 2
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_MOST_LINES: Final = 12


def run_program(
    name: str, config: Path | None, settings: Iterable[str] = (), *, dry_run: bool = False
) -> int:
    """Run a job to its end; return the exit code.

    Progress and errors go to stderr. On stdout there is one line of JSON: the `JobResult`, also of
    a job that failed; with `dry_run` the plan, and as the last line the offsets.
    """
    try:
        job = find_job(name)
        made = job.config.from_table(read_file(config, settings))
    except KafkaConfigurationError as error:
        complain(str(error.args[0]))
        return EXIT_MISUSE
    try:
        with session(job.name, made.spark) as spark:
            if dry_run:
                return _show_plan(job, spark, made)
            return _run(job, spark, made)
    except Exception as error:  # noqa: BLE001 - of Spark, the brokers, the JVM: it is told and ends
        complain(reason(error))
        sys.stdout.write(JobResult(job=name, status=FAILED, problems=(reason(error),)).to_json())
        sys.stdout.write("\n")
        return EXIT_FAILED


def _run(job: Job, spark: Any, config: JobConfig) -> int:
    stop = StopSignal()
    progress = progress_for(sys.stderr, job.name)
    try:
        with signals_stop(stop, progress):
            result = job.run(spark, config, stop=stop, progress=progress)
    finally:
        progress.close()
    sys.stdout.write(f"{result.to_json()}\n")
    for problem in result.problems:
        complain(problem)
    return EXIT_FAILED if result.problems or result.status == FAILED else EXIT_DONE


def _show_plan(job: Job, spark: Any, config: JobConfig) -> int:
    offsets = {} if job.offsets is None else job.offsets(spark, config)
    explained = io.StringIO()
    with contextlib.redirect_stdout(explained):
        job.plan(spark, config).explain()
    sys.stdout.write(
        f"{explained.getvalue().strip()}\n{json.dumps({'job': job.name, **offsets})}\n"
    )
    return EXIT_DONE


@contextmanager
def signals_stop(stop: StopSignal, progress: Progress) -> Iterator[None]:
    """Let SIGTERM and SIGINT end the job after its batch, and the second of them the process."""

    def handle(number: int, _frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        if stop.is_set():
            # Nothing may be waited for any more; the JVM ends with its parent.
            os.write(2, f"{name} again: ending at once\n".encode())
            os._exit(EXIT_FAILED)
        stop.set()
        progress.note(f"{name}: ending after this batch; once more, and it ends at once")

    before = {each: signal.signal(each, handle) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def reason(error: BaseException) -> str:
    """Return why something failed, in a few lines and without Java's stack."""
    if _is_jvm_gone(error):
        return (
            "the JVM of Spark has ended in the midst of it: it was killed, or had no memory left"
            f" (spark.driver.memory); {type(error).__name__}: {error}"
        )
    text = str(error) or type(error).__name__
    lines = [line for line in text.splitlines() if line.strip()]
    kept = [line for line in lines if not line.lstrip().startswith(("at ", "JVM stacktrace"))]
    return "\n".join(kept[:_MOST_LINES])


def _is_jvm_gone(error: BaseException) -> bool:
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"Py4JNetworkError", "ConnectionRefusedError", "ConnectionResetError"})


__all__ = [
    "EXIT_DONE",
    "EXIT_FAILED",
    "EXIT_MISUSE",
    "reason",
    "run_program",
    "signals_stop",
]
