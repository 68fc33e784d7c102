"""OffsetFetch: one group or several, by name or by id, partitions or everything."""

from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.errors import (
    GroupAuthorizationFailedError,
    GroupLoadInProgressError,
    UnstableOffsetCommitError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker.handlers import offset_fetch
from aiokafka_lite.testing.broker.state.groups.group_offsets import StoredOffset
from tests.testing.broker.bench import Bench

Told = list[tuple[int, int, int, str | None, int]]
NOTHING = (-1, -1, "", 0)


def committed(nodes: int = 1) -> Bench:
    """A cluster where group g has committed offset 5 of t-1."""
    bench = Bench(nodes)
    bench.topic(partitions=2)
    offsets = bench.groups.find_or_create("g").offsets
    offsets.commit(TopicPartition("t", 1), StoredOffset(5, 3, "m"))
    return bench


def told(topics: list[Any]) -> Told:
    return [
        (
            p.partition_index,
            p.committed_offset,
            p.committed_leader_epoch,
            p.metadata,
            p.error_code,
        )
        for topic in topics
        for p in topic.partitions
    ]


def fetch_one(
    bench: Bench, *partitions: int, version: int, everything: bool = False
) -> tuple[int, Told]:
    """(error, what is told) as versions up to 7 have it."""
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=list(partitions))]
    request = OffsetFetchRequest(group_id="g", topics=None if everything else topics)
    answer = bench.ask(offset_fetch.HANDLER, request, version)
    return answer.error_code, told(answer.topics)


def fetch(
    bench: Bench,
    *partitions: int,
    version: int = 9,
    topic_id: UUID = ZERO_UUID,
    everything: bool = False,
) -> tuple[int, Told]:
    """(error, what is told) as newer versions have it."""
    topics = [
        OffsetFetchRequestTopics(name="t", topic_id=topic_id, partition_indexes=list(partitions))
    ]
    group = OffsetFetchRequestGroup(group_id="g", topics=None if everything else topics)
    answer = bench.ask(
        offset_fetch.HANDLER, OffsetFetchRequest(groups=[group], require_stable=True), version
    )
    (found,) = answer.groups
    assert found.group_id == "g"
    return found.error_code, told(found.topics)


@pytest.mark.parametrize("version", range(1, 8))
def test_offsets_of_one_group(version: int) -> None:
    epoch = 3 if version >= 5 else -1
    assert fetch_one(committed(), 1, 0, 9, version=version) == (
        0,
        [(1, 5, epoch, "m", 0), (0, *NOTHING), (9, *NOTHING)],
    )


@pytest.mark.parametrize("version", range(2, 8))
def test_everything_of_one_group(version: int) -> None:
    epoch = 3 if version >= 5 else -1
    expected = (0, [(1, 5, epoch, "m", 0)])
    assert fetch_one(committed(), version=version, everything=True) == expected


@pytest.mark.parametrize("version", [8, 9, 10])
def test_offsets_of_groups(version: int) -> None:
    bench = committed()
    topic_id = bench.cluster.topics["t"].topic_id
    expected = [(1, 5, 3, "m", 0), (0, *NOTHING)]
    assert fetch(bench, 1, 0, version=version, topic_id=topic_id) == (0, expected)
    assert fetch(bench, version=version, everything=True) == (0, expected[:1])


def test_several_groups_each_with_its_answer() -> None:
    """OffsetFetch answers for several groups, each with its own result (KIP-709)."""
    bench = committed(2)
    bench.groups.nodes.move("g", 1)
    bench.groups.nodes.move("elsewhere", 2)
    bench.groups.nodes.move("unknown", 1)
    names = ["g", "elsewhere", "unknown"]
    groups = [OffsetFetchRequestGroup(group_id=name, topics=None) for name in names]
    answer = bench.ask(offset_fetch.HANDLER, OffsetFetchRequest(groups=groups), 9)
    assert [(g.group_id, g.error_code, len(g.topics)) for g in answer.groups] == [
        ("g", 0, 1),
        ("elsewhere", 16, 0),
        ("unknown", 0, 0),
    ]


def test_topic_ids_that_are_not_known() -> None:
    """OffsetFetch version 10 answers an error for topic ids that are not known (KIP-848)."""
    expected = (0, [(1, -1, -1, "", 100)])
    assert fetch(committed(), 1, version=10, topic_id=UUID(int=7)) == expected


def test_errors_of_a_group_stand_where_the_version_has_a_place_for_them() -> None:
    for version in (1, 2, 7):
        bench = committed()
        bench.faults.fail(OffsetFetchRequest, GroupLoadInProgressError)
        expected = (14, []) if version >= 2 else (0, [(1, -1, -1, "", 14)])
        assert fetch_one(bench, 1, version=version) == expected
    bench = committed()
    bench.faults.fail(OffsetFetchRequest, GroupAuthorizationFailedError)
    assert fetch(bench, 1) == (30, [])


def test_an_unstable_offset_is_an_error_of_its_partition() -> None:
    """An unstable offset is an error of its partition (KIP-447)."""
    bench = committed()
    bench.faults.fail(OffsetFetchRequest, UnstableOffsetCommitError, topic_partition=("t", 1))
    assert fetch(bench, 0, 1) == (0, [(0, *NOTHING), (1, -1, -1, "", 88)])
    assert fetch(bench, 1) == (0, [(1, 5, 3, "m", 0)])


def test_another_node() -> None:
    bench = committed(2)
    bench.groups.nodes.move("g", 2)
    assert fetch(bench, 1) == (16, [])
    assert fetch_one(bench, 1, version=7) == (16, [])
    bench.groups.nodes.move("g", None)
    assert fetch(bench, 1) == (15, [])


def test_what_an_open_transaction_may_change_is_unstable() -> None:
    """An offset in an open transaction is unstable if `require_stable` is set (KIP-447)."""
    bench = committed()
    group = bench.groups.find_or_create("g")
    partition = TopicPartition("t", 1)
    group.offsets.commit_in_transaction(partition, StoredOffset(9), 7, 0)
    assert fetch(bench, 1, 0) == (0, [(1, -1, -1, "", 88), (0, *NOTHING)])
    assert fetch(bench, everything=True) == (0, [(1, -1, -1, "", 88)])
    assert fetch_one(bench, 1, version=7) == (0, [(1, 5, 3, "m", 0)])
    group.offsets.end_transaction(7, is_commit=True)
    assert fetch(bench, 1) == (0, [(1, 9, -1, "", 0)])
