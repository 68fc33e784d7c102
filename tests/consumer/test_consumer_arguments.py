"""The checks of what users pass in; `test_consumer.py` meets them through the methods."""

import re
import warnings
from typing import Any, NamedTuple

import pytest

from aiokafka_lite.checks.offset_arguments import checked_offsets
from aiokafka_lite.consumer.consumer_arguments import (
    check_server_pattern,
    checked_partitions,
    checked_pattern,
    checked_specs,
    checked_timeout_s,
    checked_timestamps,
    checked_topics,
    int_from,
    warn_about_options_without_effect,
)
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.errors import IllegalOperation
from aiokafka_lite.model import SubscriptionPattern, TopicPartition
from tests.consumer.batches import tps

P0, P1 = tps(0, 1)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (5, True), (0, False), (-1, False), ("1", False), (1.0, False), (True, False)],
)
def test_only_ints_from_the_minimum_on_count(value: object, expected: bool) -> None:
    assert int_from(1, value) == (value if expected else None)


@pytest.mark.parametrize(("given", "seconds"), [(0, 0.0), (1500, 1.5), (0.5, 0.0005)])
def test_a_poll_waits_as_long_as_it_is_told(given: float, seconds: float) -> None:
    assert checked_timeout_s(given) == seconds


@pytest.mark.parametrize(
    ("given", "kind"),
    [(-1, ValueError), (float("nan"), ValueError), (None, TypeError), ("4111 soon", TypeError)],
)
def test_what_is_no_time_to_wait_is_refused_in_few_words(given: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="timeout_ms=") as caught:
        checked_timeout_s(given)
    assert len(str(caught.value)) < 100


def test_partitions_are_topic_partitions_and_nothing_that_looks_like_one() -> None:
    assert checked_partitions(iter(tps(0, 1))) == [*tps(0, 1)]
    with pytest.raises(TypeError, match="not <tuple, 2 long>"):
        checked_partitions([("t", 0)])
    with pytest.raises(TypeError, match=r"^a text of its own, not <str, 1 long>"):
        checked_partitions(["t"], "a text of its own")


class FaustsPartition(NamedTuple):
    topic: str
    partition: int


def test_a_named_tuple_of_the_same_fields_is_a_topic_partition() -> None:
    """As `faust.types.TP`, which faust passes to aiokafka."""
    mine = FaustsPartition("t", 0)
    found = [
        *checked_partitions([mine]),
        *checked_offsets({mine: 7}),
        *checked_timestamps({mine: 7}),  # type: ignore[dict-item]
    ]
    assert found == [P0, P0, P0]
    assert {type(each) for each in found} == {TopicPartition}


@pytest.mark.parametrize("topics", [["t", "u"], ("t", "u"), {"t": 1, "u": 2}])
def test_topics_may_come_in_any_iterable(topics: object) -> None:
    assert checked_topics(topics) == ["t", "u"]


@pytest.mark.parametrize("topics", ["t", 5, None, [b"t"], [["t"]]])
def test_topics_that_are_no_list_of_strings_are_refused(topics: object) -> None:
    with pytest.raises(TypeError, match="Topics should be list of strings"):
        checked_topics(topics)


def test_nothing_is_said_about_options_that_are_not_given() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_about_options_without_effect(None, None)
    with pytest.warns(
        DeprecationWarning, match="api_version has no effect: versions are negotiated"
    ):
        warn_about_options_without_effect(None, "auto")


def test_a_pattern_may_be_text_or_compiled() -> None:
    for pattern in ("ord.*", re.compile("ord.*")):
        checked = checked_pattern(pattern)
        assert checked.match("orders")
        assert not checked.match("my-orders"), "from the beginning, as re.match"


def test_the_flags_of_a_compiled_pattern_count() -> None:
    assert checked_pattern(re.compile("orders-.*", re.IGNORECASE)).match("Orders-EU")
    assert checked_pattern(re.compile("ord ers # all", re.VERBOSE)).match("orders")


@pytest.mark.parametrize("pattern", [5, b"ord.*", re.compile(b"ord.*"), None, ["ord.*"]])
def test_a_pattern_of_another_type_is_refused(pattern: object) -> None:
    with pytest.raises(TypeError, match="pattern must be a str, not"):
        checked_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(", "[a", "*"])
def test_a_pattern_that_is_no_regular_expression_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(ValueError, match="is no regular expression: ") as caught:
        checked_pattern(pattern)
    assert repr(pattern) in str(caught.value)
    assert isinstance(caught.value.__cause__, re.error)


def test_a_pattern_for_the_broker_needs_a_group_in_which_brokers_assign() -> None:
    pattern = SubscriptionPattern("ord.*")
    for protocol in ("consumer", "auto"):
        check_server_pattern(pattern, ConsumerConfig(group_id="g", group_protocol=protocol))
    for config in (ConsumerConfig(group_id="g"), ConsumerConfig(group_protocol="consumer")):
        with pytest.raises(IllegalOperation, match="group_protocol='consumer'"):
            check_server_pattern(pattern, config)


@pytest.mark.parametrize("regex", ["", None, 5])
def test_a_pattern_for_the_broker_is_text(regex: Any) -> None:
    config = ConsumerConfig(group_id="g", group_protocol="consumer")
    with pytest.raises(TypeError, match="has no regular expression"):
        check_server_pattern(SubscriptionPattern(regex), config)


def test_timestamps_come_back_in_a_mapping_of_their_own() -> None:
    """aiokafka changes the caller's."""
    given = {P0: 0, P1: 1_700_000_000_000}
    checked = checked_timestamps(given)
    assert checked == given
    assert checked is not given


def test_negative_times_are_refused_with_aiokafkas_text() -> None:
    with pytest.raises(ValueError, match=r"The target time for partition .* is -1") as caught:
        checked_timestamps({P0: 5, P1: -1})
    assert "The target time cannot be negative." in str(caught.value)
    assert "partition=1" in str(caught.value)


def test_timestamps_are_asked_for_by_topic_partition() -> None:
    with pytest.raises(TypeError, match="TopicPartition"):
        checked_timestamps({("t", 0): 5})  # type: ignore[dict-item]


@pytest.mark.parametrize("check", [checked_timestamps, checked_specs])
def test_a_list_where_a_dict_is_wanted_is_told(check: Any) -> None:
    with pytest.raises(TypeError, match=r"is of type list; give a dict of TopicPartition to"):
        check([P0])
