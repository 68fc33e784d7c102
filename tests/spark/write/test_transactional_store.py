"""What a transactional write stores in groups, through trouble of their coordinators."""

from typing import Any

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupAuthorizationFailedError,
    NotCoordinatorForGroupError,
    UnstableOffsetCommitError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionCoordinator
from aiokafka_lite.producer.transaction.transaction_ender import TransactionEnder
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.schema.message import Request
from aiokafka_lite.spark.write.transactional_store import store_offset, stored_offsets
from aiokafka_lite.testing.broker import EmbeddedBroker


async def test_all_offsets_of_a_group_come_back_with_their_notes() -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("a")
        broker.create_topic("b")
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers)
        await ender.start()
        coordinator = TransactionCoordinator(ender.kafka_client, "g")
        assert await stored_offsets(coordinator, "g") == []
        await store_offset(coordinator, "g", TopicPartition("a", 0), (0, "first"))
        await store_offset(coordinator, "g", TopicPartition("b", 0), (1, "second"))
        assert sorted(await stored_offsets(coordinator, "g")) == [(0, "first"), (1, "second")]
        await ender.stop()


@pytest.mark.parametrize(
    ("request_type", "error"),
    [
        (OffsetFetchRequest, UnstableOffsetCommitError),
        (OffsetFetchRequest, NotCoordinatorForGroupError),
        (OffsetCommitRequest, NotCoordinatorForGroupError),
    ],
)
async def test_a_coordinator_is_asked_until_it_can_tell(
    request_type: type[Request[Any]], error: type[BrokerResponseError]
) -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("a")
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers, retry_backoff_ms=1)
        await ender.start()
        coordinator = TransactionCoordinator(ender.kafka_client, "g")
        broker.faults.fail(request_type, error, times=2)
        await store_offset(coordinator, "g", TopicPartition("a", 0), (7, "note"))
        assert await stored_offsets(coordinator, "g") == [(7, "note")]
        assert len(broker.requests_of(request_type)) == 3
        await ender.stop()


async def test_a_refusal_names_the_group() -> None:
    async with EmbeddedBroker() as broker:
        broker.create_topic("a")
        ender = TransactionEnder(bootstrap_servers=broker.bootstrap_servers)
        await ender.start()
        coordinator = TransactionCoordinator(ender.kafka_client, "g")
        broker.faults.fail(OffsetFetchRequest, GroupAuthorizationFailedError)
        with pytest.raises(GroupAuthorizationFailedError) as raised:
            await stored_offsets(coordinator, "g")
        assert raised.value.__notes__ == [
            "about the group 'g', where the transactional write keeps its markers"
        ]
        await ender.stop()
