"""What listeners do with the reports of a query: they commit, and tell the lag, and never raise."""

import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.errors import GroupAuthorizationFailedError, KafkaConfigurationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.batch_report import SIZES
from aiokafka_lite.spark.listener import (
    GroupOffsetCommitter,
    LagReport,
    LagReporter,
    observe_sizes,
)
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.read.planner import Planner
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.releases import needs
from tests.spark.support.spark_io import run_to_end, source
from tests.spark.support.topics import T0, T1, fill
from tests.support.patience import PATIENCE_S, eventually

SERVERS = {"kafka.bootstrap.servers": "h:1"}


def event(end: Any, *, latest: Any = None, name: str | None = "q", more: Any = None) -> Any:
    sources = [
        {"endOffset": end, "latestOffset": latest},
        {"endOffset": {"logOffset": 3}, "latestOffset": 7},  # of files, and of a rate
    ]
    report = {"id": "an-id", "name": name, "batchId": 4, "sources": sources}
    return SimpleNamespace(progress=SimpleNamespace(json=json.dumps(report)))


class Commits:
    """Stands in for the planner's commits; `gate` holds them up, errors are raised in turn."""

    def __init__(self) -> None:
        self.made: list[tuple[str, Offsets]] = []
        self.errors: list[Exception] = []
        self.gate = threading.Event()
        self.gate.set()
        self.waiting = threading.Event()

    def commit(self, group_id: str, offsets: Offsets) -> None:
        self.waiting.set()
        assert self.gate.wait(PATIENCE_S)
        self.made.append((group_id, offsets))
        if self.errors:
            raise self.errors.pop()


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> Iterator[Commits]:
    made = Commits()
    monkeypatch.setattr(Planner, "commit", lambda _, *call: made.commit(*call))
    yield made
    made.gate.set()


def test_the_end_of_a_batch_is_committed_once(commits: Commits) -> None:
    committer = GroupOffsetCommitter(SERVERS, "g")
    for end in ({"t": {"0": 5}}, {"t": {"0": 5}}, None, '{"t": {"0": 5}}'):
        committer.onQueryProgress(event(end))
    assert committer.close(PATIENCE_S)
    assert commits.made == [("g", {T0: 5})]
    assert committer.committed == {T0: 5}


def test_while_a_commit_is_on_its_way_the_newest_waits(commits: Commits) -> None:
    commits.gate.clear()
    committer = GroupOffsetCommitter(SERVERS, "g")
    committer.onQueryProgress(event({"t": {"0": 1}}))
    assert commits.waiting.wait(PATIENCE_S)
    for end in range(2, 50):
        committer.onQueryProgress(event({"t": {"0": end}}))
    committer.onQueryProgress(event({"t": {"1": 7}}))
    assert not committer.close(0.001)
    commits.gate.set()
    assert committer.close(PATIENCE_S)
    assert commits.made == [("g", {T0: 1}), ("g", {T0: 49, T1: 7})]
    committer.onQueryProgress(event({"t": {"0": 60}}))  # nobody listens any more
    assert len(commits.made) == 2


def test_closing_waits_for_the_end_of_the_queries_it_has_heard_of(commits: Commits) -> None:
    committer = GroupOffsetCommitter(SERVERS, "g", query="q")
    for name, run in (("q", "1"), ("other", "2")):
        committer.onQueryStarted(SimpleNamespace(name=name, id="an-id-of-it", runId=run))
    late = GroupOffsetCommitter(SERVERS, "h")
    late.onQueryStarted(SimpleNamespace(name="q", id="an-id", runId="1"))
    assert not late.close(0.001)
    ending = threading.Thread(target=end_late, args=(committer,))
    ending.start()
    assert committer.close(PATIENCE_S)
    ending.join()
    assert commits.made == [("g", {T0: 5})]


def end_late(committer: GroupOffsetCommitter) -> None:
    """As Spark does: what a query has done is told before its end, and both some time after."""
    committer.onQueryProgress(event({"t": {"0": 5}}))
    committer.onQueryTerminated(SimpleNamespace(runId="1"))


def test_a_commit_that_fails_is_a_warning(
    commits: Commits, caplog: pytest.LogCaptureFixture
) -> None:
    commits.errors = [OSError("broken"), GroupAuthorizationFailedError("g")]
    committer = GroupOffsetCommitter(SERVERS, "g")
    for end in (1, 2):
        commits.waiting.clear()
        committer.onQueryProgress(event({"t": {"0": end}}))
        assert commits.waiting.wait(PATIENCE_S)
    committer.close(PATIENCE_S)
    said = [record.getMessage() for record in caplog.records]
    assert ['committing {"t":{"0":1}} for group g:' in said[0], len(said)] == [True, 2]
    assert committer.committed == {}


