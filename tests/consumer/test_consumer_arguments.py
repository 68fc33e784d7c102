"""The checks of what users pass in; `test_consumer.py` meets them through the methods."""

import warnings

import pytest

from aiokafka_lite.consumer.consumer_arguments import (
    check_partitions,
    checked_topics,
    is_int_from,
    warn_about_options_without_effect,
)
from tests.consumer.batches import tps


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (5, True), (0, False), (-1, False), ("1", False), (1.0, False)],
)
def test_only_ints_from_the_minimum_on_count(value: object, expected: bool) -> None:
    assert is_int_from(1, value) is expected


def test_partitions_are_topic_partitions_and_nothing_that_looks_like_one() -> None:
    check_partitions(tps(0, 1))
    with pytest.raises(TypeError, match="not tuple"):
        check_partitions([("t", 0)])
    with pytest.raises(TypeError, match=r"^a text of its own, not str"):
        check_partitions(["t"], "a text of its own")


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
        warn_about_options_without_effect(None, None, None)
    with pytest.warns(
        DeprecationWarning, match="api_version has no effect: versions are negotiated"
    ):
        warn_about_options_without_effect(None, "auto", None)
