"""One value in place of a list, and values of another kind, are told before anything is sent."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from aiokafka_lite import TopicPartition
from aiokafka_lite.checks.item_lists import (
    dict_of,
    list_of,
    listed,
    one_of,
    partition_of,
    partitions_of,
)
from aiokafka_lite.errors import IllegalArgumentError, InvalidTopicError

TP = TopicPartition("t", 0)
ONE_ID = uuid4()


def told(call: Any, *arguments: object) -> str:
    with pytest.raises(IllegalArgumentError) as caught:
        call(*arguments)
    return str(caught.value.args[0])


def test_what_can_be_iterated_is_a_list() -> None:
    assert list_of("topics", ["a", ONE_ID], str, UUID) == ["a", ONE_ID]
    assert list_of("topics", (each for each in "ab"), str) == ["a", "b"]
    assert list_of("topics", {"a": 1}, str) == ["a"]
    assert list_of("ids", range(2), int) == [0, 1]
    assert listed("topics", ["a", 1], "anything") == ["a", 1]


@pytest.mark.parametrize("value", ["ab", b"ab", None, 5])
def test_a_text_is_no_list(value: object) -> None:
    assert told(list_of, "topics", value, str, UUID) == (
        f"topics: {value!r} is no list; give a list of str or UUID"
    )


def test_one_tuple_is_no_list_of_tuples() -> None:
    assert told(list_of, "partitions", TP, TopicPartition).startswith("partitions: TopicPart")
    assert told(partitions_of, "partitions", TP).startswith("partitions: TopicPartition(topic='t'")


@pytest.mark.parametrize(("value", "kind"), [(5, str), (None, str), (True, int), ("5", int)])
def test_each_value_is_of_the_kind(value: object, kind: type) -> None:
    assert told(list_of, "ids", [value], kind) == (
        f"ids has {value!r}, which is no {kind.__name__}; give a list of {kind.__name__}"
    )


def test_a_plain_tuple_is_a_partition_too() -> None:
    found: Any = partitions_of("partitions", [("t", 0), TP])  # type: ignore[list-item]
    assert found == [TP, TP]
    assert {type(each) for each in found} == {TopicPartition}


@pytest.mark.parametrize("value", ["t", ("t",), 5, None])
def test_anything_else_is_no_partition(value: object) -> None:
    assert told(partition_of, "partitions", value) == (
        f"partitions has {value!r}, which is no TopicPartition; give"
        " TopicPartition(topic, partition)"
    )
    assert "from 0 to" in told(partition_of, "partitions", ("t", "0"))
    with pytest.raises(InvalidTopicError):
        partition_of("partitions", ("a/b", 0))


def test_a_dict_is_a_copy() -> None:
    given = {"a": 1}
    found = dict_of("sizes", given, "{name: size}", int)
    assert found == given
    assert found is not given


def test_a_dict_has_the_form() -> None:
    assert told(dict_of, "sizes", ["a"], "{name: size}") == (
        "sizes: ['a'] is no dict; give {name: size}"
    )
    assert told(dict_of, "sizes", {"a": "1"}, "{name: size}", int) == (
        "sizes: '1' of 'a' is no value of it; give {name: size}"
    )
    assert dict_of("sizes", {"a": "1"}, "{name: anything}") == {"a": "1"}


def test_one_value_is_of_its_kind() -> None:
    assert one_of("plan", TP, TopicPartition) is TP
    assert told(one_of, "plan", 5, TopicPartition) == "plan: 5 is no TopicPartition; give one"


def test_a_long_value_is_told_in_part() -> None:
    assert len(told(list_of, "topics", "x" * 10_000, str)) < 300
