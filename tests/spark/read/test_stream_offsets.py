"""How a stream starts, goes on, and is replayed. Source: KafkaMicroBatchStream."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import OffsetRange, Offsets
from aiokafka_lite.spark.options.source_options import OffsetLimit, Place
from aiokafka_lite.spark.read.data_loss import DataLossError
from aiokafka_lite.spark.read.stream_offsets import StreamOffsets
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.spark.support.topics import T0, T1, source_options


class Brokers:
    """Answers as a cluster with these ends would."""

    def __init__(self, **ends: int) -> None:
        self.ends = Offsets({TopicPartition("t", int(name[1:])): at for name, at in ends.items()})
        self.first = Offsets()
        self.topic_ids: dict[str, str] = {}
        self.asked = 0
        self.commits: list[tuple[str, Offsets]] = []
        self.refuses_commits = False
        self.waits: list[float] = []
        self.bytes_per_offset = 100.0
        self.weighed: list[OffsetRange] = []

    def weigh(self, part: OffsetRange) -> float | None:
        self.weighed.append(part)
        return self.bytes_per_offset

    def resolve(self, limit: OffsetLimit, *, is_start: bool) -> Offsets:
        assert is_start
        if limit.place is Place.LATEST:
            return Offsets(self.ends)
        return Offsets({tp: self.first.get(tp, 0) for tp in self.ends})

    def latest_after(self, known: Mapping[TopicPartition, int]) -> Offsets:
        self.asked += 1
        return Offsets(self.ends)

    def earliest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        return Offsets({tp: self.first.get(tp, 0) for tp in partitions if tp in self.ends})

    def epoch_ends(
        self, epochs: Mapping[TopicPartition, int]
    ) -> Mapping[TopicPartition, int | None]:
        raise AssertionError("no epochs are known")

    def commit(self, group_id: str, offsets: Offsets) -> None:
        if self.refuses_commits:
            raise KafkaError("not now")
        self.commits.append((group_id, offsets))

    def wait(self, delay_s: float) -> None:
        self.waits.append(delay_s)


WITH_IDS: dict[str, Any] = {"topicIds": "true"}


def stream(brokers: Brokers, clock: FakeClock | None = None, **options: str) -> StreamOffsets:
    given = {"startingOffsets": "earliest", "offsetPollIntervalMs": "0", **options}
    parsed = source_options("h:1", streaming=True, **given)
    return StreamOffsets(parsed, brokers, clock or FakeClock())


def offsets(*at: int) -> Offsets:
    return Offsets({TopicPartition("t", number): offset for number, offset in enumerate(at)})


def test_a_stream_reads_from_its_start_to_what_there_is() -> None:
    going = stream(Brokers(t0=5, t1=2))
    start = going.initial()
    assert start == offsets(0, 0)
    end = going.latest(start)
    assert end == going.newest == offsets(5, 2)
    assert going.plan(start, end) == [OffsetRange("t", 0, 0, 5), OffsetRange("t", 1, 0, 2)]
    assert going.latest(end) == end


# A topic that is deleted and created again…


def with_id(topic_id: str, *at: int) -> Offsets:
    return offsets(*at).of_logs({"t": topic_id}, {})


def test_offsets_have_the_ids_of_their_topics() -> None:
    brokers = Brokers(t0=5)
    brokers.topic_ids = {"t": "one"}
    going = stream(brokers, **WITH_IDS)
    start = going.initial()
    end = going.latest(start)
    assert start.topic_ids == end.topic_ids == {"t": "one"}
    limited = stream(brokers, **WITH_IDS, maxOffsetsPerTrigger="3").latest(start)
    assert (limited, limited.topic_ids) == (offsets(3), {"t": "one"})
    plain = stream(brokers)
    assert plain.initial().topic_ids == plain.latest(start).topic_ids == {}


def test_offsets_without_ids_are_no_reason_for_a_batch() -> None:
    brokers = Brokers(t0=5)
    brokers.topic_ids = {"t": "one"}
    going = stream(brokers, **WITH_IDS)
    assert going.latest(offsets(5)).topic_ids == {}
    assert going.latest(offsets(4)).topic_ids == {"t": "one"}
    assert going.plan(offsets(4), with_id("one", 5)) == [OffsetRange("t", 0, 4, 5)]


@pytest.mark.parametrize("end", [80, 50, 0])
def test_a_topic_that_was_made_anew_is_lost_data(
    end: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Also one that has as many records by now, or more."""
    brokers = Brokers(t0=end)
    brokers.topic_ids = {"t": "two"}
    before = with_id("one", 50)
    going = stream(brokers, **WITH_IDS)
    after = going.latest(before)
    assert after.to_json() != before.to_json(), "Spark makes a batch of it"
    with pytest.raises(DataLossError, match="topic t was deleted and created again"):
        going.plan(before, after)
    patient = stream(brokers, **WITH_IDS, failOnDataLoss="false", maxOffsetsPerTrigger="30")
    after = patient.latest(before)
    whole = [OffsetRange("t", 0, 0, min(end, 30))] if end else []
    assert patient.plan(before, after) == whole
    assert "topic t was deleted and created again" in caplog.text


