"""Sends a member's heartbeats to the group's coordinator, the one that leaves included.

The membership decides what a response means. The requests have a connection of their own, so that
none waits behind a fetch (F1). Source: KIP-848.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_member import (
    STATIC_LEAVE_EPOCH,
    EpochMember,
)
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import (
    HeartbeatFields,
    TopicIdPartitions,
)
from aiokafka_lite.consumer.group.departure import CANCELLED, throttle_of, way_out
from aiokafka_lite.errors import KafkaError, UnsupportedVersionError, for_code
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatResponse
from aiokafka_lite.schema.message import Request

logger = logging.getLogger(__name__)

NOT_OFFERED = (
    "the brokers do not offer group_protocol='consumer': it needs Kafka 4.0 (KIP-848), the feature "
    "group.version at level 1, and 'consumer' in group.coordinator.rebalance.protocols; use "
    "group_protocol='classic', or 'auto' to take what there is"
)

_NOT_TOLD = "%r leaves; its group may not hear of it until the session times out: %s"


HeartbeatResponse = ConsumerGroupHeartbeatResponse | ShareGroupHeartbeatResponse


NO_TOPIC_IDS = (
    "the coordinator names topics by their ids, which needs Kafka 2.8 (KIP-516): no broker answers"
    " version 10 of Metadata; raise its limit in max_api_versions, or use group_protocol='classic'"
)


def lacks_topic_ids(network: NetworkClient) -> bool:
    """Return whether the brokers connected so far have such coordinators, and none of them answers
    Metadata with topic ids.
    """
    version = network.highest_version(MetadataRequest)
    has_coordinators = network.has_api(ConsumerGroupHeartbeatRequest.api_key)
    return has_coordinators and version is not None and version < MetadataRequest.topic_ids_since


class HeartbeatCoordinator:
    """Sends one member's requests to the coordinator. Members of share groups have their own."""

    not_offered = NOT_OFFERED
    """What to say when the brokers do not have the protocol."""

    def __init__(
        self,
        config: ClientConfig,
        client: KafkaClient,
        cache: CoordinatorCache,
        member: EpochMember,
    ) -> None:
        self._timeout_s = config.request_timeout_ms / 1000
        self._client = client
        self._cache = cache
        self._member = member

    @property
    def node_id(self) -> int | None:
        """The node id of the coordinator; None if it must be found first."""
        return self._cache.known(CoordinatorType.GROUP, self._member.group_id)

    @property
    def throttle_s(self) -> float:
        """For how many seconds the coordinator takes no request of this client; 0: it does."""
        return throttle_of(self._client.network, self.node_id)

    @property
    def why_unknown(self) -> str | None:
        """Why the coordinator is not known; None if it is."""
        if self.node_id is not None:
            return None
        failure = self._cache.last_failure
        return "it is being looked for" if failure is None else reason_of(failure)

    def lost(self, why: object, failed: int | None = None) -> None:
        """Forget the coordinator: the next request finds it again."""
        self._cache.forget(CoordinatorType.GROUP, self._member.group_id, why, failed=failed)

    async def find(self) -> int:
        """Return the node id of the coordinator. Raises: as `CoordinatorCache.find`."""
        return await self._cache.find(CoordinatorType.GROUP, self._member.group_id, self._timeout_s)

    async def heartbeat(self, node_id: int, told: HeartbeatFields) -> HeartbeatResponse:
        """Send a heartbeat with the fields that have changed.

        Raises: KafkaError if no response came; the coordinator is then forgotten.
        UnsupportedVersionError if the broker lacks the protocol, regular expressions or topic ids.
        Cancelled: the coordinator may have heard it.
        """
        network, lane = self._client.network, Lane.COORDINATOR
        if lacks_topic_ids(network):
            raise UnsupportedVersionError(NO_TOPIC_IDS)
        try:
            if told.regex:
                await network.connect(node_id, lane, timeout_s=self._timeout_s)
                self._check_regex(node_id)
            request = self._request(self._member.epoch, told)
            return await network.request(node_id, request, lane=lane)
        except UnsupportedVersionError as error:
            if told.regex and network.max_version(node_id, ConsumerGroupHeartbeatRequest) == 0:
                raise
            raise UnsupportedVersionError(self.not_offered) from error
        except KafkaError as error:
            if error.retriable:
                self.lost(error, failed=node_id)
            raise

    def _check_regex(self, node_id: int) -> None:
        version = self._client.network.max_version(node_id, ConsumerGroupHeartbeatRequest)
        if version is not None and version < ConsumerGroupHeartbeatRequest.regex_since:
            raise UnsupportedVersionError(
                f"a SubscriptionPattern needs Kafka 4.0 (KIP-848), and node {node_id} is older; "
                f"give the pattern as a str, which the client matches"
            )

    def _request(self, epoch: int, told: HeartbeatFields) -> Request[Any]:
        return ConsumerGroupHeartbeatRequest(
            group_id=self._member.group_id,
            member_id=self._member.member_id,
            member_epoch=epoch,
            instance_id=self._member.group_instance_id,
            rack_id=told.rack_id,
            rebalance_timeout_ms=told.rebalance_timeout_ms,
            subscribed_topic_names=None if told.topics is None else list(told.topics),
            subscribed_topic_regex=told.regex,
            server_assignor=told.assignor,
            topic_partitions=None if told.owned is None else _by_topic(told.owned),
        )

    async def release_place(self, node_id: int) -> int:
        """Leave for a while, under the member's own id. Return the error code: 0 if its instance id
        is free now, FENCED_INSTANCE_ID if another member has it.

        Raises: KafkaError if no response came; the coordinator is then forgotten. Cancelled: the
        coordinator may have heard it.
        """
        request = self._request(STATIC_LEAVE_EPOCH, HeartbeatFields())
        try:
            answer = await self._client.network.request(node_id, request, lane=Lane.COORDINATOR)
        except KafkaError as error:
            if error.retriable:
                self.lost(error, failed=node_id)
            raise
        code: int = answer.error_code
        return code

    async def leave(self, epoch: int, reason: str, timeout_s: float) -> None:
        """Tell the coordinator that the member leaves, for good or for a while; `epoch` says it.

        A throttle counts for `timeout_s`. It is logged if the coordinator does not hear of it:
        without a known coordinator, and where the time is too short, no request is sent.
        """
        node_id, member, network = self.node_id, self._member, self._client.network
        lane = way_out(network, node_id, timeout_s)
        if isinstance(lane, str) or node_id is None:
            logger.warning(_NOT_TOLD, member, lane)
            return
        request = self._request(epoch, HeartbeatFields())
        try:
            answer = await network.request(node_id, request, lane=lane, timeout_s=timeout_s)
        except KafkaError as error:
            logger.warning(_NOT_TOLD, member, error)
            return
        except asyncio.CancelledError:
            logger.warning(_NOT_TOLD, member, CANCELLED)
            raise
        refused = f" ({for_code(answer.error_code).message})" if answer.error_code else ""
        logger.info("%r has left: %s%s", member, reason, refused)


def _by_topic(partitions: Iterable[tuple[UUID, int]]) -> list[TopicPartitions]:
    found: dict[UUID, list[int]] = {}
    for topic_id, partition in sorted(partitions):
        found.setdefault(topic_id, []).append(partition)
    return [TopicPartitions(topic_id=topic_id, partitions=each) for topic_id, each in found.items()]


def assigned_by(answer: HeartbeatResponse) -> TopicIdPartitions | None:
    """Return the assignment in an answer; None: it is as before."""
    if answer.assignment is None:
        return None
    return frozenset(
        (topic.topic_id, partition)
        for topic in answer.assignment.topic_partitions
        for partition in topic.partitions
    )


__all__ = [
    "NOT_OFFERED",
    "HeartbeatCoordinator",
    "HeartbeatResponse",
    "assigned_by",
    "lacks_topic_ids",
]
