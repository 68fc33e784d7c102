"""Every option of Spark's own Kafka connector, by its name, default and precedence. Source:
KafkaSourceProvider."""

import logging
import pickle
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.options import kafka_keys
from aiokafka_lite.spark.options.source_options import (
    OffsetLimit,
    Place,
    Selection,
    SourceOptions,
)

NEEDED = {"kafka.bootstrap.servers": "h:1", "subscribe": "t"}
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings come once per process: each test is one of its own."""
    monkeypatch.setattr(kafka_keys, "_said", set())


def batch(**options: str) -> SourceOptions:
    return SourceOptions.parse({**NEEDED, **options}, streaming=False)


def stream(**options: str) -> SourceOptions:
    return SourceOptions.parse({**NEEDED, **options}, streaming=True)


def test_the_defaults_are_the_official_ones() -> None:
    assert stream() == SourceOptions(
        client={"bootstrap_servers": "h:1"},
        selection=Selection(topics=("t",)),
        starting=OffsetLimit(place=Place.LATEST),
        ending=OffsetLimit(place=Place.LATEST),
        fail_on_data_loss=True,
        poll_timeout_ms=120_000,
        fetch_offset_retries=3,
        fetch_offset_retry_interval_ms=1000,
        min_partitions=None,
        max_records_per_partition=None,
        include_headers=False,
        max_offsets_per_trigger=None,
        min_offsets_per_trigger=None,
        max_trigger_delay_ms=15 * 60_000,
    )
    assert batch().starting.place is Place.EARLIEST


def test_every_option_is_taken_in_any_case() -> None:
    options = {
        "FAILONDATALOSS": "False",
        "kafkaconsumer.polltimeoutms": "5",
        "fetchOffset.numRetries": "7",
        "fetchOffset.retryIntervalMs": "8",
        "minPartitions": "9",
        "maxRecordsPerPartition": "10",
        "includeHeaders": "TRUE",
        "maxOffsetsPerTrigger": "12",
        "maxBytesPerTrigger": "14",
        "minOffsetsPerTrigger": "11",
        "maxTriggerDelay": "30s",
        "commitGroupId": "lag",
        "offsetPollIntervalMs": "0",
        "maxBatchBytes": "1000",
        "maxBatchRows": "13",
        "pushdown": "true",
    }
    parsed = stream(**options)
    assert parsed == SourceOptions(
        client={"bootstrap_servers": "h:1"},
        selection=Selection(topics=("t",)),
        starting=OffsetLimit(place=Place.LATEST),
        ending=OffsetLimit(place=Place.LATEST),
        fail_on_data_loss=False,
        poll_timeout_ms=5,
        fetch_offset_retries=7,
        fetch_offset_retry_interval_ms=8,
        min_partitions=9,
        max_records_per_partition=10,
        include_headers=True,
        max_offsets_per_trigger=12,
        max_bytes_per_trigger=14,
        min_offsets_per_trigger=11,
        max_trigger_delay_ms=30_000,
        commit_group_id="lag",
        offset_poll_interval_ms=0,
        max_batch_bytes=1000,
        max_batch_rows=13,
        pushdown=True,
    )
    assert pickle.loads(pickle.dumps(parsed)) == parsed


@pytest.mark.parametrize(
    ("options", "selection"),
    [
        ({"subscribe": " a, b,a,"}, Selection(topics=("a", "b"))),
        ({"subscribePattern": "a.*"}, Selection(pattern="a.*")),
        ({"assign": '{"t":[1,0]}'}, Selection(partitions=(T0, T1))),
    ],
)
def test_there_are_three_ways_to_choose(options: dict[str, str], selection: Selection) -> None:
    base = {"kafka.bootstrap.servers": "h:1", **options}
    assert SourceOptions.parse(base, streaming=True).selection == selection


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": "Earliest"}, OffsetLimit(place=Place.EARLIEST)),
        ({"startingOffsets": " latest "}, OffsetLimit(place=Place.LATEST)),
        (
            {"startingOffsets": '{"t":{"0":-2,"1":7}}'},
            OffsetLimit(place=Place.OFFSETS, by_partition={T0: -2, T1: 7}),  # type: ignore[arg-type]
        ),
        (
            {"startingOffsets": "earliest", "startingOffsetsByTimestamp": '{"t":{"0":5}}'},
            OffsetLimit(place=Place.TIMESTAMPS, by_partition={T0: 5}),  # type: ignore[arg-type]
        ),
        (
            {
                "startingOffsetsByTimestamp": '{"t":{"0":5}}',
                "startingTimestamp": "6",
                "startingOffsetsByTimestampStrategy": "Latest",
            },
            OffsetLimit(place=Place.TIMESTAMP, timestamp_ms=6, latest_if_none=True),
        ),
    ],
)
def test_timestamps_go_before_offsets_and_one_for_all_before_many(
    options: dict[str, str], expected: OffsetLimit
) -> None:
    assert stream(**options).starting == expected


def test_the_ends_of_a_batch_follow_the_same_precedence() -> None:
    options = {"endingOffsets": '{"t":{"0":-1}}', "endingOffsetsByTimestamp": '{"t":{"0":9}}'}
    assert batch(**options).ending.place is Place.TIMESTAMPS
    assert batch(**options, endingTimestamp="9").ending.place is Place.TIMESTAMP
    assert batch().ending == OffsetLimit(place=Place.LATEST)


@pytest.mark.parametrize(
    ("options", "is_fixed"),
    [
        ({"startingOffsets": "earliest"}, True),
        ({"startingOffsets": '{"t":{"0":-2,"1":7}}'}, True),
        ({"startingOffsets": '{"t":{"0":-1,"1":7}}'}, False),
        ({"startingOffsets": "latest"}, False),
        ({"startingTimestamp": "5"}, False),
        ({"startingOffsets": "committed", "commitGroupId": "g"}, False),
    ],
)
def test_a_start_is_fixed_if_it_means_the_same_the_next_time(
    options: dict[str, str], is_fixed: bool
) -> None:
    assert stream(**options).starting.is_fixed is is_fixed


BAD_ANYWHERE: list[tuple[dict[str, str], str]] = [
    ({"subscribe": " , "}, "no topics to subscribe to"),
    ({"assign": '{"t":[0]}'}, "only one of the options subscribe, subscribePattern, assign"),
    ({"startingOffsets": "nope"}, r"startingOffsets: expected e\.g\. "),
    ({"startingOffsets": '{"t":{"0":-3}}'}, "below -2"),
    ({"startingTimestamp": "x"}, "startingTimestamp='x' is not a whole number"),
    ({"startingTimestamp": "-1"}, "startingTimestamp=-1 must be at least 0"),
    ({"startingOffsetsByTimestamp": "[]"}, r"startingOffsetsByTimestamp: expected e\.g\."),
    ({"startingOffsetsByTimestamp": '{"t":{"0":-1}}'}, "before 1970"),
    ({"startingOffsetsByTimestampStrategy": "first"}, "neither error nor latest"),
    ({"failOnDataLoss": "maybe"}, "failOnDataLoss='maybe' is not true or false"),
    ({"maxBytesPerTrigger": "0"}, "maxBytesPerTrigger=0 must be at least 1"),
    ({"minPartitions": "0"}, "minPartitions=0 must be at least 1"),
    ({"minOffsetsPerTask": "0"}, "minOffsetsPerTask=0 must be at least 1"),
    ({"minPartitions": "2", "minOffsetsPerTask": "9"}, "asks for more tasks, and.*leave one out"),
    ({"maxRecordsPerPartition": "0"}, "maxRecordsPerPartition=0 must be at least 1"),
    ({"maxBatchBytes": str(2**31)}, "maxBatchBytes=2147483648 must be at most"),
    ({"maxTriggerDelay": "soon"}, "a time such as 30s"),
    (
        {"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "4"},
        "minOffsetsPerTrigger=5 is higher than maxOffsetsPerTrigger=4",
    ),
    ({"startingOffsets": "committed"}, "needs commitGroupId"),
    ({"kafka.auto.offset.reset": "latest"}, "auto.offset.reset is not supported: starting"),
    ({"kafka.key.deserializer": "x"}, "keys come as the bytes"),
    ({"kafka.value.deserializer": "x"}, "values come as the bytes"),
    ({"kafka.enable.auto.commit": "true"}, "Spark keeps the offsets"),
    ({"kafka.interceptor.classes": "x"}, "interceptor.classes is not supported"),
    ({"kafka.fetch.min.bytes": "x"}, "kafka.fetch.min.bytes='x' is not a whole number"),
    ({"kafka.fetch.min.bytes": "-1"}, "kafka.fetch.min.bytes=-1"),
    ({"kafka.isolation.level": "other"}, "Incorrect isolation level other"),
    ({"kafka.bootstrap.servers": "h:x"}, "h:x"),
]


@pytest.mark.parametrize(("options", "said"), BAD_ANYWHERE)
@pytest.mark.parametrize("read", [batch, stream])
def test_what_cannot_be_is_refused(read: Any, options: dict[str, str], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        read(**options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"startingOffsets": "latest"}, "starting offset can't be latest for batch queries"),
        ({"startingOffsets": '{"t":{"0":-1}}'}, "startingOffsets for t-0 can't be latest"),
        ({"endingOffsets": "earliest"}, "ending offset can't be earliest for batch queries"),
        ({"endingOffsets": '{"t":{"0":-2}}'}, "endingOffsets for t-0 can't be earliest"),
        (
            {"startingOffsets": '{"t":{"0":1}}', "endingOffsets": '{"t":{"1":2}}'},
            "different partitions",
        ),
        (
            {"startingOffsets": '{"t":{"0":3}}', "endingOffsets": '{"t":{"0":2}}'},
            "t-0 starts at 3, behind its end 2",
        ),
        (
            {
                "startingOffsetsByTimestamp": '{"t":{"0":3}}',
                "endingOffsetsByTimestamp": '{"t":{"0":2}}',
            },
            "t-0 starts at 3, behind its end 2",
        ),
    ],
)
def test_what_a_batch_cannot_do_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        batch(**options)


@pytest.mark.parametrize("name", ["endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"])
def test_a_stream_has_no_end(name: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=f"{name} is not valid in streaming"):
        stream(**{name: "1"})


def test_all_faults_come_in_one_error() -> None:
    with pytest.raises(ValueError, match="has 3 faults") as caught:
        SourceOptions.parse({"minPartitions": "x"}, streaming=True)
    for said in (
        "kafka.bootstrap.servers must be",
        "one of the options subscribe",
        "minPartitions",
    ):
        assert said in str(caught.value)


def test_ignored_and_unknown_options_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        batch(maxOffsetsPerTrigger="5", groupIdPrefix="p", nonsense="1", checkpointLocation="/c")
        batch(maxOffsetsPerTrigger="5", nonsense="1")
    said = [record.getMessage() for record in caplog.records]
    assert said == [
        "ignored in batch queries: maxOffsetsPerTrigger",
        "without effect in kafka-lite, which reads without a group: groupIdPrefix",
        "options not known to the source: nonsense",
    ]


# Before it is known what the options are for…


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"minPartitions": "many"}, "option minPartitions='many' is not a whole number"),
        ({"subscribePattern": "t"}, "only one of the options subscribe, "),
        ({"startingOffsets": "committed"}, "needs commitGroupId"),
        ({"includeHeaders": "perhaps"}, "includeHeaders='perhaps' is not true or false"),
        ({"kafka.fetch.min.bytes": "few"}, "kafka.fetch.min.bytes='few' is not a whole number"),
        ({"kafka.fetch.min.bytes": "-3"}, "do not work: .*kafka.fetch.min.bytes"),
    ],
)
def test_faults_of_batch_and_stream_are_found_in_both_and_before(
    options: dict[str, str], said: str
) -> None:
    given = {**NEEDED, **options}
    with pytest.raises(KafkaConfigurationError, match=said):
        SourceOptions.check(given)
    for streaming in (False, True):
        with pytest.raises(KafkaConfigurationError, match=said):
            SourceOptions.parse(given, streaming=streaming)


@pytest.mark.parametrize(
    "options",
    [
        {"startingOffsets": "latest"},
        {"startingOffsets": '{"t":{"0":-1}}'},
        {"endingOffsets": '{"t":{"0":5}}'},
        {"maxOffsetsPerTrigger": "5"},
    ],
)
def test_what_is_a_fault_of_one_of_them_is_none_before(
    options: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    SourceOptions.check({**NEEDED, **options})
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("options", "there", "missing"),
    [
        ({"subscribe": "t,u"}, "u", "v"),
        ({"subscribePattern": "^t"}, "t-x", "u"),
        ({"assign": '{"t":[0]}'}, "t", "u"),
    ],
)
def test_a_selection_knows_what_belongs_to_it(
    options: dict[str, str], there: str, missing: str
) -> None:
    given = {"kafka.bootstrap.servers": "h:1", **options}
    selection = SourceOptions.parse(given, streaming=True).selection
    assert selection.has(TopicPartition(there, 0))
    assert not selection.has(TopicPartition(missing, 0))
    assert selection.has(TopicPartition(there, 1)) is ("assign" not in options)
