"""What the driver asks the brokers has an end, and an answer that names what it is about. Source:
KafkaOffsetReaderAdmin."""

import time

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    KafkaError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.spark.offsets import OffsetRange, Offsets
from aiokafka_lite.spark.options.source_options import OffsetLimit, Place, SourceOptions
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.read.planner import Planner
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.free_ports import held_ports
from tests.spark.support.topics import T0, T1, fill, fill_transaction, source_options

U0 = TopicPartition("u", 0)


def start_of(here: Worker, options: SourceOptions) -> Offsets:
    return Planner(options, lambda: here).resolve(options.starting, is_start=True)


@pytest.fixture
def broker(kafka_broker: EmbeddedBroker) -> EmbeddedBroker:
    """t has two partitions with 3 and 5 records, the first from offset 1; u one with 1."""
    kafka_broker.create_topic("t", partitions=2)
    kafka_broker.create_topic("u", partitions=1)
    fill(kafka_broker, T0, 4)
    fill(kafka_broker, T1, 5)
    fill(kafka_broker, U0, 1)
    kafka_broker.delete_records(T0, 1)
    return kafka_broker


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": "earliest"}, {T0: 1, T1: 0}),
        ({"startingOffsets": "latest"}, {T0: 4, T1: 5}),
        ({"startingOffsets": '{"t":{"0":-2,"1":3}}'}, {T0: 1, T1: 3}),
        ({"startingOffsets": '{"t":{"0":2,"1":-1}}'}, {T0: 2, T1: 5}),
        # The record at offset n is of the millisecond 1000 + n.
        ({"startingTimestamp": "1003"}, {T0: 3, T1: 3}),
        ({"startingOffsetsByTimestamp": '{"t":{"0":0,"1":1004}}'}, {T0: 1, T1: 4}),
        (
            {"startingTimestamp": "1004", "startingOffsetsByTimestampStrategy": "latest"},
            {T0: 4, T1: 4},
        ),
        ({"subscribe": "u, t", "startingOffsets": "earliest"}, {T0: 1, T1: 0, U0: 0}),
        ({"subscribePattern": "[tu]", "startingOffsets": "earliest"}, {T0: 1, T1: 0, U0: 0}),
        ({"subscribePattern": "none", "startingOffsets": "earliest"}, {}),
        ({"assign": '{"t":[1]}', "startingOffsets": "earliest"}, {T1: 0}),
    ],
)
def test_a_start_is_resolved_for_what_is_selected(
    here: Worker, broker: EmbeddedBroker, options: dict[str, str], expected: Offsets
) -> None:
    assert start_of(here, source_options(broker, streaming=True, **options)) == expected


