"""Sends a member's requests to the group's coordinator: join, sync, heartbeat, leave.

The membership decides what a response means. The requests have a connection of their own, so that
none waits behind a fetch (F1).
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TypeVar

from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.group.classic.member import Member
from aiokafka_lite.consumer.group.departure import CANCELLED, LEAVING_LANES, way_out
from aiokafka_lite.errors import KafkaError, for_code
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocol
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from aiokafka_lite.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from aiokafka_lite.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from aiokafka_lite.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from aiokafka_lite.schema.message import Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)

JOIN_GRACE_S = 5.0
"""How much longer than the rebalance timeout the answer to JoinGroup is waited for (2e-2)."""

_LONGEST_REASON = 255
"""Characters; KIP-800 allows no more."""


class ClassicCoordinator:
    """Sends one member's requests to the coordinator. Source: KIP-62, KIP-345, KIP-394."""

    def __init__(
        self, config: ConsumerConfig, client: KafkaClient, cache: CoordinatorCache, member: Member
    ) -> None:
        self._config = config
        self._client = client
        self._cache = cache
        self._member = member
        self._rebalance_ms = config.rebalance_timeout_or_default_ms
        self._rebalance_bound_s = max(
            config.request_timeout_ms / 1000, self._rebalance_ms / 1000 + JOIN_GRACE_S
        )

    @property
    def node_id(self) -> int | None:
        """The node id of the coordinator; None if it must be found first."""
        return self._cache.known(CoordinatorType.GROUP, self._member.group_id)

    @property
    def why_unknown(self) -> str | None:
        """Why the coordinator is not known; None if it is."""
        if self.node_id is not None:
            return None
        failure = self._cache.last_failure
        return "it is being looked for" if failure is None else reason_of(failure)

    def lost(self, why: object) -> None:
        """Forget the coordinator: the next request finds it again."""
        self._cache.forget(CoordinatorType.GROUP, self._member.group_id, why)

    async def join(
        self, protocols: Sequence[JoinGroupRequestProtocol], reason: str
    ) -> JoinGroupResponse:
        """Send JoinGroup. The response comes when the generation has formed, which may take the
        whole rebalance timeout.

        Raises: KafkaError if no response came; the coordinator is then forgotten.
        Cancelled: the coordinator may have added the member to the group.
        """
        config = self._config
        request = JoinGroupRequest(
            group_id=self._member.group_id,
            session_timeout_ms=config.session_timeout_ms,
            rebalance_timeout_ms=self._rebalance_ms,
            member_id=self._member.generation.member_id,
            group_instance_id=self._member.group_instance_id,
            protocol_type=ConsumerProtocol.PROTOCOL_TYPE,
            protocols=list(protocols),
            reason=reason[:_LONGEST_REASON] or None,
        )
        return await self._ask(request, self._rebalance_bound_s)

    async def sync(self, assignments: Mapping[str, bytes]) -> SyncGroupResponse:
        """Send SyncGroup, as the leader with all assignments.

        Raises: as `join`. Cancelled: as `join`.
        """
        generation = self._member.generation
        request = SyncGroupRequest(
            group_id=self._member.group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._member.group_instance_id,
            protocol_type=ConsumerProtocol.PROTOCOL_TYPE,
            protocol_name=generation.protocol_name,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
                for member_id, assignment in assignments.items()
            ],
        )
        # The leader may take as long to assign as the members may take to join.
        return await self._ask(request, self._rebalance_bound_s)

    async def heartbeat(self) -> HeartbeatResponse:
        """Send Heartbeat. Raises: as `join`. Cancelled: as `join`."""
        generation = self._member.generation
        request = HeartbeatRequest(
            group_id=self._member.group_id,
            generation_id=generation.generation_id,
            member_id=generation.member_id,
            group_instance_id=self._member.group_instance_id,
        )
        # A coordinator that is silent for a whole session is taken as gone (2e-4).
        timeout_ms = min(self._config.request_timeout_ms, self._config.session_timeout_ms)
        return await self._ask(request, timeout_ms / 1000)

    async def leave(
        self,
        member_id: str,
        reason: str,
        timeout_s: float,
        lanes: Sequence[Lane] = LEAVING_LANES,
    ) -> None:
        """Send LeaveGroup, so that the group need not wait until the session expires (KIP-800).

        A throttle counts for `timeout_s`. It is logged if the coordinator does not hear of it:
        without a known coordinator, and where the time is too short, no request is sent.
        """
        node_id, network = self.node_id, self._client.network
        lane = way_out(network, node_id, timeout_s, lanes)
        if isinstance(lane, str) or node_id is None:
            self._not_told(member_id, lane)
            return
        request = self._leave_request(node_id, member_id, reason[:_LONGEST_REASON])
        try:
            answer: LeaveGroupResponse = await network.request(
                node_id, request, lane=lane, timeout_s=timeout_s
            )
        except KafkaError as error:
            self._not_told(member_id, error)
            return
        except asyncio.CancelledError:
            self._not_told(member_id, CANCELLED)
            raise
        codes = [answer.error_code, *(member.error_code for member in answer.members)]
        errors = [for_code(code).message for code in codes if code]
        logger.info(
            "%s left group %r: %s%s",
            member_id,
            self._member.group_id,
            reason,
            f" ({errors[0]})" if errors else "",
        )

    def _not_told(self, member_id: str, why: object) -> None:
        logger.warning(
            "%s leaves group %r, which may not hear of it until session_timeout_ms=%d is over: %s",
            *(member_id, self._member.group_id, self._config.session_timeout_ms, why),
        )

    def _leave_request(self, node_id: int, member_id: str, reason: str) -> LeaveGroupRequest:
        group_id = self._member.group_id
        version = self._client.network.max_version(node_id, LeaveGroupRequest)
        if version is not None and version < LeaveGroupRequest.members_since:
            return LeaveGroupRequest(group_id=group_id, member_id=member_id)
        identity = MemberIdentity(
            member_id=member_id, group_instance_id=self._member.group_instance_id, reason=reason
        )
        return LeaveGroupRequest(group_id=group_id, members=[identity])

    async def _ask(self, request: Request[R], timeout_s: float) -> R:
        group_id = self._member.group_id
        node_id = await self._cache.find(
            CoordinatorType.GROUP, group_id, self._config.request_timeout_ms / 1000
        )
        try:
            return await self._client.network.request(
                node_id, request, lane=Lane.COORDINATOR, timeout_s=timeout_s
            )
        except KafkaError as error:
            if error.retriable:
                self._cache.forget(CoordinatorType.GROUP, group_id, error, failed=node_id)
            raise


__all__ = ["JOIN_GRACE_S", "ClassicCoordinator"]