def test_a_batch_from_before_a_restart_is_not_read_from_another_topic() -> None:
    brokers = Brokers(t0=80)
    brokers.topic_ids = {"t": "two"}
    with pytest.raises(DataLossError, match="topic t was deleted and created again"):
        stream(brokers, **WITH_IDS).plan(with_id("one", 0), with_id("one", 50))
    patient = stream(brokers, **WITH_IDS, failOnDataLoss="false")
    assert patient.plan(with_id("one", 0), with_id("one", 50)) == []
    again = patient.latest(with_id("one", 50))
    assert patient.plan(with_id("one", 50), again) == [OffsetRange("t", 0, 0, 80)]


@pytest.mark.parametrize("limit", ["60", "50"])
@pytest.mark.parametrize("fails", [True, False])
def test_a_run_notices_a_topic_that_was_made_anew_without_ids_in_its_offsets(
    caplog: pytest.LogCaptureFixture, limit: str, fails: bool
) -> None:
    brokers = Brokers(t0=50)
    brokers.topic_ids = {"t": "one"}
    loss: dict[str, Any] = {"failOnDataLoss": str(fails).lower()}
    going = stream(brokers, **loss, maxOffsetsPerTrigger=limit)
    start = going.initial()
    end = going.latest(start)
    assert going.plan(start, end) == [OffsetRange("t", 0, 0, 50)]
    brokers.topic_ids = {"t": "two"}
    # It ends where the old one did, so Spark sees nothing new. Then it grows.
    assert going.latest(end).to_json() == end.to_json() == '{"t":{"0":50}}'
    brokers.ends = offsets(80)
    then = going.latest(end)
    if fails:
        with pytest.raises(DataLossError, match="topic t was deleted and created again"):
            going.plan(end, then)
        return
    first = 60 if limit == "60" else 80  # 50 would be where the old one ended
    assert going.plan(end, then) == going.plan(end, then) == [OffsetRange("t", 0, 0, first)]
    assert "topic t was deleted and created again" in caplog.text
    last = going.latest(then)
    assert going.plan(then, last) == ([OffsetRange("t", 0, 60, 80)] if first == 60 else [])


def test_ranges_have_the_ids_of_the_topics_whose_offsets_they_have() -> None:
    """A question about a new partition may be answered by another topic of that name."""

    class Late(Brokers):
        def earliest(self, partitions: Iterable[TopicPartition]) -> Offsets:
            self.topic_ids = {"t": "two"}
            return super().earliest(partitions)

    brokers = Late(t0=5, t1=7)
    brokers.topic_ids = {"t": "one"}
    going = stream(brokers, **WITH_IDS)
    end = going.latest(with_id("one", 3))
    assert going.plan(with_id("one", 3), end)
    assert going.topic_ids == {"t": "one"}, "so each task tells that the topic is another one"


# The start is pinned…


@pytest.mark.parametrize("starting", ["latest", "committed", '{"t":{"0":-1}}'])
def test_a_start_that_may_change_is_pinned_by_an_empty_first_batch(starting: str) -> None:
    brokers = Brokers(t0=5)
    going = stream(brokers, startingOffsets=starting, commitGroupId="g")
    start = going.initial()
    brokers.ends[T0] = 9
    assert going.initial() == start
    assert going.latest(start) == start
    assert going.plan(start, start) == []
    assert going.latest(start) == offsets(9)