def test_a_pattern_is_looked_for_anywhere_in_a_name(here: Worker, broker: EmbeddedBroker) -> None:
    """As Spark's own source does, unlike a subscription of a consumer."""
    broker.create_topic("events-eu")
    options = source_options(broker, subscribePattern="s-e")
    assert start_of(here, options) == {TopicPartition("events-eu", 0): 0}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"startingOffsets": '{"t":{"0":1}}'}, r'named are \{"t":\{"0":1\}\}, and .* t-0, t-1'),
        ({"startingOffsetsByTimestamp": '{"u":{"0":1}}'}, "they must be for all partitions"),
        ({"startingTimestamp": "1004"}, "no offset of t-0 matches the timestamp 1004"),
    ],
)
def test_limits_that_do_not_fit_are_refused(
    here: Worker, broker: EmbeddedBroker, options: dict[str, str], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        start_of(here, source_options(broker, **options))  # type: ignore[arg-type]


def test_an_end_by_time_that_nothing_has_reached_is_the_latest(
    here: Worker, broker: EmbeddedBroker
) -> None:
    options = source_options(broker, endingTimestamp="1004")
    ending = Planner(options, lambda: here).resolve(options.ending, is_start=False)
    assert ending == {T0: 4, T1: 4}


def test_latest_is_the_last_stable_offset_for_readers_of_committed(
    here: Worker, broker: EmbeddedBroker
) -> None:
    fill_transaction(broker, T1, 2, None)
    for level, expected in (("read_committed", 5), ("read_uncommitted", 7)):
        options = source_options(broker, **{"kafka.isolation.level": level})  # type: ignore[arg-type]
        assert Planner(options, lambda: here).latest()[T1] == expected
    fill_transaction(broker, T0, 1, ControlRecordType.COMMIT)
    assert Planner(options, lambda: here).ends([T0]) == {T0: 6}


def test_offsets_of_a_group_are_a_start_and_where_there_is_none_the_beginning(
    here: Worker, broker: EmbeddedBroker
) -> None:
    options = source_options(broker, startingOffsets="committed", commitGroupId="lag")
    planner = Planner(options, lambda: here)
    assert start_of(here, options) == {T0: 1, T1: 0}
    planner.commit("lag", Offsets({T1: 3}))
    assert start_of(here, options) == {T0: 1, T1: 3}
    assert broker.group("lag").offsets[T1].offset == 3
    assert planner.committed("lag", [T0, T1, TopicPartition("t", 2)]) == {T1: 3}


def test_what_has_gone_has_no_beginning(here: Worker, broker: EmbeddedBroker) -> None:
    planner = Planner(source_options(broker), lambda: here)
    gone = TopicPartition("gone", 0)
    assert planner.earliest([T0, TopicPartition("t", 9), gone]) == {T0: 1}
    assert planner.earliest([]) == {}
    assert "gone" not in broker.cluster.topics


def test_the_first_offset_as_young_is_the_end_where_there_is_none(
    here: Worker, broker: EmbeddedBroker
) -> None:
    planner = Planner(source_options(broker), lambda: here)
    assert planner.first_as_young([T0, T1], 1004) == {T0: 4, T1: 4}


# Trouble…


def test_a_topic_that_does_not_exist_is_named_and_not_created(
    here: Worker, broker: EmbeddedBroker
) -> None:
    options = source_options(broker, subscribe="t,nope")
    with pytest.raises(KafkaError, match=r"offsets of nope, t on .* there is no topic nope; check"):
        start_of(here, options)
    assert len(broker.requests_of(MetadataRequest)) >= 3
    assert "nope" not in broker.cluster.topics


def test_a_wrong_address_is_named_within_seconds(here: Worker) -> None:
    limits = {"fetchOffset.numRetries": "2", "kafka.request.timeout.ms": "200"}
    began_s = time.monotonic()
    with held_ports(1) as (port,):
        options = source_options(f"127.0.0.1:{port}", **limits)  # type: ignore[arg-type]
        with pytest.raises(KafkaError, match=rf"on 127.0.0.1:{port} could not be found.*bootstrap"):
            start_of(here, options)
    assert time.monotonic() - began_s < 30


def test_passing_trouble_is_waited_out(here: Worker, broker: EmbeddedBroker) -> None:
    broker.faults.fail(ListOffsetsRequest, NotLeaderForPartitionError, times=2)
    assert start_of(here, source_options(broker)) == {T0: 1, T1: 0}


def test_what_no_repetition_helps_is_raised_at_once(here: Worker, broker: EmbeddedBroker) -> None:
    broker.faults.fail(ListOffsetsRequest, TopicAuthorizationFailedError, times=100)
    with pytest.raises(TopicAuthorizationFailedError):
        start_of(here, source_options(broker))
    assert len(broker.requests_of(ListOffsetsRequest)) == 1


def test_ends_before_what_is_known_are_asked_for_again(
    here: Worker, broker: EmbeddedBroker
) -> None:
    options = source_options(broker, **{"fetchOffset.numRetries": "3"})  # type: ignore[arg-type]
    planner = Planner(options, lambda: here)
    assert planner.latest_after(Offsets({T0: 4})) == {T0: 4, T1: 5}
    assert len(broker.requests_of(ListOffsetsRequest)) == 1
    assert planner.latest_after(Offsets({T0: 99})) == {T0: 4, T1: 5}  # the plan says what was lost
    assert len(broker.requests_of(ListOffsetsRequest)) == 4


def test_the_end_of_a_topic_that_was_made_anew_is_asked_for_once(
    here: Worker, broker: EmbeddedBroker
) -> None:
    planner = Planner(source_options(broker), lambda: here)
    planner.latest()
    known = Offsets({T0: 99}).of_logs(planner.topic_ids, {})
    assert set(known.topic_ids) == {"t"}
    broker.delete_topic("t")
    broker.create_topic("t", partitions=2)
    asked = len(broker.requests_of(ListOffsetsRequest))
    assert planner.latest_after(known)[T0] == 0
    assert len(broker.requests_of(ListOffsetsRequest)) == asked + 1
    assert planner.topic_ids["t"] != known.topic_ids["t"]


def test_waiting_takes_its_time_and_no_time_none(here: Worker) -> None:
    planner = Planner(source_options("h:1"), lambda: here)
    began_s = time.monotonic()
    planner.wait(0.01)
    assert time.monotonic() - began_s >= 0.01
    planner.wait(-5)


def test_an_attempt_has_its_share_of_a_minute() -> None:
    options = source_options("h:1", **{"fetchOffset.numRetries": "4"})  # type: ignore[arg-type]
    assert Planner(options)._arguments["default_api_timeout_ms"] == 15_000
    theirs = source_options("h:1", **{"kafka.default.api.timeout.ms": "77"})  # type: ignore[arg-type]
    assert Planner(theirs)._arguments["default_api_timeout_ms"] == 77
    assert OffsetLimit(place=Place.LATEST) == theirs.ending


def test_records_are_weighed_by_a_look_at_the_first_of_them(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 500)
    planner = Planner(source_options(kafka_broker, streaming=True), lambda: here)
    weight = planner.weigh(OffsetRange("t", 0, 0, 500))
    assert weight is not None
    assert 4 < weight < 40  # a key and a value of up to four bytes, and where they begin in Arrow
    assert planner.latest() == {T0: 500}  # the consumer is nobody's again
    with pytest.raises(OffsetOutOfRangeError):
        planner.weigh(OffsetRange("t", 0, 900, 901))


def test_offsets_of_a_group_are_asked_for_by_one_request(
    here: Worker, broker: EmbeddedBroker
) -> None:
    broker.create_topic("many", partitions=100)
    options = source_options(
        broker,
        streaming=True,
        subscribe="t,many",
        startingOffsets="committed",
        commitGroupId="known",
    )
    planner = Planner(options, lambda: here)
    planner.commit("known", Offsets({T0: 2, T1: 3}))
    assert len(start_of(here, options)) == 102
    assert planner.committed("known", [T0, T1, U0]) == {T0: 2, T1: 3}
    assert len(broker.requests_of(OffsetFetchRequest)) == 2


def test_a_group_with_members_of_its_own_is_not_one_to_commit_for(
    here: Worker, broker: EmbeddedBroker
) -> None:
    async def join() -> AIOKafkaConsumer[bytes, bytes]:
        member = AIOKafkaConsumer[bytes, bytes](
            "t", group_id="busy", bootstrap_servers=broker.bootstrap_servers
        )
        await member.start()
        await member.getmany(timeout_ms=5000)
        return member

    member = here.run(join)
    try:
        planner = Planner(source_options(broker, streaming=True), lambda: here)
        with pytest.raises(KafkaError, match="group busy has members of its own; choose another"):
            planner.commit("busy", Offsets({T0: 2}))
    finally:
        here.run(member.stop)


def test_of_two_topics_one_may_go_where_lost_data_is_no_failure(
    here: Worker, broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    given = {"subscribe": "t,u", "startingOffsets": "earliest"}
    going = source_options(broker, streaming=True, failOnDataLoss="false", **given)
    strict = source_options(broker, streaming=True, **given)
    broker.delete_topic("u")
    assert Planner(going, lambda: here).latest() == {T0: 4, T1: 5}
    assert "u is not there any more, and is left out" in caplog.text
    for options in (strict, going):
        with pytest.raises(KafkaError, match="there is no topic u"):
            start_of(here, options)  # a new stream has a wrong name
    with pytest.raises(KafkaError, match="there is no topic u"):
        Planner(strict, lambda: here).latest()
    broker.delete_topic("t")
    with pytest.raises(KafkaError, match="there is no topic t, u"):
        Planner(going, lambda: here).latest()


@pytest.mark.parametrize("named", ["[0,7]", "[7]"])
@pytest.mark.parametrize("streaming", [False, True])
def test_an_assigned_partition_that_does_not_exist_fails_by_name(
    here: Worker, broker: EmbeddedBroker, named: str, streaming: bool
) -> None:
    given = {"assign": f'{{"t":{named}}}', "startingOffsets": "earliest"}
    options = source_options(broker, streaming=streaming, **given)
    with pytest.raises(KafkaError, match=r"no partition t-7: t has 2; .* option assign"):
        start_of(here, options)
    lenient = source_options(broker, streaming=streaming, ignoreMissingPartitions="true", **given)
    assert start_of(here, lenient) == ({T0: 1} if "0" in named else {})
    # A stream that has begun goes on with what is there.
    assert Planner(options, lambda: here).latest() == ({T0: 4} if "0" in named else {})
