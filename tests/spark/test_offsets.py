"""What is decided with offsets alone. Source: KafkaMicroBatchStream,
KafkaOffsetRangeCalculator."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import (
    OffsetRange,
    Offsets,
    backlog,
    group_ranges,
    made_anew,
    partitions_from_json,
    plan_ranges,
    rate_limit,
    split_ranges,
)

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)

partitions = st.builds(
    TopicPartition, st.text("abc.-_", min_size=1, max_size=3), st.integers(0, 12)
)
some_offsets = st.dictionaries(partitions, st.integers(0, 2**62), max_size=8)
some_ranges = st.dictionaries(
    partitions, st.tuples(st.integers(0, 10**6), st.integers(0, 10**5)), max_size=8
).map(lambda found: [OffsetRange(*tp, start, start + size) for tp, (start, size) in found.items()])


# JSON…


def test_offsets_are_written_compact_and_in_order_as_sparks_own_source_does() -> None:
    offsets = Offsets({B0: 3, TopicPartition("a", 10): 2, TopicPartition("a", 2): 1})
    assert offsets.to_json() == '{"a":{"2":1,"10":2},"b":{"0":3}}'


@given(some_offsets)
def test_offsets_come_back_from_their_json_however_it_is_spaced(
    found: dict[TopicPartition, int],
) -> None:
    offsets = Offsets(found)
    assert Offsets.from_json(offsets.to_json()) == offsets
    assert Offsets.from_json(json.dumps(offsets.to_nested(), indent=1)) == offsets
    assert Offsets.from_nested(json.loads(offsets.to_json())) == offsets


@pytest.mark.parametrize(
    "text",
    ["", "nope", "[]", "1", '{"a":1}', '{"a":{"x":1}}', '{"a":{"0":"1"}}', '{"a":{"-1":1}}',
     '{"a":{"0":true}}'],
)  # fmt: skip
def test_other_json_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r'expected e\.g\. \{"topicA":\{"0":23'):
        Offsets.from_json(text)


def test_partitions_are_read_from_json() -> None:
    assert partitions_from_json('{"b":[0], "a":[1,0,1]}') == (A0, A1, B0)
    for text in ("", "{", '{"a":0}', '{"a":["0"]}', '{"a":[-1]}', '{"a":[true]}'):
        with pytest.raises(ValueError, match=r'expected e\.g\. \{"topicA":\[0,1\]'):
            partitions_from_json(text)


# Ranges…


def test_what_lies_between_two_offsets_is_planned_in_order() -> None:
    plan = plan_ranges({A0: 5, A1: 7, B0: 1}, {B0: 4, A0: 9, A1: 7}, {})
    assert plan.ranges == (OffsetRange("a", 0, 5, 9), OffsetRange("b", 0, 1, 4))
    assert plan.losses == ()
    assert str(plan.ranges[0]) == "a-0 from 5 to 9"


def test_new_partitions_are_read_from_where_they_begin() -> None:
    plan = plan_ranges({A0: 5}, {A0: 5, A1: 4, B0: 0}, {A1: 0, B0: 0})
    assert plan.ranges == (OffsetRange("a", 1, 0, 4),)
    assert plan.losses == ()


@pytest.mark.parametrize(
    ("start", "end", "earliest", "said"),
    [
        ({A0: 5, B0: 1}, {A0: 5}, {}, "b-0 are gone"),
        ({}, {A0: 9}, {A0: 4}, "added partition a-0 starts from 4 instead of 0"),
        ({A0: 1}, {A0: 1, A1: 3}, {}, "a-1 came and went"),
        ({A0: 8}, {A0: 3}, {}, "a-0's offset was changed from 8 to 3"),
    ],
)
def test_what_cannot_be_read_any_more_is_said(
    start: dict[TopicPartition, int],
    end: dict[TopicPartition, int],
    earliest: dict[TopicPartition, int],
    said: str,
) -> None:
    (loss,) = plan_ranges(start, end, earliest).losses
    assert said in loss


@given(some_offsets, some_offsets)
def test_a_plan_covers_every_offset_between_exactly_once(
    start: dict[TopicPartition, int], end: dict[TopicPartition, int]
) -> None:
    plan = plan_ranges(start, end, dict.fromkeys(end.keys() - start.keys(), 0))
    assert {each.topic_partition: (each.start, each.end) for each in plan.ranges} == {
        tp: (start.get(tp, 0), offset) for tp, offset in end.items() if offset > start.get(tp, 0)
    }
    went_back = {tp for tp in start.keys() & end.keys() if end[tp] < start[tp]}
    assert len(plan.losses) == len(went_back) + bool(start.keys() - end.keys())


# Splits…


def covered(ranges: list[OffsetRange]) -> dict[TopicPartition, list[tuple[int, int]]]:
    """The ranges by partition, with neighbours joined."""
    joined: dict[TopicPartition, list[tuple[int, int]]] = {}
    for each in ranges:
        parts = joined.setdefault(each.topic_partition, [])
        if parts and parts[-1][1] == each.start:
            parts[-1] = (parts[-1][0], each.end)
        else:
            parts.append((each.start, each.end))
    return joined


@given(
    some_ranges,
    st.none() | st.integers(1, 50),
    st.none() | st.integers(5000, 10**6),
)
def test_splits_cover_the_same_offsets_and_none_is_empty(
    ranges: list[OffsetRange], min_partitions: int | None, max_records: int | None
) -> None:
    split = split_ranges(ranges, min_partitions, max_records)
    assert covered(split) == covered([each for each in ranges if each.size])
    assert all(each.size > 0 for each in split)
    if max_records is not None:
        assert all(each.size <= max_records for each in split)


def sizes(ranges: Iterable[OffsetRange]) -> list[int]:
    return [each.size for each in ranges]


@pytest.mark.parametrize(
    ("ranges", "min_partitions", "expected"),
    [
        ([100], 4, [25, 25, 25, 25]),
        ([100], None, [100]),
        ([5, 5, 5], 3, [5, 5, 5]),
        ([100, 10], 4, [33, 33, 34, 10]),  # small ranges stay whole, out of the proportion
        ([3], 10, [1, 1, 1]),
        ([10, 0], 2, [5, 5]),
    ],
)
def test_large_ranges_are_cut_for_about_min_partitions(
    ranges: list[int], min_partitions: int | None, expected: list[int]
) -> None:
    made = [OffsetRange("a", number, 7, 7 + size) for number, size in enumerate(ranges)]
    assert sizes(split_ranges(made, min_partitions)) == expected


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        (None, [[5], [20], [1], [1], [1]]),
        (1, [[5], [20], [1], [1], [1]]),
        (3, [[5], [20], [1, 1, 1]]),
        (6, [[5, 20], [1, 1, 1]]),
        (99, [[5, 20, 1, 1, 1]]),
    ],
)
def test_small_ranges_share_a_task_until_it_has_enough_offsets(
    least: int | None, expected: list[list[int]]
) -> None:
    ranges = [OffsetRange("t", p, 10, 10 + size) for p, size in enumerate([5, 20, 1, 1, 1])]
    tasks = group_ranges(ranges, least)
    assert [sizes(task) for task in tasks] == expected
    assert [part for task in tasks for part in task] == ranges
    assert group_ranges([], least) == []


def test_max_records_cuts_evenly_and_min_partitions_goes_on_from_there() -> None:
    (whole,) = [OffsetRange("a", 0, 0, 100)]
    assert sizes(split_ranges([whole], None, 40)) == [33, 33, 34]
    assert len(split_ranges([whole], 6, 40)) == 6


# Limits…


@given(st.integers(1, 10**6), some_ranges)
def test_a_limit_is_shared_in_proportion_and_nobody_starves(
    limit: int, ranges: list[OffsetRange]
) -> None:
    start = {each.topic_partition: each.start for each in ranges}
    end = {each.topic_partition: each.end for each in ranges}
    limited = rate_limit(limit, start, end)
    total = sum(sizes(ranges))
    assert limited.keys() == end.keys()
    for each in ranges:
        tp = each.topic_partition
        taken = limited[tp] - start[tp]
        assert 0 <= taken <= each.size
        if each.size:
            share = limit * each.size / total
            assert taken == each.size if share >= each.size else abs(taken - share) <= 1
            assert taken >= 1
    assert backlog(start, limited) <= limit + len(ranges)


def test_a_limit_above_the_backlog_is_none() -> None:
    assert rate_limit(100, {A0: 1, A1: 2}, {A0: 5, A1: 2}) == {A0: 5, A1: 2}
    assert rate_limit(1, {A0: 5}, {A0: 5}) == {A0: 5}
    assert rate_limit(1, {A0: 8}, {A0: 3}) == {A0: 3}  # said by the plan
    assert backlog({A0: 8}, {A0: 3, A1: 4}) == 4


def test_ids_of_topics_stand_beside_the_offsets_in_the_json() -> None:
    text = '{"t":{"0":5},"u.v":{"1":6},"t@AbC-_9":{}}'
    found = Offsets.from_json(text)
    assert found == {TopicPartition("t", 0): 5, TopicPartition("u.v", 1): 6}
    assert found.topic_ids == {"t": "AbC-_9"}
    assert found.to_json() == text
    assert Offsets(found).to_json() == '{"t":{"0":5},"u.v":{"1":6}}'
    assert found.of_logs({"none": "x"}, {}).topic_ids == {}


def test_leader_epochs_stand_beside_the_offsets_in_the_json() -> None:
    text = '{"t":{"0":5,"1":6,"2":7,"10":8},"u.v":{"1":6},"@t@0-1:7,2:9,10:9":{},"@u.v@1:0":{}}'
    found = Offsets.from_json(text)
    assert found.epochs == {
        **{TopicPartition("t", partition): epoch for partition, epoch in enumerate([7, 7, 9])},
        TopicPartition("t", 10): 9,
        TopicPartition("u.v", 1): 0,
    }
    assert found.to_json() == text
    assert Offsets(found).epochs == {}
    unknown = {TopicPartition("t", 0): -1, TopicPartition("other", 0): 3}
    assert found.of_logs({}, unknown).epochs == {}
    for wrong in ("@t@", "@t", "@t@0", "@t@0:x", "@t@a-b:1", "@t@0:-1", "@t@0:1,"):
        with pytest.raises(ValueError, match=r"expected e\.g\. "):
            Offsets.from_json(f'{{"{wrong}":{{}}}}')


def test_offsets_take_along_what_tells_their_logs() -> None:
    first = Offsets({A0: 1, A1: 2, B0: 3}).of_logs({"a": "A", "b": "B"}, {A0: 1, A1: 1, B0: 1})
    other = Offsets({A1: 5, B0: 6}).of_logs({"b": "C"}, {A1: 2})
    both = first.with_others(other, {A0: 9})
    assert both == {A0: 9, A1: 5, B0: 6}
    assert (both.topic_ids, both.epochs) == ({"a": "A", "b": "C"}, {A1: 2})
    assert first == {A0: 1, A1: 2, B0: 3}


def test_a_topic_was_made_anew_if_both_its_ids_are_known() -> None:
    assert made_anew({"t": "1", "u": "1", "v": "1"}, {"t": "1", "u": "2", "w": "1"}) == {"u"}
