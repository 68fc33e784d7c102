"""What a batch query reads, and in how many tasks."""

from dataclasses import replace
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.spark.options.source_options import OffsetLimit
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.read.batch_plan import plan_batch
from aiokafka_lite.spark.read.data_loss import DataLossError
from aiokafka_lite.spark.read.planner import Planner
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.read.test_pushdown import GreaterThanOrEqual, at
from tests.spark.support.topics import T0, T1, fill, source_options


@pytest.fixture
def broker(kafka_broker: EmbeddedBroker) -> EmbeddedBroker:
    kafka_broker.create_topic("t", partitions=2)
    fill(kafka_broker, T0, 4)
    fill(kafka_broker, T1, 8)
    return kafka_broker


def planned(
    here: Worker, broker: EmbeddedBroker, *filters: Any, **options: str
) -> list[tuple[int, int, int]]:
    parsed = source_options(broker, **options)  # type: ignore[arg-type]
    ranges = plan_batch(parsed, Planner(parsed, lambda: here), filters)
    return [(each.partition, each.start, each.end) for each in ranges]


def test_everything_is_read_by_default_a_task_for_each_partition(
    here: Worker, broker: EmbeddedBroker
) -> None:
    assert planned(here, broker) == [(0, 0, 4), (1, 0, 8)]


class Partial(Planner):
    """Some answers leave out partitions."""

    lacking: tuple[TopicPartition, ...] = (T1,)
    lacks_starts = lacks_ends = 0
    """How many of the next answers do so."""

    def resolve(self, limit: OffsetLimit, *, is_start: bool) -> Offsets:
        found = super().resolve(limit, is_start=is_start)
        if not (self.lacks_starts if is_start else self.lacks_ends):
            return found
        self.lacks_starts -= is_start
        self.lacks_ends -= not is_start
        return Offsets({tp: at for tp, at in found.items() if tp not in self.lacking})


@pytest.mark.parametrize("asked", ["lacks_starts", "lacks_ends"])
@pytest.mark.parametrize("lacking", [(T1,), (T0, T1)], ids=["a partition", "all"])
def test_what_one_answer_leaves_out_is_read_all_the_same(
    here: Worker, broker: EmbeddedBroker, asked: str, lacking: tuple[TopicPartition, ...]
) -> None:
    """It is asked again (2f-15)."""
    options = source_options(broker)
    planner = Partial(options, lambda: here)
    planner.lacking = lacking
    setattr(planner, asked, 1)
    assert [each.size for each in plan_batch(options, planner)] == [4, 8]


def test_a_partition_that_goes_while_a_query_is_planned_is_lost_data(
    here: Worker, broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    options = source_options(broker)
    planner = Partial(options, lambda: here)
    planner.lacks_ends = 9
    with pytest.raises(DataLossError, match="t-1 are gone"):
        plan_batch(options, planner)
    options = replace(options, fail_on_data_loss=False)
    planner.lacks_ends = 9
    assert [each.size for each in plan_batch(options, planner)] == [4]
    assert "t-1 are gone" in caplog.text


def test_large_partitions_are_split(here: Worker, broker: EmbeddedBroker) -> None:
    assert planned(here, broker, maxRecordsPerPartition="4") == [(0, 0, 4), (1, 0, 4), (1, 4, 8)]
    assert len(planned(here, broker, minPartitions="6")) == 6


def test_limits_are_those_of_the_options(here: Worker, broker: EmbeddedBroker) -> None:
    options = {
        "startingOffsets": '{"t":{"0":1,"1":-2}}',
        "endingOffsets": '{"t":{"0":-1,"1":2}}',
    }
    assert planned(here, broker, **options) == [(0, 1, 4), (1, 0, 2)]
    assert planned(here, broker, startingTimestamp="1003", endingTimestamp="1006") == [
        (0, 3, 4),
        (1, 3, 6),
    ]


def test_a_start_behind_the_end_is_nothing_to_read(here: Worker, broker: EmbeddedBroker) -> None:
    options = {"startingTimestamp": "1003", "endingOffsets": '{"t":{"0":-1,"1":2}}'}
    assert planned(here, broker, **options) == [(0, 3, 4)]


def test_an_end_behind_the_log_fails_at_once_or_is_the_logs(
    here: Worker, broker: EmbeddedBroker
) -> None:
    options = {"endingOffsets": '{"t":{"0":-1,"1":99}}'}
    with pytest.raises(DataLossError, match="t-1 ends at 8, before its ending offset 99"):
        planned(here, broker, **options)
    assert planned(here, broker, failOnDataLoss="false", **options) == [(0, 0, 4), (1, 0, 8)]


def test_filters_leave_out_what_they_would_throw_away(here: Worker, broker: EmbeddedBroker) -> None:
    assert planned(here, broker, GreaterThanOrEqual("timestamp", at(1005))) == [(1, 5, 8)]
    assert planned(here, broker, GreaterThanOrEqual("partition", 1)) == [(1, 0, 8)]
    assert planned(here, broker, GreaterThanOrEqual("offset", 9)) == []
