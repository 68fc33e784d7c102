"""Requests about committed offsets, and what their responses say."""

import pytest

from aiokafka_lite import OffsetAndMetadata, TopicPartition
from aiokafka_lite.admin.groups.group_offset_messages import (
    commit_request,
    commit_results,
    delete_request,
    delete_results,
    fetch_request,
    fetch_results,
)
from aiokafka_lite.errors import (
    GroupLoadInProgressError,
    GroupSubscribedToTopicError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from aiokafka_lite.protocol.messages.offset_delete import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)


def test_a_fetch_for_several_groups() -> None:
    request = fetch_request({"a": None, "b": [T0, U0, T1]}, 9, require_stable=True)
    assert request.require_stable
    all_of_a, some_of_b = request.groups
    assert (all_of_a.group_id, all_of_a.topics) == ("a", None)
    assert some_of_b.topics is not None
    assert [(each.name, each.partition_indexes) for each in some_of_b.topics] == [
        ("t", [0, 1]),
        ("u", [0]),
    ]


def test_a_fetch_for_one_group_of_an_old_broker() -> None:
    request = fetch_request({"a": [T0]}, 6, require_stable=True)
    assert (request.group_id, request.groups) == ("a", [])
    with pytest.raises(UnsupportedVersionError, match=r"need Kafka 2\.5"):
        request.encode(6)
    assert fetch_request({"a": None}, 7, require_stable=True).topics is None


def group_of(error_code: int = 0, partition_error: int = 0) -> OffsetFetchResponseGroup:
    row = OffsetFetchResponsePartitions(
        partition_index=1,
        committed_offset=5,
        committed_leader_epoch=2,
        metadata=None,
        error_code=partition_error,
    )
    topics = [OffsetFetchResponseTopics(name="t", partitions=[row])]
    return OffsetFetchResponseGroup(group_id="a", topics=topics, error_code=error_code)


def test_what_a_fetch_found() -> None:
    found = fetch_results(None, OffsetFetchResponse(groups=[group_of()]))
    assert found == {"a": {T1: OffsetAndMetadata(5, "")}}
    old = OffsetFetchResponsePartition(partition_index=1, committed_offset=5, metadata="m")
    topic = OffsetFetchResponseTopic(name="t", partitions=[old])
    assert fetch_results("a", OffsetFetchResponse(topics=[topic])) == {"a": {T1: (5, "m")}}


def test_errors_of_a_fetch() -> None:
    for group_id, response in (
        (None, OffsetFetchResponse(groups=[group_of(14)])),
        ("a", OffsetFetchResponse(error_code=14)),
    ):
        assert isinstance(fetch_results(group_id, response)["a"], GroupLoadInProgressError)
    final = fetch_results(None, OffsetFetchResponse(groups=[group_of(partition_error=29)]))["a"]
    assert isinstance(final, dict)
    assert isinstance(final[T1], TopicAuthorizationFailedError)
    passing = fetch_results(None, OffsetFetchResponse(groups=[group_of(partition_error=88)]))["a"]
    assert isinstance(passing, UnstableOffsetCommitError)
    gone = fetch_results(None, OffsetFetchResponse(groups=[group_of(partition_error=3)]))["a"]
    assert isinstance(gone, dict)
    assert isinstance(gone[T1], UnknownTopicOrPartitionError)
    assert fetch_results(None, OffsetFetchResponse()) == {}


def test_a_commit_from_outside_the_group() -> None:
    request = commit_request("g", {T0: OffsetAndMetadata(1, "m", 3), U0: OffsetAndMetadata(2)})
    assert (request.group_id, request.member_id, request.generation_id_or_member_epoch) == (
        "g",
        "",
        -1,
    )
    assert [
        (topic.name, each.partition_index, each.committed_offset, each.committed_leader_epoch)
        for topic in request.topics
        for each in topic.partitions
    ] == [("t", 0, 1, 3), ("u", 0, 2, -1)]
    rows = [
        OffsetCommitResponsePartition(partition_index=0),
        OffsetCommitResponsePartition(partition_index=1, error_code=3),
    ]
    response = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name="t", partitions=rows)])
    results = commit_results(response)
    assert results[T0] is None
    assert isinstance(results[T1], UnknownTopicOrPartitionError)


def test_a_delete() -> None:
    request = delete_request("g", [T0, U0, T1])
    assert [(each.name, len(each.partitions)) for each in request.topics] == [("t", 2), ("u", 1)]
    rows = [
        OffsetDeleteResponsePartition(partition_index=0),
        OffsetDeleteResponsePartition(partition_index=1, error_code=86),
    ]
    response = OffsetDeleteResponse(topics=[OffsetDeleteResponseTopic(name="t", partitions=rows)])
    results = delete_results(response)
    assert results[T0] is None
    assert isinstance(results[T1], GroupSubscribedToTopicError)
