"""A job's stream is watched batch by batch, and ends between two of them when somebody asks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.job import BatchReport, JobFailedError, NoProgress, StopSignal
from aiokafka_lite.spark.jobs.stream.stream_run import (
    lag_behind,
    query_name,
    run_stream,
    stream_offsets,
)
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.free_ports import held_ports
from tests.spark.support.topics import T0, fill


class Report(dict[str, Any]):
    """A report of a batch, as PySpark has them: the sources' offsets are only right in the JSON."""

    @property
    def json(self) -> str:
        return json.dumps(self)


def report(batch: int, rows: int, end: int, *, has_batch: bool = True) -> Report:
    sources = [
        {
            "endOffset": {"t": {"0": end}},
            "latestOffset": {"t": {"0": end + 5}},
            "numInputRows": rows,  # over Spark Connect, the only place that has it
        },
        {"endOffset": 17, "latestOffset": None},  # not Kafka's
    ]
    return Report(
        timestamp=f"2026-01-01T00:00:{end:02}.000Z",
        batchId=batch,
        processedRowsPerSecond=2.0,
        durationMs={"addBatch": 1} if has_batch else {"triggerExecution": 1},
        sources=sources,
    )


class Query:
    """A stream that does one of some things each time it is waited for."""

    def __init__(self, *steps: Callable[["Query"], bool]) -> None:
        self.steps = list(steps)
        self.recentProgress: list[Report] = []
        self.status = {"isTriggerActive": True}
        self.isActive = True
        self.is_stopped = False

    @property
    def lastProgress(self) -> Report | None:
        return self.recentProgress[-1] if self.recentProgress else None

    def awaitTermination(self, timeout_s: float) -> bool:
        assert timeout_s < 1
        if self.steps.pop(0)(self):
            self.isActive = False
            return True
        return False

    def stop(self) -> None:
        self.is_stopped = True
        self.isActive = False


class Writer:
    """A DataStreamWriter that starts that stream."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.options: dict[str, Any] = {}

    def queryName(self, name: str) -> "Writer":
        self.options["name"] = name
        return self

    def option(self, name: str, value: str) -> "Writer":
        self.options[name] = value
        return self

    def trigger(self, **given: Any) -> "Writer":
        self.options.update(given)
        return self

    def start(self) -> Query:
        return self.query


class Noted(NoProgress):
    def __init__(self) -> None:
        self.batches: list[BatchReport] = []

    def batch(self, report: BatchReport) -> None:
        self.batches.append(report)


def adds(*reports: Report) -> Callable[[Query], bool]:
    def step(query: Query) -> bool:
        query.recentProgress += reports
        return False

    return step


def ends(query: Query) -> bool:
    return True


@pytest.fixture
def config(kafka_broker: EmbeddedBroker) -> StreamConfig:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 30)
    return StreamConfig(
        bootstrap_servers=kafka_broker.bootstrap_servers, topics=("t",), checkpoint="/c"
    )


def test_batches_are_counted_once_and_the_lag_is_asked_for_at_the_end(
    config: StreamConfig,
) -> None:
    query, noted = Query(), Noted()
    first, second, third = report(0, 10, 10), report(1, 5, 15), report(2, 3, 18)
    idle = report(3, 0, 19, has_batch=False)
    query.steps = [adds(first), adds(), adds(second, third, idle), ends]
    writer = Writer(query)
    result = run_stream(writer, config, job="archive", stop=StopSignal(), progress=noted)
    assert writer.options == {
        "name": query_name("archive", "/c"),
        "checkpointLocation": "/c",
        "availableNow": True,
    }
    assert [(each.batch, each.rows, each.total_rows, each.lag) for each in noted.batches] == [
        *((0, 10, 10, 5), (1, 5, 15, 5), (2, 3, 18, 5)),
    ]
    assert (result.status, result.rows, result.batches) == ("done", 18, 3)
    assert result.offsets == {"t": {"0": 19}}
    assert result.lag == 11


def test_two_jobs_of_a_kind_have_queries_of_two_names() -> None:
    """A session refuses a name that it has already; a checkpoint that it has, as well."""
    names = {query_name("archive", each) for each in ("/one", "/two", "/two/")}
    assert len(names) == 2
    assert all(name.startswith("kafka-lite archive ") for name in names)


def test_asked_to_stop_the_batch_that_runs_is_ended(config: StreamConfig) -> None:
    stop = StopSignal()

    def asks(query: Query) -> bool:
        stop.set()
        return False

    query = Query(adds(report(0, 10, 10)), asks, adds(), adds(), adds(report(1, 5, 15)))
    noted = Noted()
    result = run_stream(Writer(query), config, job="archive", stop=stop, progress=noted)
    assert query.is_stopped
    assert not query.steps
    assert (result.status, result.rows, result.batches) == ("stopped", 15, 2)


def test_asked_to_stop_between_batches_it_stops_at_once(config: StreamConfig) -> None:
    stop = StopSignal()
    stop.set()
    query = Query()
    query.status["isTriggerActive"] = False
    result = run_stream(Writer(query), config, job="archive", stop=stop, progress=NoProgress())
    assert query.is_stopped
    assert (result.status, result.rows, result.lag) == ("stopped", 0, None)


def test_a_stream_that_fails_says_why_and_how_far_it_came(config: StreamConfig) -> None:
    def fails(query: Query) -> bool:
        raise ConnectionRefusedError("nobody answers")

    query = Query(adds(report(0, 10, 10)), fails)
    with pytest.raises(JobFailedError, match="the JVM of Spark has ended") as caught:
        run_stream(Writer(query), config, job="a", stop=StopSignal(), progress=NoProgress())
    result = caught.value.result
    assert (result.status, result.rows, result.offsets) == ("failed", 10, {"t": {"0": 10}})


def test_a_lag_nobody_knows_is_none() -> None:
    with held_ports(1) as (port,):
        config = StreamConfig(
            bootstrap_servers=f"127.0.0.1:{port}",
            topics=("t",),
            checkpoint="/c",
            source={"fetchOffset.numRetries": "1", "kafka.request.timeout.ms": "500"},
        )
        assert lag_behind(config, Offsets({T0: 1})) is None


def test_a_run_would_begin_where_the_config_or_the_checkpoint_says(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("t", partitions=2)
    fill(kafka_broker, T0, 30)
    fill(kafka_broker, TopicPartition("t", 1), 4)
    config = StreamConfig(
        bootstrap_servers=kafka_broker.bootstrap_servers, topics=("t",), checkpoint=str(tmp_path)
    )
    both = {"t": {"0": 30, "1": 4}}
    assert stream_offsets(spark, config) == {
        "begins": "starting_offsets",
        "start": {"t": {"0": 0, "1": 0}},
        "end": both,
        "lag": 34,
    }
    for folder, text in (("offsets", 'v1\n{}\n{"t":{"0":20}}'), ("commits", "v1\n{}")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "3").write_text(text)
    assert stream_offsets(spark, config) == {
        "begins": "checkpoint",
        "start": {"t": {"0": 20, "1": 0}},
        "end": both,
        "lag": 14,
    }