def test_a_replay_of_the_pinned_batch_is_empty_and_nothing_behind_it_is_lost() -> None:
    """Spark asks for the start anew, and gets another one; the end is that of the checkpoint."""
    brokers = Brokers(t0=8)
    again = stream(brokers, startingOffsets="latest")
    start = again.initial()
    assert start == offsets(8)
    assert again.plan(start, offsets(5)) == []
    brokers.ends[T0] = 9
    assert again.latest(offsets(5)) == offsets(9)
    assert again.plan(offsets(5), offsets(9)) == [OffsetRange("t", 0, 5, 9)]


def test_a_restart_behind_its_first_batch_needs_no_start() -> None:
    going = stream(Brokers(t0=8), startingOffsets="latest")
    assert going.latest(offsets(5)) == offsets(8)
    assert going.plan(offsets(5), offsets(8)) == [OffsetRange("t", 0, 5, 8)]


# Limits…


def test_a_trigger_goes_so_far_as_it_may_in_proportion() -> None:
    brokers = Brokers(t0=80, t1=20)
    going = stream(brokers, maxOffsetsPerTrigger="10")
    assert going.latest(offsets(0, 0)) == offsets(8, 2)
    assert going.latest(offsets(0, 0), takes_all=True) == offsets(80, 20)  # Trigger.Once


def test_a_new_partition_is_limited_from_where_it_begins() -> None:
    brokers = Brokers(t0=10, t1=110)
    brokers.first[T1] = 100
    going = stream(brokers, maxOffsetsPerTrigger="10")
    assert going.latest(offsets(0)) == offsets(5, 105)


async def test_a_batch_waits_for_enough_records_but_not_for_ever() -> None:
    clock = FakeClock()
    brokers = Brokers(t0=3)
    going = stream(brokers, clock, minOffsetsPerTrigger="5", maxTriggerDelay="10s")
    assert going.latest(offsets(0)) == offsets(3)  # the first one does not wait
    brokers.ends[T0] = 7
    assert going.latest(offsets(3)) == offsets(3)
    brokers.ends[T0] = 8
    assert going.latest(offsets(3)) == offsets(8)
    brokers.ends[T0] = 9
    await clock.advance(9.9)
    assert going.latest(offsets(8)) == offsets(8)
    await clock.advance(0.1)
    assert going.latest(offsets(8)) == offsets(9)


def test_available_now_ends_at_what_there_was_in_as_many_batches_as_it_takes() -> None:
    brokers = Brokers(t0=10)
    going = stream(brokers, maxOffsetsPerTrigger="4", minOffsetsPerTrigger="4")
    going.prepare_available_now()
    at, seen = going.initial(), []
    while (end := going.latest(at)) != at:
        brokers.ends[T0] += 5
        seen.append(end[T0])
        at = end
    assert seen == [4, 8, 10]
    assert brokers.asked == 1


def test_available_now_with_a_pinned_start_ends_too() -> None:
    brokers = Brokers(t0=10)
    going = stream(brokers, startingOffsets='{"t":{"0":-1}}')
    going.prepare_available_now()
    start = going.initial()
    brokers.ends[T0] = 12
    assert going.latest(start) == start
    assert going.latest(start) == offsets(12)
    assert going.latest(offsets(12)) == offsets(12)


async def test_an_idle_stream_asks_the_brokers_now_and_then_only() -> None:
    clock = FakeClock()
    brokers = Brokers(t0=1)
    going = stream(brokers, clock, offsetPollIntervalMs="100")
    assert going.latest(offsets(1)) == offsets(1)
    assert brokers.waits == []
    await clock.advance(0.03)
    brokers.ends[T0] = 2
    assert going.latest(offsets(1)) == offsets(2)  # what it waited for is new
    assert brokers.waits == [pytest.approx(0.07)]


