"""Commits a group's offsets in a transaction: by topic id if the cluster has ids, and again when an
id has become unknown.

`transaction_coordinator` sends the requests that `transaction_requests` makes.
Source: KIP-98, KIP-447, KIP-1319.
"""

import logging
from collections.abc import Callable, Mapping
from uuid import UUID

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import KafkaError, UnknownTopicIdError
from aiokafka_lite.producer.transaction.transaction_coordinator import (
    TransactionCoordinator,
    TransactionError,
)
from aiokafka_lite.producer.transaction.transaction_errors import OFFSET_COMMIT_ACTIONS
from aiokafka_lite.producer.transaction.transaction_requests import (
    refused_offsets,
    txn_offset_commit_error,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.schema.field_types import ZERO_UUID

logger = logging.getLogger(__name__)

TopicIds = Mapping[str, UUID]


class TransactionOffsets:
    """Commits offsets for one producer, and keeps the ids of their topics.

    The producer may never write to these topics: asking for their ids neither adds them to its
    metadata nor creates them.
    """

    def __init__(self, client: KafkaClient) -> None:
        self._client = client
        self._known: TopicIds = {}

    async def commit(
        self,
        coordinator: TransactionCoordinator,
        request: Callable[[TopicIds], TxnOffsetCommitRequest],
        *,
        is_v2: bool,
        gives_up: Callable[[], bool],
    ) -> None:
        """Return when the coordinator of the group has taken the offsets.

        `request(topic_ids)` makes the request; without ids it names the topics. While the
        coordinator does not know an id, the ids are asked for and the request is sent again, until
        a topic is gone or was created again.

        Raises: TransactionError. It has an UnknownTopicIdError when a topic is not the one whose
        records were read: the transaction can only be aborted then.
        """
        named = request({})
        topics = [topic.name for topic in named.topics]
        attempts = 0
        with self._client.waits.of(
            f"group {quoted(named.group_id)} to take the offsets of a transaction "
            "(TxnOffsetCommit)",
            "check whether the topics exist on all brokers",
        ) as wait:
            while True:
                ids = await self._ids_of(topics) if is_v2 and self._may_have_ids() else {}
                wording = request(ids) if ids else named
                if is_v2:
                    max_version = None if ids else TxnOffsetCommitRequest.topic_ids_since - 1
                else:
                    max_version = TxnOffsetCommitRequest.transactions_v2_since - 1
                try:
                    await coordinator.ask(
                        "TxnOffsetCommit",
                        lambda wording=wording: wording,  # type: ignore[misc]
                        txn_offset_commit_error,
                        OFFSET_COMMIT_ACTIONS,
                        max_version=max_version,
                        group_id=named.group_id,
                        gives_up=gives_up,
                        refused=lambda told, code, ids=ids: refused_offsets(  # type: ignore[misc]
                            told, code, ids
                        ),
                    )
                except TransactionError as refusal:
                    if not isinstance(refusal.error, UnknownTopicIdError) or gives_up():
                        raise
                    if await self._have_changed(ids):
                        raise
                    wait.failed(refusal.error)
                    coordinator.failures["TxnOffsetCommit"] = refusal.error
                else:
                    return
                await self._client.clock.sleep(self._client.retry_backoff.delay(attempts))
                attempts += 1

    def _may_have_ids(self) -> bool:
        highest = self._client.network.highest_version(TxnOffsetCommitRequest)
        return highest is not None and highest >= TxnOffsetCommitRequest.topic_ids_since

    async def _ids_of(self, topics: list[str]) -> TopicIds:
        """Return the ids of all these topics, or none: a request names all topics by id or none."""
        if not self._known.keys() >= set(topics):
            try:
                self._known = {**self._known, **await self._ask(topics)}
            except KafkaError as error:
                logger.debug("the ids of topics cannot be asked for now: %s", error)
        if not self._known.keys() >= set(topics):
            return {}
        return {topic: self._known[topic] for topic in topics}

    async def _have_changed(self, ids: TopicIds) -> bool:
        """Ask for the ids again; return whether one has changed or is gone."""
        try:
            present = await self._ask(list(ids))
        except KafkaError as error:
            logger.debug("the ids of topics cannot be asked for now: %s", error)
            return False
        self._known = {**{t: i for t, i in self._known.items() if t not in ids}, **present}
        return present != ids

    async def _ask(self, topics: list[str]) -> TopicIds:
        request = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic) for topic in topics],
            allow_auto_topic_creation=False,
        )
        answer = await self._client.network.request_any(request)
        return {
            topic.name: topic.topic_id
            for topic in answer.topics
            if topic.name is not None and not topic.error_code and topic.topic_id != ZERO_UUID
        }


__all__ = ["TransactionOffsets"]
