"""A stream's offsets say nothing about a log that has changed behind them (2c-10).

A topic is deleted and created again, or an unclean election cuts its log. Then other records have
the offsets that were read or planned. Source: KIP-320; 2c-10.
"""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from aiokafka_lite.spark.offsets import OffsetRange, Offsets
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.read.arrow import SparkColumns
from aiokafka_lite.spark.read.batch_plan import plan_batch
from aiokafka_lite.spark.read.data_loss import DataLossError
from aiokafka_lite.spark.read.planner import Planner
from aiokafka_lite.spark.read.range_reader import read_ranges
from aiokafka_lite.spark.read.stream_offsets import StreamOffsets
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.topics import T0, source_options, values

VALUES = SparkColumns([("value", "binary")])
OLD, NEW = 10, 13
"""How many records the log has before and after its change."""
Change = Callable[[EmbeddedBroker], object]


def write(broker: EmbeddedBroker, kind: str, offsets: range) -> None:
    for number in offsets:
        broker.produce("t", f"{kind}{number}", partition=0)


def anew(broker: EmbeddedBroker) -> None:
    broker.delete_topic("t")
    broker.create_topic("t")
    write(broker, "new", range(NEW))


def cut_at(offset: int) -> Change:
    """The new leader lacks what is from `offset` on, and others come there."""

    def cut(broker: EmbeddedBroker) -> None:
        broker.cluster.partition(T0).truncate(offset)
        broker.move_leader(T0, 3 - broker.leader(T0))
        write(broker, "new", range(offset, NEW))

    return cut


CHANGES = {
    "created anew": (anew, "topic t was deleted and created again"),
    "cut at 4": (cut_at(4), "t-0's log was cut at 4, before offset"),
    "cut at 7": (cut_at(7), "t-0's log was cut at 7, before offset"),
}
each_change = pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES)
each_limit = pytest.mark.parametrize(
    "limit", [{}, {"maxOffsetsPerTrigger": "6"}], ids=["whole", "in parts"]
)


@pytest.fixture
def broker(make_kafka_broker: Callable[..., EmbeddedBroker]) -> EmbeddedBroker:
    made = make_kafka_broker(nodes=2)
    made.create_topic("t")
    write(made, "old", range(OLD))
    return made


class Stream:
    """What Spark does with a stream: its checkpoint has JSON, and outlives its runs."""

    def __init__(self, here: Worker, broker: EmbeddedBroker, **options: str) -> None:
        given = {"startingOffsets": "earliest", "offsetPollIntervalMs": "0", **options}
        self._options = source_options(broker, streaming=True, **given)
        self._here = here
        self.log: list[str] = []
        """The offsets that were written down; those of the last batch may not be read yet."""
        self.rows: list[bytes] = []
        self.start()

    def start(self) -> None:
        """Begin a run."""
        self._offsets = StreamOffsets(self._options, Planner(self._options, lambda: self._here))
        if not self.log:
            self.log = [self._offsets.initial().to_json()]

    def trigger(self) -> bool:
        """Write down the end of a batch; say whether there is one."""
        end = self._offsets.latest(Offsets.from_json(self.log[-1])).to_json()
        if end != self.log[-1]:
            self.log.append(end)
            return True
        return False

    def plan(self) -> list[OffsetRange]:
        start, end = map(Offsets.from_json, self.log[-2:])
        return self._offsets.plan(start, end)

    def read(self, planned: list[OffsetRange]) -> None:
        ids = self._offsets.topic_ids
        batches = read_ranges(planned, VALUES, self._options, ids, lambda: self._here)
        self.rows += values([*batches])

    def read_all(self) -> None:
        while self.trigger():
            self.read(self.plan())


def new_records(broker: EmbeddedBroker) -> list[bytes]:
    found = [each.value or b"" for each in broker.records("t")]
    return [value for value in found if value.startswith(b"new")]


def in_the_run(stream: Stream, broker: EmbeddedBroker, change: Change) -> None:
    """Between two batches."""
    stream.read_all()
    change(broker)
    stream.read_all()


def by_the_restart(stream: Stream, broker: EmbeddedBroker, change: Change) -> None:
    """While the stream is down, all was read."""
    stream.read_all()
    change(broker)
    stream.start()
    stream.read_all()


def behind_the_checkpoint(stream: Stream, broker: EmbeddedBroker, change: Change) -> None:
    """The stream goes down with a batch that is written down, and not read."""
    while stream.trigger():
        last = stream.log[-1]
        if '"0":10' in last:
            break
        stream.read(stream.plan())
    change(broker)
    stream.start()
    stream.read(stream.plan())
    stream.read_all()


def behind_the_plan(stream: Stream, broker: EmbeddedBroker, change: Change) -> None:
    """Before the tasks of the last batch begin. They are new processes."""
    planned: list[OffsetRange] = []
    while stream.trigger():
        planned = stream.plan()
        if '"0":10' in stream.log[-1]:
            break
        stream.read(planned)
    change(broker)
    stream.read(planned)
    stream.read_all()


def behind_the_plan_of_tasks_that_know_the_log(
    stream: Stream, broker: EmbeddedBroker, change: Change
) -> None:
    """The same, with workers that have read the log before."""
    stream.read([OffsetRange("t", 0, 0, 1)])
    stream.rows.clear()
    behind_the_plan(stream, broker, change)