def test_before_spark_4_2_the_start_is_the_end_of_the_last_batch() -> None:
    """It asks without a start; a stream that goes on may be anywhere before the first batch."""
    brokers = Brokers(t0=5)
    going = stream(brokers, maxOffsetsPerTrigger="2")
    assert going.latest(None) == offsets(5)
    going.plan(offsets(3), offsets(5))
    brokers.ends[T0] = 9
    assert going.latest(None) == offsets(7)


def test_before_spark_4_2_a_new_stream_from_the_end_has_an_empty_first_batch_too() -> None:
    brokers = Brokers(t0=5)
    going = stream(brokers, startingOffsets="latest")
    end = going.latest(None)
    brokers.ends[T0] = 9  # before it is asked where it starts
    assert going.plan(going.initial(), end) == []
    assert going.latest(None) == offsets(9)


# What got lost…


def test_lost_records_fail_the_stream_or_are_passed_over(
    caplog: pytest.LogCaptureFixture,
) -> None:
    brokers = Brokers(t0=3, t1=9)
    brokers.first[T1] = 4
    with pytest.raises(DataLossError, match="t-0's offset was changed from 5 to 3"):
        stream(brokers).plan(offsets(5), offsets(3))
    with pytest.raises(DataLossError, match="added partition t-1 starts from 4 instead of 0"):
        stream(brokers).plan(offsets(3), offsets(3, 9))
    with pytest.raises(DataLossError, match="t-1 are gone"):
        stream(brokers).plan(offsets(0, 4), offsets(3))
    lenient = stream(brokers, failOnDataLoss="false")
    assert lenient.plan(offsets(5), offsets(3, 9)) == [OffsetRange("t", 1, 4, 9)]
    assert "t-0's offset was changed" in caplog.text


def test_batches_are_split_into_tasks() -> None:
    going = stream(Brokers(t0=10), minPartitions="2")
    assert len(going.plan(offsets(0), offsets(10))) == 2
    going = stream(Brokers(t0=10), maxRecordsPerPartition="3")
    assert len(going.plan(offsets(0), offsets(10))) == 4


# Commits for lag tools…


def test_what_is_done_is_committed_once_for_the_group_that_shows_the_lag() -> None:
    brokers = Brokers(t0=5)
    going = stream(brokers, commitGroupId="lag")
    start = going.initial()
    going.latest(start)
    assert brokers.commits == []  # nothing is done yet
    going.latest(offsets(5))
    going.latest(offsets(5))
    going.done(offsets(5))
    assert brokers.commits == [("lag", offsets(5))]


def test_without_a_group_nothing_is_committed() -> None:
    brokers = Brokers(t0=5)
    going = stream(brokers)
    going.latest(offsets(5))
    going.done(offsets(5))
    assert brokers.commits == []


def test_a_commit_that_fails_does_not_fail_the_stream(caplog: pytest.LogCaptureFixture) -> None:
    brokers = Brokers(t0=5)
    brokers.refuses_commits = True
    clock = FakeClock()
    going = stream(brokers, clock, commitGroupId="lag")
    assert going.latest(offsets(3)) == offsets(5)
    assert "for group lag: " in caplog.text
    brokers.refuses_commits = False
    going.latest(offsets(3))
    assert brokers.commits == []  # a pause comes first
    asyncio.run(clock.advance(2))
    going.latest(offsets(3))
    assert brokers.commits == [("lag", offsets(3))]


def test_of_two_limits_of_a_trigger_the_smaller_counts() -> None:
    brokers = Brokers(t0=50, t1=30)
    for given, ends in (
        ({"maxBytesPerTrigger": "4000"}, (25, 15)),
        ({"maxBytesPerTrigger": "4000", "maxOffsetsPerTrigger": "8"}, (5, 3)),
        ({"maxBytesPerTrigger": "800", "maxOffsetsPerTrigger": "40"}, (5, 3)),
        ({"maxBytesPerTrigger": "1"}, (1, 1)),
    ):
        going = stream(brokers, **given)  # type: ignore[arg-type]
        assert going.latest(going.initial()) == offsets(*ends)
        assert going.latest(going.initial(), takes_all=True) == offsets(50, 30)
    assert stream(brokers).latest(offsets(0, 0)) == offsets(50, 30)
    assert len(brokers.weighed) == 4 * 2


