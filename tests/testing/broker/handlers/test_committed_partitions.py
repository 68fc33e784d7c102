"""Which partitions the two requests for commits find: by name or by id, with the right to read."""

from uuid import UUID

import pytest

from aiokafka_lite.errors import (
    TopicAuthorizationFailedError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker.faults import NOTHING_INJECTED
from aiokafka_lite.testing.broker.handler import RequestContext
from aiokafka_lite.testing.broker.handlers._committed_partitions import (
    Found,
    find_partition,
    id_partitions_of,
)
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition
from tests.testing.broker.bench import Bench

IDS_SINCE = 10
UNKNOWN_ID = UUID(int=7)


def context_of(bench: Bench, version: int, session: Session = OPEN_SESSION) -> RequestContext:
    return RequestContext(bench.nodes[1], version, NOTHING_INJECTED, "me", session)


def find(context: RequestContext, name: str, topic_id: UUID, index: int) -> Found:
    return find_partition(context, name, topic_id, index, topic_ids_since=IDS_SINCE)


@pytest.mark.parametrize(("version", "error"), [(9, UnknownTopicOrPartitionError), (10, None)])
def test_the_version_says_whether_the_name_or_the_id_counts(
    version: int, error: type[Exception] | None
) -> None:
    bench = Bench()
    topic = bench.topic(partitions=2)
    context = context_of(bench, version)
    by_id = find(context, "", topic.topic_id, 1)
    by_name = find(context, "t", UNKNOWN_ID, 1)
    if error is None:
        assert by_id is topic.partitions[1]
        assert isinstance(by_name, UnknownTopicIdError)
    else:
        assert isinstance(by_id, error)
        assert by_name is topic.partitions[1]


@pytest.mark.parametrize("version", [9, 10])
def test_a_partition_that_is_not_there_or_not_to_be_read_is_an_error(version: int) -> None:
    bench = Bench()
    topic = bench.topic()
    nobody = Session("User:me", authorizer=Authorizer((), (), allows_without_acl=False))
    reader = Authorizer((Acl.allow("me", "READ", topic="t"),), (), allows_without_acl=False)
    for session, index, error in (
        (OPEN_SESSION, 1, UnknownTopicOrPartitionError),
        (nobody, 0, TopicAuthorizationFailedError),
        (Session("User:me", authorizer=reader), 0, BrokerPartition),
    ):
        context = context_of(bench, version, session)
        assert isinstance(find(context, "t", topic.topic_id, index), error)


def test_what_was_found_is_named_by_the_ids_of_its_topics() -> None:
    bench = Bench()
    topic = bench.topic(partitions=3)
    context = context_of(bench, 9)
    found = [
        [find(context, "t", ZERO_UUID, index) for index in (0, 2, 7)],
        [find(context, "other", ZERO_UUID, 0)],
    ]
    assert id_partitions_of(context, found) == [(topic.topic_id, 0), (topic.topic_id, 2)]