PLACES = {
    each.__name__.replace("_", " "): each
    for each in (
        in_the_run,
        by_the_restart,
        behind_the_checkpoint,
        behind_the_plan,
        behind_the_plan_of_tasks_that_know_the_log,
    )
}
NEEDS_IDS = (by_the_restart, behind_the_checkpoint)
each_place = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
Place = Callable[[Stream, EmbeddedBroker, Change], None]


def with_ids(place: Place) -> dict[str, Any]:
    return {"topicIds": "true"} if place in NEEDS_IDS else {}


@each_place
@each_change
def test_a_log_that_has_changed_ends_a_stream_by_name(
    here: Worker, broker: EmbeddedBroker, change: Change, said: str, place: Place
) -> None:
    with pytest.raises(DataLossError) as caught:
        place(Stream(here, broker, **with_ids(place)), broker, change)
    is_task = "plan" in place.__name__ and change is anew
    assert ("the topic was deleted and created again" if is_task else said) in str(caught.value)


@each_limit
@each_place
@each_change
def test_without_fail_on_data_loss_all_that_is_new_is_read_once(
    here: Worker,
    broker: EmbeddedBroker,
    change: Change,
    said: str,
    place: Place,
    limit: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    stream = Stream(here, broker, failOnDataLoss="false", **with_ids(place), **limit)
    place(stream, broker, change)
    assert [each for each in stream.rows if each.startswith(b"new")] == new_records(broker)
    old = [each for each in stream.rows if each.startswith(b"old")]
    assert old == [b"old%d" % number for number in range(len(old))], "none twice"
    planners = "aiokafka_lite.spark.read.data_loss"
    told = [each for each in caplog.records if each.name == planners and said in each.message]
    assert {each.levelno for each in told} == {logging.WARNING}
    assert len(told) == (2 if "plan" in place.__name__ and change is not anew else 1), (
        "by the driver once, and by the task that notices"
    )


def test_a_new_leader_that_lacks_nothing_is_no_loss_and_no_batch(
    here: Worker, broker: EmbeddedBroker
) -> None:
    stream = Stream(here, broker, topicIds="true")
    stream.read_all()
    broker.move_leader(T0, 3 - broker.leader(T0))
    assert not stream.trigger()
    write(broker, "old", range(OLD, NEW))
    stream.read_all()
    stream.read_all()
    assert stream.rows == [b"old%d" % number for number in range(NEW)]
    assert len(broker.requests_of(OffsetForLeaderEpochRequest)) == 1, "each leader is asked once"


def test_without_a_new_leader_nothing_is_asked(here: Worker, broker: EmbeddedBroker) -> None:
    stream = Stream(here, broker, maxOffsetsPerTrigger="3")
    stream.read_all()
    assert len(stream.rows) == OLD
    assert not broker.requests_of(OffsetForLeaderEpochRequest)


def test_a_checkpoint_without_ids_and_epochs_is_read_as_before(
    here: Worker, broker: EmbeddedBroker
) -> None:
    """It is from an earlier version or from Spark's own source, and tells nothing of its logs."""
    stream = Stream(here, broker, topicIds="true")
    stream.log = ['{"t":{"0":0}}', '{"t":{"0":10}}']
    cut_at(4)(broker)
    stream.start()
    stream.read_all()
    assert stream.rows == [b"new%d" % number for number in range(OLD, NEW)]


@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "stream"])
def test_committed_offsets_are_of_the_log_that_they_were_committed_for(
    here: Worker, broker: EmbeddedBroker, streaming: bool
) -> None:
    """A stream commits with the leader epoch; whoever begins there compares it."""
    lag: dict[str, Any] = {"commitGroupId": "lag"}
    stream = Stream(here, broker, **lag)
    stream.read_all()
    assert broker.group("lag").offsets[T0].leader_epoch == 0
    cut_at(4)(broker)
    lag["startingOffsets"] = "committed"
    for fails in ("true", "false"):
        options = source_options(broker, streaming=streaming, failOnDataLoss=fails, **lag)
        later = Stream(here, broker, failOnDataLoss=fails, **lag)

        def rows(later: Stream = later, options: Any = options) -> list[bytes]:
            if streaming:
                later.read_all()
                later.read_all()  # the first batch is empty
                return later.rows
            planned = plan_batch(options, Planner(options, lambda: here))
            return values([*read_ranges(planned, VALUES, options, {}, lambda: here)])

        if fails == "true":
            with pytest.raises(DataLossError, match="t-0's log was cut at 4, before offset 10"):
                rows()
        else:
            assert rows() == new_records(broker)


def test_a_topic_that_is_made_anew_while_a_query_is_planned_is_not_read_in_its_middle(
    here: Worker, broker: EmbeddedBroker
) -> None:
    """The start is of the old topic, and the end of the new one."""

    class Slow(Planner):
        def resolve(self, limit: Any, *, is_start: bool) -> Offsets:
            if not is_start:
                anew(broker)
            return super().resolve(limit, is_start=is_start)

    given: dict[str, Any] = {"startingOffsets": '{"t":{"0":8}}'}
    options = source_options(broker, **given)
    with pytest.raises(DataLossError, match="topic t was deleted and created again"):
        plan_batch(options, Slow(options, lambda: here))
    options = source_options(broker, failOnDataLoss="false", **given)
    planned = plan_batch(options, Slow(options, lambda: here))
    assert planned == [OffsetRange("t", 0, 0, NEW)]
