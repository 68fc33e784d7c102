"""Every job that is listed is there, under its name, and can be run by people and programs."""

import inspect

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.jobs.job_registry import JOBS, find_job


@pytest.mark.parametrize("name", JOBS)
def test_a_listed_job_is_there_and_keeps_the_contract(name: str) -> None:
    job = find_job(name)
    assert job.name == name
    assert issubclass(job.config, JobConfig)
    assert job.config.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert len(inspect.signature(job.plan).parameters) == 2
    run = inspect.signature(job.run).parameters
    assert [each for each in run.values() if each.kind is each.KEYWORD_ONLY] == [
        run["stop"],
        run["progress"],
    ]


def test_a_job_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"no job 'archiv'; did you mean archive\?"):
        find_job("archiv")
    with pytest.raises(KafkaConfigurationError, match="no job 'x'; there are archive"):
        find_job("x")
