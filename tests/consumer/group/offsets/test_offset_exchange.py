"""OffsetCommit and OffsetFetch: what is asked, and what answers of any version mean (KIP-848)."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.group.offsets.offset_exchange import (
    FetchedOffset,
    commit_errors,
    commit_request,
    fetch_error,
    fetch_request,
    fetched_offsets,
    knows_topic_ids,
    names_topics_by_id,
)
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import GroupLoadInProgressError, UnknownTopicOrPartitionError
from aiokafka_lite.model import ConsumerGroupMetadata, TopicPartition
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.cluster.support.answers import ID_A
from tests.consumer.cluster import cluster

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
UNKNOWN_ID = UUID(int=0xDEAD)
MEMBER = ConsumerGroupMetadata("g", 5, "m-1", "i-1")

COMMIT_VERSIONS = range(OffsetCommitRequest.versions.min, OffsetCommitRequest.versions.max + 1)
FETCH_VERSIONS = range(OffsetFetchRequest.versions.min, OffsetFetchRequest.versions.max + 1)


def metadata() -> MetadataSnapshot:
    """Topic a with an id; topic b is not known."""
    return cluster({A0: 1, A1: 1}, ID_A)


def over_the_wire(message: Any, version: int) -> Any:
    return type(message).decode(memoryview(b"".join(message.encode(version))), version)


# Topic ids…


@pytest.mark.parametrize(
    ("topics", "expected"), [(["a"], True), (["a", "b"], False), (["b"], False), ([], True)]
)
def test_topics_are_named_by_id_if_all_of_them_have_one(topics: list[str], expected: bool) -> None:
    assert knows_topic_ids(topics, metadata()) is expected


# Committing…


@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_2e_12_a_commit_tells_who_commits_and_each_offset(version: int) -> None:
    """With the leader epoch from version 6 on (KIP-320)."""
    offsets = {A0: CommittedOffset(7, 3, "note"), A1: CommittedOffset(0)}
    member = MEMBER if version >= 7 else MEMBER._replace(group_instance_id=None)
    told = over_the_wire(commit_request(member, offsets, metadata()), version)
    assert (told.group_id, told.generation_id_or_member_epoch, told.member_id) == ("g", 5, "m-1")
    assert told.group_instance_id == member.group_instance_id
    (topic,) = told.topics
    assert (topic.name, topic.topic_id) == (("a", ZERO_UUID) if version <= 9 else ("", ID_A))
    epoch = 3 if version >= 6 else -1
    assert [
        (p.partition_index, p.committed_offset, p.committed_leader_epoch, p.committed_metadata)
        for p in topic.partitions
    ] == [(0, 7, epoch, "note"), (1, 0, -1, "")]


def test_a_commit_from_outside_of_the_group_brings_only_its_name() -> None:
    """After assign(): generation -1 and no member id."""
    told = commit_request(ConsumerGroupMetadata("g"), {A0: CommittedOffset(1)}, metadata())
    assert told.generation_id_or_member_epoch == -1
    assert (told.member_id, told.group_instance_id) == ("", None)


def test_partitions_of_a_commit_are_told_by_topic_in_their_order() -> None:
    offsets = dict.fromkeys([A1, B0, A0], CommittedOffset(1))
    told = commit_request(MEMBER, offsets, metadata())
    assert [
        (topic.name, [partition.partition_index for partition in topic.partitions])
        for topic in told.topics
    ] == [("a", [1, 0]), ("b", [0])]


def test_a_topic_without_id_can_be_told_up_to_the_last_version_with_names() -> None:
    request = commit_request(MEMBER, {B0: CommittedOffset(1)}, metadata())
    assert over_the_wire(request, OffsetCommitRequest.topic_ids_since - 1).topics[0].name == "b"


def commit_answer(codes: dict[tuple[str, UUID], dict[int, int]]) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=name,
                topic_id=topic_id,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=index, error_code=code)
                    for index, code in partitions.items()
                ],
            )
            for (name, topic_id), partitions in codes.items()
        ]
    )


@pytest.mark.parametrize("version", COMMIT_VERSIONS)
def test_the_errors_of_a_commit_are_read_by_partition(version: int) -> None:
    request = commit_request(MEMBER, {A0: CommittedOffset(1), A1: CommittedOffset(2)}, metadata())
    answer = commit_answer({("a", ID_A): {0: 0, 1: 14}})
    assert commit_errors(over_the_wire(answer, version), request) == {A1: 14}


def test_a_commit_without_errors_has_none() -> None:
    request = commit_request(MEMBER, {A0: CommittedOffset(1), A1: CommittedOffset(2)}, metadata())
    assert commit_errors(commit_answer({("a", ID_A): {0: 0, 1: 0}}), request) == {}


def test_an_offset_is_committed_for_the_topic_it_was_read_from() -> None:
    """Not for the one that has the name by now; the answer of version 10 says only the id."""
    offsets = {A0: CommittedOffset(1, topic_id=UNKNOWN_ID), A1: CommittedOffset(2)}
    request = commit_request(MEMBER, offsets, metadata())
    assert [(topic.name, topic.topic_id) for topic in request.topics] == [
        ("a", UNKNOWN_ID),
        ("a", ID_A),
    ]
    answer = commit_answer({("", UNKNOWN_ID): {0: UnknownTopicOrPartitionError.errno}})
    assert commit_errors(answer, request) == {A0: 3}


def test_a_commit_names_topics_by_id_if_it_has_the_ids_of_all() -> None:
    assert names_topics_by_id({A0: CommittedOffset(1)}, metadata())
    assert not names_topics_by_id({A0: CommittedOffset(1), B0: CommittedOffset(1)}, metadata())
    assert names_topics_by_id({B0: CommittedOffset(1, topic_id=UNKNOWN_ID)}, metadata())


# Asking for offsets…


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_2e_15_offsets_are_asked_for_stable_where_that_can_be_said(version: int) -> None:
    """OffsetFetch asks for stable offsets from version 7 on (KIP-447, KIP-709)."""
    request = fetch_request("g", [A1, A0], metadata(), version)
    told = over_the_wire(request, version)
    assert told.require_stable is (version >= 7)
    if version < 8:
        assert told.group_id == "g"
        assert [(t.name, t.partition_indexes) for t in told.topics] == [("a", [1, 0])]
    else:
        (group,) = told.groups
        name, topic_id = ("a", ZERO_UUID) if version <= 9 else ("", ID_A)
        assert group.group_id == "g"
        assert [(t.name, t.topic_id, t.partition_indexes) for t in group.topics] == [
            (name, topic_id, [1, 0])
        ]


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_partitions_asked_for_are_told_by_topic(version: int) -> None:
    request = fetch_request(
        "g", [A1, B0, A0], metadata(), min(version, OffsetFetchRequest.topic_ids_since - 1)
    )
    topics: Any = request.groups[0].topics if request.groups else request.topics
    assert [(topic.name, topic.partition_indexes) for topic in topics] == [
        ("a", [1, 0]),
        ("b", [0]),
    ]


def fetch_answer(
    version: int,
    partitions: dict[int, tuple[int, int, int, str | None]],
    *,
    error_code: int = 0,
    name: str = "a",
    topic_id: UUID = ID_A,
) -> OffsetFetchResponse:
    """The answer for one topic; partitions are (error code, offset, epoch, metadata)."""
    kind: Any = OffsetFetchResponsePartition if version < 8 else OffsetFetchResponsePartitions
    answers = [
        kind(
            partition_index=index,
            error_code=code,
            committed_offset=offset,
            committed_leader_epoch=epoch if version >= 5 else -1,
            metadata=note,
        )
        for index, (code, offset, epoch, note) in partitions.items()
    ]
    if version < 8:
        topic = OffsetFetchResponseTopic(name=name, partitions=answers)
        return OffsetFetchResponse(error_code=error_code, topics=[topic])
    newer = OffsetFetchResponseTopics(name=name, topic_id=topic_id, partitions=answers)
    group = OffsetFetchResponseGroup(group_id="g", topics=[newer], error_code=error_code)
    return OffsetFetchResponse(groups=[group])


def read(version: int, *args: Any, **options: Any) -> dict[TopicPartition, FetchedOffset]:
    answer = over_the_wire(fetch_answer(version, *args, **options), version)
    return dict(fetched_offsets(answer, metadata()))


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_2e_15_offsets_are_read_from_answers_of_any_version(version: int) -> None:
    epoch = 4 if version >= 5 else -1
    assert read(version, {0: (0, 7, 4, "note"), 1: (0, -1, -1, "")}) == {
        A0: FetchedOffset(0, CommittedOffset(7, epoch, "note")),
        A1: FetchedOffset(0, None),
    }


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_2e_15_a_partition_with_an_error_has_no_offset(version: int) -> None:
    assert read(version, {0: (88, 7, -1, ""), 1: (0, 0, -1, None)}) == {
        A0: FetchedOffset(88, None),
        A1: FetchedOffset(0, CommittedOffset(0, -1, "")),
    }


@pytest.mark.parametrize("version", [v for v in FETCH_VERSIONS if v >= 2])
def test_2e_15_the_error_of_the_group_is_read_from_answers_of_any_version(version: int) -> None:
    code = GroupLoadInProgressError.errno
    failed = over_the_wire(fetch_answer(version, {}, error_code=code), version)
    fine = over_the_wire(fetch_answer(version, {}), version)
    assert fetch_error(failed) == code
    assert fetch_error(fine) == 0


def test_an_answer_about_a_topic_that_is_gone_from_the_metadata_names_its_id() -> None:
    found = read(10, {0: (0, 7, -1, "")}, name="", topic_id=UNKNOWN_ID)
    assert list(found) == [TopicPartition(str(UNKNOWN_ID), 0)]


@given(
    version=st.sampled_from(FETCH_VERSIONS),
    stored=st.dictionaries(
        st.integers(0, 50),
        st.tuples(st.integers(0, 2**63 - 1), st.integers(-1, 99), st.text()).map(
            lambda fields: CommittedOffset(*fields)
        ),
    ),
)
def test_what_was_committed_is_read_as_it_was(
    version: int, stored: dict[int, CommittedOffset]
) -> None:
    answered = {index: (0, *committed[:3]) for index, committed in stored.items()}
    found = read(version, answered)
    assert found == {
        TopicPartition("a", index): FetchedOffset(
            0, committed if version >= 5 else committed._replace(leader_epoch=-1)
        )
        for index, committed in stored.items()
    }
