"""What is left of a commit: offsets of topics that are gone, and the error that counts (2e-12)."""

from uuid import UUID

import pytest

from aiokafka_lite.consumer.group.group_errors import COMMIT_ACTIONS, Action
from aiokafka_lite.consumer.group.offsets.commit_answer import (
    gravest,
    not_worth_another_try,
    of_former_topics,
)
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import (
    BrokerResponseError,
    CoordinatorLoadInProgressError,
    IllegalGenerationError,
    NotCoordinatorForGroupError,
    OffsetMetadataTooLargeError,
    RebalanceInProgressError,
    UnknownMemberIdError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from tests.cluster.support.answers import ID_A
from tests.consumer.cluster import cluster

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
UNKNOWN = (UnknownTopicOrPartitionError.errno, UnknownTopicIdError.errno)
LOADING = CoordinatorLoadInProgressError.errno


def test_an_offset_of_a_topic_that_was_created_anew_fits_no_topic() -> None:
    snapshot = cluster({T0: 1, T1: 1}, ID_A)
    offsets = {
        T0: CommittedOffset(3, topic_id=UUID(int=7)),
        T1: CommittedOffset(3, topic_id=ID_A),
        U0: CommittedOffset(3, topic_id=UUID(int=7)),
    }
    assert of_former_topics(offsets, snapshot) == {T0}, "of u nobody knows another id"


def test_an_offset_without_a_topic_id_is_of_whichever_topic_has_the_name() -> None:
    assert of_former_topics({T0: CommittedOffset(3)}, cluster({T0: 1}, ID_A)) == set()


@pytest.mark.parametrize("code", UNKNOWN)
def test_an_automatic_commit_waits_for_no_unknown_topic_once_the_others_are_stored(
    code: int,
) -> None:
    offsets = dict.fromkeys([T0, T1, U0], CommittedOffset(1))
    snapshot = cluster({T0: 1, T1: 1, U0: 1})
    assert not_worth_another_try({U0: code}, offsets, snapshot) == {U0}
    assert not_worth_another_try({U0: code, T0: LOADING}, offsets, snapshot) == {U0}


@pytest.mark.parametrize("code", UNKNOWN)
def test_an_automatic_commit_waits_for_no_topic_that_the_metadata_has_no_more(code: int) -> None:
    offsets = dict.fromkeys([T0, U0], CommittedOffset(1))
    errors = {T0: LOADING, U0: code}
    assert not_worth_another_try(errors, offsets, cluster({T0: 1})) == {U0}
    assert not_worth_another_try(errors, offsets, cluster({T0: 1, U0: 1})) == set()


@pytest.mark.parametrize(
    ("errors", "action"),
    [
        ([CoordinatorLoadInProgressError, NotCoordinatorForGroupError], Action.FIND_COORDINATOR),
        ([NotCoordinatorForGroupError, RebalanceInProgressError], Action.REJOIN),
        ([RebalanceInProgressError, IllegalGenerationError], Action.LOSE_GENERATION),
        ([UnknownMemberIdError, IllegalGenerationError], Action.LOSE_MEMBERSHIP),
        ([OffsetMetadataTooLargeError, UnknownMemberIdError], Action.RAISE),
    ],
)
def test_2e_12_the_gravest_error_counts(
    errors: list[type[BrokerResponseError]], action: Action
) -> None:
    codes = {TopicPartition("t", n): error.errno for n, error in enumerate(errors)}
    assert gravest(codes, COMMIT_ACTIONS)[0] is action
