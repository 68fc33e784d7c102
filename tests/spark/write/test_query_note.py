"""Which query writes with a checkpoint is noted in Kafka, once, and its absence is no error."""

import pytest

from aiokafka_lite.errors import GroupAuthorizationFailedError
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionCoordinator
from aiokafka_lite.producer.transaction.transaction_ender import TransactionEnder
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.write import query_note
from aiokafka_lite.spark.write.query_note import note_group, note_query, noted_query
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.writing import options


@pytest.fixture(autouse=True)
def _new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_note, "_noted_at_s", {})


@pytest.fixture
def given(kafka_broker: EmbeddedBroker) -> SinkOptions:
    for topic in ("t", "u"):
        kafka_broker.create_topic(topic)
    return options(kafka_broker.bootstrap_servers, checkpointLocation="/c/")


def note(here: Worker, given: SinkOptions, scope: str, topic: str | None = "t") -> None:
    with here.lend(TransactionEnder, given.transactional_client) as ender:
        coordinator = TransactionCoordinator(ender.kafka_client, "p")
        here.run(lambda: note_query(coordinator, given, scope, topic))


def noted(here: Worker, given: SinkOptions) -> str | None:
    with here.lend(TransactionEnder, given.transactional_client) as ender:
        coordinator = TransactionCoordinator(ender.kafka_client, "p")
        return here.run(lambda: noted_query(coordinator, given))


def test_the_last_query_at_a_checkpoint_counts_whatever_its_topic(
    here: Worker, given: SinkOptions
) -> None:
    assert noted(here, given) is None
    note(here, given, "p-one", "t")
    note(here, given, "p-two", "u")
    assert noted(here, given) == "p-two"


def test_a_process_notes_a_query_once(
    here: Worker, given: SinkOptions, kafka_broker: EmbeddedBroker
) -> None:
    for _ in range(3):
        note(here, given, "p-one")
    (request,) = kafka_broker.requests_of(OffsetCommitRequest)
    assert request.group_id == note_group("p", "/c") == note_group("p", "/c/")


def test_without_checkpoint_or_topic_nothing_is_asked(
    here: Worker, given: SinkOptions, kafka_broker: EmbeddedBroker
) -> None:
    note(here, given, "p-one", None)
    without = options(kafka_broker.bootstrap_servers)
    note(here, without, "p-one")
    assert noted(here, without) is None
    assert kafka_broker.requests_of(OffsetCommitRequest) == []
    assert kafka_broker.requests_of(OffsetFetchRequest) == []


def test_a_refusal_does_no_harm(
    here: Worker, given: SinkOptions, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.faults.fail(OffsetCommitRequest, GroupAuthorizationFailedError)
    note(here, given, "p-one")
    assert noted(here, given) is None
    note(here, given, "p-one")
    assert noted(here, given) == "p-one"
