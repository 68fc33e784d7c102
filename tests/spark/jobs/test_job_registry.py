"""Every job that is listed is there, under its name, and can be run by people and programs."""

import inspect
import re
from pathlib import Path

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.jobs.job_registry import JOBS, find_job
from tests.spark.jobs.manual import manual_file
from tests.support.documents import SPARK


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


SECTIONS = dict(
    re.findall(r"^### (\w+)\n(.*?)(?=^##)", SPARK.read_text(), re.DOTALL | re.MULTILINE)
)
EXAMPLES = [
    (text, name)
    for name in JOBS
    for text in re.findall(r"```toml\n(.*?)```", SECTIONS.get(name, ""), re.DOTALL)
]


@pytest.mark.parametrize(("text", "name"), EXAMPLES, ids=[name for _, name in EXAMPLES])
def test_an_example_of_the_manual_is_a_config_of_its_job(
    text: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in re.findall(r'_file = "(.+)"', text):
        (tmp_path / file).write_text(manual_file(file))
    find_job(name).config.from_toml(text)


def test_every_job_is_in_the_manual_with_an_example() -> None:
    assert {name for _, name in EXAMPLES} == JOBS.keys()
    for name in JOBS:
        assert f"[`{name}`](#{name})" in SPARK.read_text()


def test_a_job_that_is_not_there_is_refused_with_the_nearest() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"unknown job 'archiv'; did you mean"):
        find_job("archiv")
    with pytest.raises(KafkaConfigurationError, match="unknown job 'x'; the jobs are archive"):
        find_job("x")