def test_other_queries_and_other_reports_are_passed_over(
    commits: Commits, caplog: pytest.LogCaptureFixture
) -> None:
    listeners = [GroupOffsetCommitter(SERVERS, each, query=each) for each in ("q", "an-id", "x")]
    for committer in listeners:
        committer.onQueryProgress(event({"t": {"0": 1}}))
        committer.onQueryProgress(SimpleNamespace(progress=SimpleNamespace(json="no JSON")))
        assert committer.close(PATIENCE_S)
    assert sorted(group for group, _ in commits.made) == ["an-id", "q"]
    assert "a progress report was not understood" in caplog.text


def test_options_are_those_of_the_source() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"kafka\.bootstrap\.servers must be"):
        GroupOffsetCommitter({}, "g")


def test_the_lag_is_told_by_partition(caplog: pytest.LogCaptureFixture) -> None:
    told: list[LagReport] = []
    reports = [
        event({"t": {"0": 5, "1": 9}}, latest={"t": {"0": 7, "1": 8}, "new": {"0": 4}}),
        event({"t": {"0": 7}}, latest={"t": {"0": 7}}, name=None),
        event({"t": {"0": 7}}),  # before PySpark 4.2
    ]
    with caplog.at_level(logging.INFO):
        for reporter in (LagReporter(told.append), LagReporter()):
            for report in reports:
                reporter.onQueryProgress(report)
    lag = {T0: 2, T1: -1, TopicPartition("new", 0): 4}
    assert told[0] == LagReport(query="q", batch=4, lag=lag)
    assert [each.total for each in told] == [6, 0]
    assert [record.getMessage() for record in caplog.records] == [
        "q is 6 offsets behind: new-0 4, t-0 2, t-1 -1",
        "an-id is 0 offsets behind",
    ]


def test_a_report_has_the_rows_the_bytes_and_the_times_of_the_batch() -> None:
    told: list[LagReport] = []
    batch = event({"t": {"0": 5}}, latest={"t": {"0": 7}})
    report = json.loads(batch.progress.json)
    report["sources"][0]["numInputRows"] = 5
    report |= {"durationMs": {"addBatch": 250}, "observedMetrics": {SIZES: {"bytes": 40}}}
    for each in (batch, SimpleNamespace(progress=SimpleNamespace(json=json.dumps(report)))):
        LagReporter(told.append).onQueryProgress(each)
    idle, full = told
    assert (idle.rows, idle.bytes, idle.seconds, idle.is_batch) == (0, None, {}, False)
    assert (full.rows, full.bytes, full.seconds, full.is_batch) == (5, 40, {"addBatch": 0.25}, True)


def test_a_callback_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def fail(report: LagReport) -> None:
        raise ValueError("mine")

    LagReporter(fail).onQueryProgress(event({"t": {"0": 1}}, latest={"t": {"0": 2}}))
    assert "ValueError: mine" in caplog.text


@needs("HAS_READ_LIMITS")
def test_the_last_batch_is_committed_too(
    spark: Any, here: Worker, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("t", partitions=2)
    fill(kafka_broker, T0, 5)
    servers = kafka_broker.bootstrap_servers
    told: list[LagReport] = []
    committer = GroupOffsetCommitter({"kafka.bootstrap.servers": servers}, "seen")
    listeners = [committer, LagReporter(told.append)]
    for listener in listeners:
        spark.streams.addListener(listener)
    try:
        options = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "3"}
        run_to_end(observe_sizes(source(spark, servers, streaming=True, **options)), tmp_path)
        assert committer.close(PATIENCE_S)
        assert committer.committed == {T0: 5, T1: 0}
        here.run(lambda: eventually(lambda: len(told) > 1))
    finally:
        for listener in listeners:
            spark.streams.removeListener(listener)
    assert [each.total for each in told][:2] == [2, 0]
    assert [(each.rows, each.bytes) for each in told][:2] == [(3, 9), (2, 6)]
    assert told[0].seconds["addBatch"] > 0
    with pytest.raises(ValueError, match=r"neither key nor value is among the columns \['id'\]"):
        observe_sizes(spark.range(1))

    async def committed() -> int | None:
        async with AIOKafkaConsumer(
            bootstrap_servers=servers, group_id="seen", enable_auto_commit=False
        ) as consumer:
            return await consumer.committed(T0)

    assert here.run(committed) == 5
