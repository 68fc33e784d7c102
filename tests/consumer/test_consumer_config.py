"""The consumer's options: defaults, limits, and what is refused by name."""

from typing import Any

import pytest

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES

# The defaults of Java 4.x (2h-1); `fetch_buffer_bytes` is our own (A11).
DEFAULTS = {
    "max_poll_records": 500,
    "fetch_min_bytes": 1,
    "fetch_max_wait_ms": 500,
    "fetch_max_bytes": 52_428_800,
    "max_partition_fetch_bytes": 1_048_576,
    "fetch_buffer_bytes": 52_428_800,
    "prefetch_max_bytes": 0,
    "stop_timeout_ms": 30_000,
    "isolation_level": "read_uncommitted",
    "check_crcs": True,
    "auto_offset_reset": "latest",
    "exclude_internal_topics": True,
    "allow_auto_create_topics": True,
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_those_of_java_4(name: str) -> None:
    assert getattr(ConsumerConfig(), name) == DEFAULTS[name]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_poll_records": 0}, "max_poll_records=0 is below its minimum of 1"),
        ({"max_poll_records": "5"}, "max_poll_records='5' is of type str"),
        ({"fetch_min_bytes": -1}, "fetch_min_bytes=-1 is below its minimum of 0"),
        ({"check_crcs": "no"}, "check_crcs='no' is not known; set it to one of True, False"),
        ({"enable_auto_commit": "false"}, "enable_auto_commit='false' is not known; set it to one"),
        ({"client_rack": 5}, "client_rack=5 is of type int; set it to a str or None"),
        ({"assignment_rack": b"a"}, "assignment_rack=b'a' is of type bytes; set it to a str or"),
        ({"fetch_buffer_bytes": 0}, "fetch_buffer_bytes=0 is below its minimum of 1"),
        ({"prefetch_max_bytes": -1}, "prefetch_max_bytes=-1 is below its minimum of 0"),
        ({"stop_timeout_ms": -1}, "stop_timeout_ms=-1 is below its minimum of 0"),
        ({"stop_timeout_ms": None}, "stop_timeout_ms=None is of type NoneType"),
        (
            {"prefetch_max_bytes": 11, "fetch_buffer_bytes": 10},
            "prefetch_max_bytes=11 exceeds fetch_buffer_bytes=10",
        ),
        ({"isolation_level": "dirty"}, "Incorrect isolation level dirty; set isolation_level to"),
        (
            {"auto_offset_reset": "middle"},
            "auto_offset_reset='middle' is not known.*'none', 'by_duration:PT1H'",
        ),
        ({"value_deserializer": 5}, "value_deserializer=5 is of type int"),
        (
            {"fetch_max_wait_ms": 40_000},
            "fetch_max_wait_ms=40000 exceeds request_timeout_ms=30000",
        ),
    ],
)
def test_a_wrong_value_is_named_with_its_limit(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match="(?s)" + sentence.replace("(", r"\(")) as caught:
        ConsumerConfig(**options)
    assert isinstance(caught.value, KafkaConfigurationError)


def test_all_faults_come_in_one_error() -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        ConsumerConfig(max_poll_records=0, isolation_level="x", fetch_max_bytes=-1)  # type: ignore[arg-type]
    for name in ("max_poll_records", "isolation_level", "fetch_max_bytes"):
        assert name in str(caught.value)


def test_no_limit_of_records_may_be_asked_for_with_none() -> None:
    assert ConsumerConfig(max_poll_records=None).max_poll_records is None


_DEFAULTS: dict[str, tuple[Any, ...]] = {
    "session_timeout_ms": (45_000, 10_000),
    "heartbeat_interval_ms": (3000,),
    "partition_assignment_strategy": (
        None,
        (RoundRobinPartitionAssignor,),
        [RangePartitionAssignor, CooperativeStickyAssignor, RoundRobinPartitionAssignor],
    ),
}
"""The defaults of the package, then those of aiokafka."""


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("session_timeout_ms", 60_000, "group.consumer.session.timeout.ms"),
        ("heartbeat_interval_ms", 2000, "group.consumer.heartbeat.interval.ms"),
        ("partition_assignment_strategy", (RangePartitionAssignor,), "group_remote_assignor"),
    ],
)
def test_what_brokers_decide_is_refused_unless_it_is_a_default(
    name: str, value: object, remedy: str
) -> None:
    options: dict[str, Any] = {"group_id": "g", name: value}
    refused = rf"(?s){name}=.* has no effect with group_protocol='consumer'.*{remedy}"
    with pytest.raises(KafkaConfigurationError, match=refused):
        ConsumerConfig(group_protocol="consumer", **options)
    ConsumerConfig(group_protocol="auto", **options)
    for handed_on in _DEFAULTS[name]:
        ConsumerConfig(group_id="g", group_protocol="consumer", **{name: handed_on})


