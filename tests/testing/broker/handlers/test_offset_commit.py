"""OffsetCommit: which partitions take an offset, and from whom."""

from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.errors import GroupLoadInProgressError, TopicAuthorizationFailedError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker.handlers import offset_commit
from aiokafka_lite.testing.broker.state.groups.group_offsets import StoredOffset
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request

BEGINNING_MS = 1_767_225_600_000  # the fake clock's


def commit(
    bench: Bench,
    *partitions: int,
    version: int = 9,
    node_id: int = 1,
    name: str = "t",
    topic_id: UUID = ZERO_UUID,
    metadata: str | None = "m",
    **fields: Any,
) -> list[int]:
    """Commit offset 5 of leader epoch 3; return the errors."""
    topic = OffsetCommitRequestTopic(
        name=name,
        topic_id=topic_id,
        partitions=[
            OffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=5,
                committed_leader_epoch=3,
                committed_metadata=metadata,
            )
            for partition in partitions
        ],
    )
    request = OffsetCommitRequest(**{"group_id": "g", "topics": [topic], **fields})
    answer = bench.ask(offset_commit.HANDLER, request, version, node_id)
    return [partition.error_code for topic in answer.topics for partition in topic.partitions]


@pytest.mark.parametrize("version", range(2, 11))
def test_each_version_commits(version: int) -> None:
    bench = Bench()
    topic = bench.topic(partitions=2)
    assert commit(bench, 0, 1, version=version, topic_id=topic.topic_id) == [0, 0]
    kept = StoredOffset(5, 3 if version >= 6 else -1, "m", BEGINNING_MS)
    assert bench.groups.view("g").offsets == {
        TopicPartition("t", 0): kept,
        TopicPartition("t", 1): kept,
    }
    assert bench.groups.view("g").state == "Empty"


def test_no_metadata_is_kept_as_empty() -> None:
    bench = Bench()
    bench.topic()
    commit(bench, 0, metadata=None)
    assert bench.groups.view("g").offsets[TopicPartition("t", 0)].metadata == ""


def test_partitions_that_do_not_exist_fail_alone() -> None:
    bench = Bench()
    bench.topic()
    assert commit(bench, 0, 7) == [0, 3]
    assert commit(bench, 0, name="unknown") == [3]
    assert commit(bench, 0, topic_id=UUID(int=7), version=10) == [100]
    # Without a partition that exists nobody looks for the group.
    assert commit(bench, 7, group_id="other", generation_id_or_member_epoch=5) == [3]
    assert bench.groups.view("other").state == "Dead"


@pytest.mark.parametrize(("version", "code"), [(8, 22), (9, 69)])
def test_members_of_groups_that_do_not_exist(version: int, code: int) -> None:
    """A member of a group that does not exist has an error of its own (KIP-848)."""
    bench = Bench()
    bench.topic()
    member: dict[str, Any] = {"generation_id_or_member_epoch": 1, "member_id": "m"}
    assert commit(bench, 0, version=version, **member) == [code]


def test_members_commit_and_strangers_do_not() -> None:
    bench = Bench()
    bench.topic()
    membership = bench.groups.find_or_create("g").membership
    membership.join(join_request(), lambda _: None)
    (member_id,) = membership.group.members
    member: dict[str, Any] = {"generation_id_or_member_epoch": 1, "member_id": member_id}
    assert commit(bench, 0, **member) == [27]
    membership.sync(member_id, None, 1, {}, lambda _: None)
    assert commit(bench, 0, **member) == [0]
    assert commit(bench, 0) == [25]
    assert commit(bench, 0, **{**member, "generation_id_or_member_epoch": 0}) == [22]


def test_metadata_has_a_limit() -> None:
    bench = Bench()
    bench.topic()
    assert commit(bench, 0, metadata="x" * 4097) == [12]
    assert bench.groups.view("g").offsets == {}


def test_another_node_and_faults() -> None:
    bench = Bench(2)
    bench.topic(partitions=2)
    bench.groups.nodes.move("g", 2)
    assert commit(bench, 0, 1) == [16, 16]
    bench.groups.nodes.move("g", None)
    assert commit(bench, 0) == [15]
    bench.groups.nodes.move("g", 1)
    bench.faults.fail(OffsetCommitRequest, GroupLoadInProgressError)
    assert commit(bench, 0, 1) == [14, 14]
    bench.faults.fail(OffsetCommitRequest, TopicAuthorizationFailedError, topic_partition=("t", 1))
    assert commit(bench, 0, 1) == [0, 29]
    assert list(bench.groups.view("g").offsets) == [TopicPartition("t", 0)]