@pytest.mark.parametrize("options", [{}, WITH_IDS], ids=["without ids", "ids"])
@pytest.mark.parametrize("left", [{}, {"t0": 100}], ids=["topic", "partition"])
async def test_what_one_answer_leaves_out_is_read_on_from_its_place(
    left: dict[str, int], options: dict[str, str]
) -> None:
    """As Spark's own source since SPARK-41375; the topic goes after a while (2f-15)."""
    clock = FakeClock()
    brokers = Brokers(t0=100, t1=100)
    brokers.topic_ids = {"t": "one"}
    going = stream(brokers, clock, **options)
    start = going.latest(going.initial())
    sizes = []
    for ends in (left, left, {"t0": 110, "t1": 110}):
        brokers.ends = Brokers(**ends).ends
        brokers.topic_ids = {"t": "one"} if ends else {}
        end = going.latest(start)
        sizes.append(sum(each.size for each in going.plan(start, end)) if end != start else 0)
        start = end
        await clock.advance(2)
    assert sizes == [0, 0, 20]


async def test_a_topic_that_stays_away_is_lost_data() -> None:
    clock = FakeClock()
    brokers = Brokers(t0=100)
    going = stream(brokers, clock)
    start = going.latest(going.initial())
    brokers.ends = Offsets()
    assert going.latest(start) == start
    await clock.advance(5)
    with pytest.raises(DataLossError, match="t-0 are gone"):
        going.latest(start)  # so no end without it is written down
    again = stream(brokers, clock)
    assert again.latest(start) == start
    brokers.ends = Brokers(t0=110).ends
    assert again.plan(start, again.latest(start)) == [OffsetRange("t", 0, 100, 110)]


@pytest.mark.parametrize("options", [{}, WITH_IDS], ids=["without ids", "ids"])
async def test_without_fail_on_data_loss_a_long_absence_costs_no_place(
    options: dict[str, str],
) -> None:
    """Neither read twice nor skipped; what is absent for a day is gone."""
    clock = FakeClock()
    brokers = Brokers(t0=100)
    brokers.topic_ids = {"t": "one"}
    going = stream(brokers, clock, failOnDataLoss="false", **options)
    start = going.latest(going.initial())
    brokers.ends, brokers.topic_ids = Offsets(), {}
    for _ in range(3):
        assert going.latest(start) == start
        await clock.advance(12)
    brokers.ends, brokers.topic_ids = Brokers(t0=110).ends, {"t": "one"}
    end = going.latest(start)
    assert going.plan(start, end) == [OffsetRange("t", 0, 100, 110)]
    brokers.ends, brokers.topic_ids = Offsets(), {}
    assert going.latest(end) == end
    await clock.advance(86_400)
    assert going.latest(end) == Offsets()


def test_another_topic_of_the_name_takes_the_place_at_once() -> None:
    brokers = Brokers(t0=100, t1=100)
    brokers.topic_ids = {"t": "one"}
    going = stream(brokers, **WITH_IDS)
    start = going.latest(going.initial())
    brokers.ends, brokers.topic_ids = Brokers(t0=5).ends, {"t": "two"}
    assert going.latest(start) == offsets(5)


# Topics that the user leaves out…


def test_a_topic_left_out_of_the_options_is_not_called_gone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    brokers = Brokers(t0=5)
    start = Offsets({T0: 3, TopicPartition("u", 0): 7})
    said = "u-0 are not subscribed any more: .* failOnDataLoss to false"
    with pytest.raises(DataLossError, match=said) as raised:
        stream(brokers).latest(start)  # at once: no answer could bring it
    assert "gone" not in str(raised.value)
    with pytest.raises(DataLossError, match=said):
        stream(brokers).plan(start, offsets(5))
    lenient = stream(brokers, failOnDataLoss="false")
    end = lenient.latest(start)
    assert end == offsets(5)
    assert lenient.plan(start, end) == [OffsetRange("t", 0, 3, 5)]
    assert "u-0 are not subscribed any more" in caplog.text
    assert "gone" not in caplog.text
