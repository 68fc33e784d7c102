"""Sends a share group member's heartbeats to the group's coordinator, the one that leaves included.

What is common to all members that brokers assign to is in `HeartbeatCoordinator`. Source: KIP-932.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID, uuid4

from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_coordinator import (
    HeartbeatCoordinator,
)
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import HeartbeatFields
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from aiokafka_lite.schema.message import Request

SHARE_NOT_OFFERED: Final = (
    "the brokers do not offer share groups: that needs Kafka 4.2 (KIP-932), or 4.1 with "
    "the feature share.version at level 1; use AIOKafkaConsumer"
)


class ShareCoordinator(HeartbeatCoordinator):
    """Sends one member's requests to the coordinator of its share group."""

    not_offered = SHARE_NOT_OFFERED

    def _request(self, epoch: int, told: HeartbeatFields) -> Request[Any]:
        return ShareGroupHeartbeatRequest(
            group_id=self._member.group_id,
            member_id=self._member.member_id,
            member_epoch=epoch,
            rack_id=told.rack_id,
            subscribed_topic_names=None if told.topics is None else list(told.topics),
        )


def make_member_id(make_uuid: Callable[[], UUID] = uuid4) -> str:
    """Return a new id in the form of Kafka's own, which brokers parse.

    None begins with a dash: tools would take it for an option.
    """
    while True:
        text = urlsafe_b64encode(make_uuid().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


__all__ = ["SHARE_NOT_OFFERED", "ShareCoordinator", "make_member_id"]
