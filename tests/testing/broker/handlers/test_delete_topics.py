"""DeleteTopics: by name and by id."""

from uuid import UUID

import pytest

from aiokafka_lite.errors import (
    InvalidRequestError,
    NotControllerError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from aiokafka_lite.testing.broker.handlers import delete_topics
from tests.testing.broker.bench import Bench


def ask(bench: Bench, *topics: DeleteTopicState) -> list[DeletableTopicResult]:
    request = DeleteTopicsRequest(topics=list(topics))
    return bench.ask(delete_topics.HANDLER, request, 6).responses


@pytest.mark.parametrize("version", range(1, 6))
def test_topics_are_deleted_by_name(version: int) -> None:
    bench = Bench()
    bench.topic()
    answer = bench.ask(delete_topics.HANDLER, DeleteTopicsRequest(topic_names=["t", "x"]), version)
    codes = [(result.name, result.error_code) for result in answer.responses]
    assert codes == [("t", 0), ("x", UnknownTopicOrPartitionError.errno)]
    assert bench.cluster.topics == {}


def test_topics_are_deleted_by_name_or_id_from_version_6_on() -> None:
    bench = Bench()
    first, second = bench.topic("a"), bench.topic("b")
    results = ask(
        bench, DeleteTopicState(name="a"), DeleteTopicState(name=None, topic_id=second.topic_id)
    )
    assert [(r.name, r.topic_id) for r in results] == [
        ("a", first.topic_id),
        ("b", second.topic_id),
    ]
    assert bench.cluster.topics == {}


def test_what_cannot_be_deleted_is_told() -> None:
    bench = Bench()
    topic = bench.topic()
    results = ask(
        bench,
        DeleteTopicState(name=None, topic_id=UUID(int=1)),
        DeleteTopicState(name="t", topic_id=topic.topic_id),
    )
    codes = [result.error_code for result in results]
    assert codes == [UnknownTopicIdError.errno, InvalidRequestError.errno]
    bench.faults.fail(DeleteTopicsRequest, NotControllerError)
    assert ask(bench, DeleteTopicState(name="t"))[0].error_code == NotControllerError.errno
    assert "t" in bench.cluster.topics
