"""One way into the next generation: JoinGroup, the leader's assignment, SyncGroup.

`JoinRound.run` reads from top to bottom in the order of the protocol. The membership decides when
a round begins, and what a refusal or the assignment means. Source: 2e-1 to 2e-3, 2e-9, KIP-394.
"""

import logging
from collections.abc import Collection

from aiokafka_lite.checks.quoted import cut
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.consumer.assignors.assignment_strategy import make_assignors
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.group.classic.classic_coordinator import ClassicCoordinator
from aiokafka_lite.consumer.group.classic.group_leader import GroupLeader
from aiokafka_lite.consumer.group.classic.heartbeats import Heartbeats
from aiokafka_lite.consumer.group.classic.member import (
    NO_GENERATION_ID,
    NO_MEMBER_ID,
    Generation,
    Member,
)
from aiokafka_lite.consumer.group.classic.rebalance import (
    MemberPosition,
    assignor_faults,
    find_assignor,
    join_protocols,
    rebalance_protocol,
)
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import MemberIdRequired
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment

logger = logging.getLogger(__name__)


class JoinRefusedError(Exception):
    """The coordinator refused JoinGroup or SyncGroup."""

    def __init__(self, error_code: int, member_id: str) -> None:
        super().__init__(error_code, member_id)
        self.error_code = error_code
        self.member_id = member_id
        """The member id in the response to JoinGroup."""


class JoinRound:
    """Takes a member into the next generation of its group, one round after the other."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        member: Member,
        coordinator: ClassicCoordinator,
        heartbeats: Heartbeats,
    ) -> None:
        self._rack = config.member_rack
        self._subscription = subscription
        self._member = member
        self._coordinator = coordinator
        self._heartbeats = heartbeats
        self._assignors = make_assignors(config.partition_assignment_strategy)
        self.protocol = rebalance_protocol(self._assignors)
        """Whether a member keeps its partitions while it joins."""
        self.leader = GroupLeader(client)
        self._has_new_id = False
        self._reported = MemberPosition((), NO_GENERATION_ID, None)
        """What the member owned at its newest join by its id, and the generation it came into."""
        self._came_back = False
        """The member has joined without an id, and the group has not rebalanced for it."""

    def withheld(self, assigned: Collection[TopicPartition]) -> set[TopicPartition]:
        """Return what no member gets until this one joins once more.

        The leader takes away what a cooperative member has reported as its own; the next owner gets
        it in the rebalance after that (KIP-429). A static member that loses its membership between
        the two comes back without a rebalance, to the assignment that it had (KIP-345).
        """
        return set(self._reported.owned) - set(assigned) if self._came_back else set()

    async def run(self, reason: str) -> ConsumerProtocolMemberAssignment | None:
        """Return the assignment in the next generation. None: a heartbeat was told meanwhile that
        this generation is over.

        Raises: JoinRefusedError; KafkaError if no response came, or from the assignor.
        Cancelled: the coordinator may have added the member to the group.
        """
        member, subscription = self._member, self._subscription
        generation_id = member.generation.generation_id
        has_id = member.generation.member_id != NO_MEMBER_ID
        position = MemberPosition(subscription.assignment, generation_id, self._rack)
        # Said once: a new member joins a second time, with the id that it was given (KIP-394).
        level = logging.DEBUG if self._has_new_id else logging.INFO
        logger.log(level, "%r joins: %s", member, cut(reason))
        protocols = join_protocols(self._assignors, subscription.topics, position)

        joined = await self._coordinator.join(protocols, reason)
        self._has_new_id = joined.error_code == MemberIdRequired.errno
        if joined.error_code:
            raise JoinRefusedError(joined.error_code, joined.member_id)
        self._note_report(position, joined.generation_id, has_id=has_id)
        assignor = find_assignor(self._assignors, joined.protocol_name)
        generation = Generation(joined.generation_id, joined.member_id, joined.protocol_name)
        member.joined(generation)
        self._heartbeats.restart()

        assignments = await self.leader.assign(assignor, joined, self.protocol)
        if member.generation is not generation:
            return None

        synced = await self._coordinator.sync(assignments)
        if member.generation is not generation:
            return None
        if synced.error_code:
            raise JoinRefusedError(synced.error_code, joined.member_id)
        member.synced()
        assignment = ConsumerProtocolMemberAssignment(0, [], b"")
        if synced.assignment:
            assignment = ConsumerProtocolMemberAssignment.decode(synced.assignment)
        with assignor_faults(assignor):
            assignor.on_assignment(assignment)
            assignor.on_generation(generation.generation_id)
        return assignment

    def _note_report(self, position: MemberPosition, generation_id: int, *, has_id: bool) -> None:
        self._came_back = not has_id and generation_id == self._reported.generation_id
        if has_id:
            self._reported = position._replace(generation_id=generation_id)


__all__ = ["JoinRefusedError", "JoinRound"]
