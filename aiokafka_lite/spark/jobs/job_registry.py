"""Lists the jobs: a line for each, and here a module of that name with its `JOB`.

A job's module is imported at its first use.
"""

import importlib
from difflib import get_close_matches
from typing import Final

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job import Job

JOBS: Final = {
    "archive": "topics into Parquet, partitioned by topic and date, exactly once",
    "decode": "JSON or Avro into typed columns, in Parquet or a topic; dead letters to a topic",
    "replay": "an archive back into a topic, in order",
    "mirror": "topics into others, with an SQL projection if wanted",
    "audit": "counts, holes, duplicates and lag of topics, and an archive against them",
    "aggregate": "an SQL statement over topics, with windows, into a topic or Parquet",
    "dedupe": "the records of topics, each key once, into a topic or Parquet",
}
"""Descriptions of the jobs by name."""


def find_job(name: str) -> Job:
    """Return the job of a name. Raises: KafkaConfigurationError, listing the names."""
    if name not in JOBS:
        close = get_close_matches(name, JOBS, n=1)
        meant = f" did you mean {close[0]}?" if close else ""
        raise KafkaConfigurationError(
            f"unknown job {name!r};{meant} the jobs are {', '.join(JOBS)}"
        )
    job: Job = importlib.import_module(f"aiokafka_lite.spark.jobs.{name}").JOB
    return job


__all__ = ["JOBS", "find_job"]
