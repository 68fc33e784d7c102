"""Whose session a job runs in, and what it may set there."""

import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from pyspark.sql import SparkSession

from aiokafka_lite.spark.jobs.program import job_session
from aiokafka_lite.spark.jobs.program.job_session import session


class Builder:
    """Notes what a session is made of."""

    def __init__(self) -> None:
        self.settings: dict[str, str] = {}
        self.stopped = 0
        self.is_gone = False

    def config(self, name: str, value: str) -> "Builder":
        self.settings[name] = value
        return self

    def getOrCreate(self) -> "Builder":
        return self

    def stop(self) -> None:
        self.stopped += 1
        if self.is_gone:
            raise ConnectionRefusedError


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> Builder:
    made = Builder()
    monkeypatch.setattr(SparkSession, "builder", made)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.setattr(
        job_session,
        "register",
        lambda spark, *, by_value: made.settings.update(by_value="yes") if by_value else None,
    )
    for name in ("PYSPARK_PYTHON", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.setenv(name, "")  # so that it is put back, whatever is set in between
        monkeypatch.delenv(name)
    return made


def test_alone_it_has_a_master_and_this_interpreter(builder: Builder) -> None:
    with session("archive", {"sql.shuffle.partitions": "2"}) as spark:
        assert spark is builder
    assert builder.stopped == 1
    assert builder.settings["spark.master"] == "local[*]"
    assert builder.settings["spark.sql.shuffle.partitions"] == "2"
    assert builder.settings["spark.log.level"] == "ERROR"
    assert sys.executable in Path(os.environ["PYSPARK_PYTHON"]).read_text()
    first = os.environ.pop("PYSPARK_PYTHON")
    with session("archive", {}):  # the JVM of the first session still starts that
        assert os.environ["PYSPARK_PYTHON"] == first


@pytest.mark.parametrize(
    ("settings", "python"),
    [({"master": "yarn"}, sys.executable), ({"pyspark.python": "/other/python"}, "/other/python")],
)
def test_processes_on_other_machines_start_an_interpreter_that_is_there(
    builder: Builder, settings: dict[str, str], python: str
) -> None:
    with session("archive", settings):
        assert os.environ["PYSPARK_PYTHON"] == python


def test_the_config_and_the_environment_win(
    builder: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/other/python")
    with session("archive", {"master": "local[3]", "spark.log.level": "INFO"}):
        pass
    assert builder.settings["spark.master"] == "local[3]"
    assert builder.settings["spark.log.level"] == "INFO"
    assert os.environ["PYSPARK_PYTHON"] == "/other/python"


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_session_is_stopped_when_its_job_fails_and_the_failure_is_what_is_told(
    builder: Builder, is_gone: bool
) -> None:
    builder.is_gone = is_gone
    with pytest.raises(RuntimeError), session("archive", {}):
        raise RuntimeError
    assert builder.stopped == 1


@pytest.mark.parametrize("whose", ["spark-submit's", "the caller's"])
def test_the_master_of_others_is_theirs(
    builder: Builder, monkeypatch: pytest.MonkeyPatch, whose: str, caplog: Any
) -> None:
    if whose == "spark-submit's":
        monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1234")
    else:
        monkeypatch.setattr(SparkSession, "getActiveSession", lambda: builder)
    with (
        caplog.at_level(logging.WARNING),
        session("archive", {"master": "local[3]", "sql.ansi.enabled": "false"}),
    ):
        pass
    assert builder.settings == {"spark.sql.ansi.enabled": "false"}
    assert builder.stopped == 0
    assert "PYSPARK_PYTHON" not in os.environ
    assert "a master is there already" in caplog.text


def test_a_server_of_spark_connect_has_its_own_master(builder: Builder) -> None:
    with session("archive", {"remote": "sc://h:15002"}):
        pass
    assert builder.settings == {"spark.remote": "sc://h:15002"}
    assert builder.stopped == 1


def test_the_package_is_brought_along_on_request(builder: Builder) -> None:
    with session("archive", {}, by_value=True):
        pass
    assert builder.settings["by_value"] == "yes"