def test_an_assignor_of_brokers_is_refused_where_members_assign() -> None:
    with pytest.raises(KafkaConfigurationError, match="set group_protocol='consumer'"):
        ConsumerConfig(group_id="g", group_remote_assignor="range")
    config = ConsumerConfig(group_id="g", group_protocol="consumer", group_remote_assignor="range")
    assert config.group_remote_assignor == "range"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("group_instance_id", "billing-1"),
        ("group_protocol", "consumer"),
        ("group_remote_assignor", "range"),
        ("enable_auto_commit", True),
        ("enable_auto_commit", False),
        ("enable_auto_offset_store", False),
        ("adjust_committed_offsets", dict),
        ("auto_commit_interval_ms", 1),
        ("partition_assignment_strategy", (RangePartitionAssignor,)),
        ("max_poll_interval_ms", 1000),
        ("rebalance_timeout_ms", 1000),
        ("session_timeout_ms", 2000),
        ("heartbeat_interval_ms", 50_000),
        ("assignment_rack", "b"),
        ("consumer_timeout_ms", 5),
    ],
)
@pytest.mark.filterwarnings("error")
def test_an_option_of_groups_without_a_group_is_taken_in_silence(name: str, value: object) -> None:
    """It has no effect, and nothing else happens than what was asked. A wrong one is refused."""
    AIOKafkaConsumer("t", **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "name", "follows"),
    [
        ({"session_timeout_ms": 2000}, "heartbeat_interval_ms", 666),
        ({"session_timeout_ms": 10_000}, "heartbeat_interval_ms", 3000),
        ({"request_timeout_ms": 300}, "fetch_max_wait_ms", 150),
        ({"request_timeout_ms": 500}, "fetch_max_wait_ms", 500),
        ({"retry_backoff_ms": 2000}, "retry_backoff_max_ms", 2000),
    ],
)
@pytest.mark.parametrize("hands_on", [False, True])
def test_a_default_follows_the_option_that_it_depends_on(
    options: dict[str, Any], name: str, follows: int, hands_on: bool
) -> None:
    """Also when a framework hands the default on; only a value that was chosen can contradict."""
    default: dict[str, Any] = {name: getattr(ConsumerConfig(), name)} if hands_on else {}
    assert getattr(ConsumerConfig(group_id="g", **options, **default), name) == follows


@pytest.mark.parametrize(
    "options",
    [
        {"session_timeout_ms": 2000, "heartbeat_interval_ms": 2001},
        {"request_timeout_ms": 300, "fetch_max_wait_ms": 301},
        {"retry_backoff_ms": 2000, "retry_backoff_max_ms": 1999},
    ],
)
def test_chosen_values_that_contradict_each_other_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(KafkaConfigurationError, match="exceeds"):
        ConsumerConfig(group_id="g", **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"group_id": ""}, "group_id='' is no name"),
        ({"group_instance_id": 5}, "group_instance_id=5 is no name"),
        (
            {"heartbeat_interval_ms": 50_000},
            "heartbeat_interval_ms=50000 exceeds session_timeout_ms=45000",
        ),
        ({"max_poll_interval_ms": 0}, "max_poll_interval_ms=0 is below its minimum of 1"),
        ({"partition_assignment_strategy": [object]}, "which is no assignor"),
        (
            {"group_protocol": "consumer", "group_remote_assignor": ""},
            "group_remote_assignor='' is no name",
        ),
        ({"group_protocol": "quantum"}, "group_protocol='quantum' is not known"),
    ],
)
def test_a_wrong_option_of_groups_is_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=sentence):
        ConsumerConfig(**{"group_id": "billing", **options})


def test_b7_commits_are_automatic_with_a_group_unless_refused() -> None:
    assert not ConsumerConfig().commits_by_itself
    assert ConsumerConfig(group_id="g").commits_by_itself
    assert not ConsumerConfig(group_id="g", enable_auto_commit=False).commits_by_itself


def test_the_rebalance_timeout_follows_the_poll_interval() -> None:
    config = ConsumerConfig(group_id="g", max_poll_interval_ms=7000)
    assert config.rebalance_timeout_or_default_ms == 7000
    config = ConsumerConfig(group_id="g", rebalance_timeout_ms=9000)
    assert config.rebalance_timeout_or_default_ms == 9000


@pytest.mark.parametrize(
    "options",
    [{"group_id": None}, {"enable_auto_commit": False}, {"group_instance_id": None}],
)
def test_what_asks_for_no_group_is_accepted(options: dict[str, Any]) -> None:
    ConsumerConfig(**options)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("by_duration:PT-1H", "'PT-1H' is a negative duration"),
        ("by_duration:1h", "'1h' is not an ISO-8601 duration"),
        ("by_duration", "auto_offset_reset"),
        (7, "auto_offset_reset"),
    ],
)
def test_a_wrong_auto_offset_reset_is_refused_with_the_remedy(value: object, fault: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=fault):
        ConsumerConfig(auto_offset_reset=value)  # type: ignore[arg-type] # what users may do


def test_a_duration_and_a_rack_are_accepted() -> None:
    ConsumerConfig(auto_offset_reset="by_duration:P1DT12H", client_rack="a")


def test_the_rack_of_a_member_is_that_of_the_client_unless_it_has_its_own() -> None:
    assert ConsumerConfig().member_rack is None
    assert ConsumerConfig(client_rack="a").member_rack == "a"
    assert ConsumerConfig(client_rack="a", assignment_rack="b").member_rack == "b"
    assert ConsumerConfig(client_rack="a", assignment_rack="").member_rack is None


async def _adjust_later(_committed: object) -> None: ...


@pytest.mark.parametrize("adjust", [5, _adjust_later])
def test_what_adjusts_offsets_is_a_plain_function(adjust: Any) -> None:
    with pytest.raises(KafkaConfigurationError, match="is no plain function"):
        ConsumerConfig(group_id="g", adjust_committed_offsets=adjust)


def test_isolation_level_is_a_question_with_yes_or_no() -> None:
    assert not ConsumerConfig().is_read_committed
    assert ConsumerConfig(isolation_level="read_committed").is_read_committed


def test_a4_an_answer_to_a_fetch_may_have_fetch_max_bytes_and_one_large_batch() -> None:
    config = ConsumerConfig(fetch_max_bytes=150 << 20)
    assert config.max_answer_bytes(Lane.FETCH) == 250 << 20
    assert config.max_answer_bytes(Lane.COORDINATOR) == MAX_FRAME_BYTES
    assert ConsumerConfig(fetch_max_bytes=2**31 - 1).max_answer_bytes(Lane.FETCH) == 2**31 - 1
