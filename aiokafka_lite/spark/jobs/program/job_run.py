"""Runs a job as a program: from its configuration to the summary on stdout and the exit code.

Exit codes: 0 done, or stopped on request; 1 failed; 2 wrong usage.
"""

import contextlib
import io
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job import (
    FAILED,
    Job,
    JobFailedError,
    JobResult,
    StopSignal,
    reason,
)
from aiokafka_lite.spark.jobs.job_config import JobConfig, read_file
from aiokafka_lite.spark.jobs.job_registry import find_job
from aiokafka_lite.spark.jobs.program.job_metrics import metrics_served
from aiokafka_lite.spark.jobs.program.job_progress import complain, progress_for
from aiokafka_lite.spark.jobs.program.job_session import session
from aiokafka_lite.spark.jobs.program.job_signals import (
    SignalAnswer,
    jvm_signals_stop,
    signals_stop,
)

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_MISUSE: Final = 2


def run_program(
    name: str, config: Path | None, settings: Iterable[str] = (), *, dry_run: bool = False
) -> int:
    """Run a job to its end; return the exit code.

    Progress and errors go to stderr. stdout gets one line of JSON: the `JobResult`, also of a
    failed job. With `dry_run` it gets the plan, and the offsets as the last line.
    """
    try:
        job = find_job(name)
        made = job.config.from_table(read_file(config, settings))
    except KafkaConfigurationError as error:
        complain(str(error.args[0]))
        return EXIT_MISUSE
    try:
        with session(job.name, made.spark, by_value=made.by_value) as spark:
            if dry_run:
                return _show_plan(job, spark, made)
            return _run(job, spark, made)
    except JobFailedError as error:
        return _end(error.result)
    except Exception as error:  # noqa: BLE001 - any error is reported, and ends it
        return _end(JobResult(job=name, status=FAILED, problems=(reason(error),)))


def _run(job: Job, spark: Any, config: JobConfig) -> int:
    stop = StopSignal()
    progress = progress_for(sys.stderr, job.name)
    try:
        answer = SignalAnswer(stop, progress)
        with (
            signals_stop(answer),
            jvm_signals_stop(spark, answer),
            metrics_served(spark, config, progress),
        ):
            result = job.run(spark, config, stop=stop, progress=progress)
    finally:
        progress.close()
    return _end(result)


def _end(result: JobResult) -> int:
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


__all__ = [
    "EXIT_DONE",
    "EXIT_FAILED",
    "EXIT_MISUSE",
    "run_program",
]
