"""Offsets in a transaction belong to the topic that was read, not to another one of its name
(KIP-1319).
"""

import pytest

from aiokafka_lite.errors import (
    UnknownTopicIdError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import kafka
from tests.scenarios.grouping import committed
from tests.scenarios.transacting import ORDERS, transacting


def versions(broker: EmbeddedBroker) -> list[int]:
    """Those of the requests that committed offsets."""
    return [
        received.api_version
        for received in broker.requests
        if isinstance(received.request, TxnOffsetCommitRequest)
    ]


def questions(broker: EmbeddedBroker) -> int:
    """How often somebody asked about the topic and wanted none to be made."""
    return sum(
        not asked.allow_auto_topic_creation
        and [topic.name for topic in asked.topics or ()] == ["orders"]
        for asked in broker.requests_of(MetadataRequest)
    )


async def test_topics_are_named_by_id_and_the_id_is_asked_for_once() -> None:
    async with kafka() as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        for offset in (1, 2, 3):
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({ORDERS: offset}, "g")
            await producer.commit_transaction()
        assert committed(broker) == {ORDERS: 3}
        assert versions(broker) == [6, 6, 6]
        ids = {asked.topics[0].topic_id for asked in broker.requests_of(TxnOffsetCommitRequest)}
        assert ids == {broker.cluster.topic_by_name("orders").topic_id}
        assert questions(broker) == 1


async def test_a_coordinator_before_4_4_is_told_names_and_nobody_asks_for_ids() -> None:
    async with kafka(max_versions={ApiKey.TXN_OFFSET_COMMIT: 5}) as broker:
        broker.create_topic("orders")
        async with transacting(broker) as producer:
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({ORDERS: 7}, "g")
            await producer.commit_transaction()
        assert (committed(broker), versions(broker)) == ({ORDERS: 7}, [5])
        assert questions(broker) == 0


async def test_without_an_answer_about_ids_names_do() -> None:
    """The commit does not fail for it."""
    async with kafka() as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await producer.begin_transaction()
        broker.faults.cut(MetadataRequest)
        await producer.send_offsets_to_transaction({ORDERS: 7}, "g")
        await producer.commit_transaction()
        assert committed(broker) == {ORDERS: 7}
        assert versions(broker)[0] == 5


async def test_offsets_of_a_topic_that_was_made_anew_are_refused_and_the_next_ones_count() -> None:
    """The transaction can only be aborted: the records that were read are gone."""
    async with kafka() as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction({ORDERS: 5}, "g")
        await producer.commit_transaction()
        broker.delete_topic("orders")
        broker.create_topic("orders")
        await producer.begin_transaction()
        with pytest.raises(UnknownTopicIdError):
            await producer.send_offsets_to_transaction({ORDERS: 6}, "g")
        await producer.abort_transaction()
        assert committed(broker) == {}
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        await producer.commit_transaction()
        assert committed(broker) == {ORDERS: 1}


async def test_a_coordinator_that_is_behind_is_asked_again() -> None:
    """It does not know the id yet, the metadata does."""
    async with kafka() as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await producer.begin_transaction()
        broker.faults.fail(TxnOffsetCommitRequest, UnknownTopicIdError, times=2)
        await producer.send_offsets_to_transaction({ORDERS: 5}, "g")
        await producer.commit_transaction()
        assert committed(broker) == {ORDERS: 5}
        assert versions(broker) == [6, 6, 6]
