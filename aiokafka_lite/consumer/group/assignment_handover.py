"""Owns the steps that change the owner of partitions, in the order of 2e-6.

These are the commit, the calls of the listener, the hold and the release. It waits for listeners
and for the commit before a revocation, and for nothing else. After each wait it compares the
subscription's `ownership_epoch`. If that has changed, all partitions were lost or given up
meanwhile, and the rest of the handover is void.

`stop()` calls `on_partitions_revoked`, as Java does, and commits are still possible then. It is the
last moment for a commit by hand.
"""

import logging
from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID

from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.group.rebalance_listener import (
    ConsumerRebalanceListener,
    ListenerCalls,
)
from aiokafka_lite.consumer.position.partition_state import PartitionState
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition, names_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Farewell:
    """What is told when a member leaves its group, and to whom."""

    owned: Collection[TopicPartition]
    listener: ConsumerRebalanceListener | None
    """The one that was told of `owned`; the consumer may have subscribed with another since."""


class AssignmentUser(Protocol):
    """What the rest of the consumer does about an assignment that changes."""

    async def commit_before_revocation(self, partitions: Collection[TopicPartition]) -> None:
        """Commit what was processed of partitions that go, or that the member brings to a join, if
        commits are automatic. Bounded."""

    def assignment_lost(self) -> None:
        """Hold nothing back any more: what was to be handed over belongs to others."""

    def positions_go(self, states: Collection[PartitionState]) -> None:
        """The positions of these partitions are dropped: others may have owned them."""

    def assignment_changed(self) -> None:
        """Follow the subscription's new assignment: buffers, metadata, waiting polls."""

    def assignment_taken(self) -> None:
        """An assignment of the group was taken over, and the listener has returned."""


class AssignmentHandover:
    """Hands partitions over between the group and the consumer."""

    def __init__(
        self,
        subscription: SubscriptionState,
        protocol: RebalanceProtocol,
        listeners: ListenerCalls,
        user: AssignmentUser,
        name: object = "consumer",
    ) -> None:
        """`name`: the member's name in log lines."""
        self._name = name
        self._subscription = subscription
        self._protocol = protocol
        self._listeners = listeners
        self._user = user
        self._generation_id = -1
        self._was_told = False

    async def prepare(self, generation_id: int = -1) -> None:
        """Get ready to join: give up what the protocol does not let a member keep.

        Eager: everything, and the listener hears of it even when it is nothing. Cooperative: only
        partitions of topics that are no longer subscribed. What was processed is committed of all,
        kept or not: nothing can be while the member joins (2e-11, 2e-12).

        `generation_id`: in which the member owns them. `take` gives back what the next one assigns.
        """
        owned = self._subscription.assignment
        if self._protocol is RebalanceProtocol.EAGER:
            self._generation_id = generation_id
            self._was_told = self._listeners.listener is not None
            await self._revoke(owned, committing=owned, aside=True)
            return
        unwanted = {tp for tp in owned if tp.topic not in self._subscription.topics}
        if unwanted:
            await self._revoke(unwanted, committing=owned)
        elif owned:
            await self._user.commit_before_revocation(owned)

    async def revoke(self, partitions: Collection[TopicPartition]) -> None:
        """Commit and give up these partitions; the listener hears of it before they are free."""
        await self._revoke(partitions, committing=partitions)

    def lose_soon(self) -> None:
        """Return no more records: the partitions may have another owner by now. A handover that
        runs is void. `lose` tells the listener.
        """
        self._subscription.lose_everything()
        self._user.positions_go(self._subscription.take_aside().values())
        self._user.assignment_lost()

    async def lose(self, why: str = "") -> None:
        """Let go of what the group has given away already; the log says `why`, if that is known."""
        lost = self._subscription.assignment
        if not lost:
            return
        logger.warning(
            "%s lost %s: %s",
            self._name,
            _names(lost),
            why or "the group has moved on without this member",
        )
        self._subscription.revoke_soon(lost)
        await self._listeners.lost(lost)
        self._let_go(lost)

    async def take(
        self,
        assigned: Collection[TopicPartition],
        topic_ids: Mapping[str, UUID] | None = None,
        generation_id: int = -1,
    ) -> bool:
        """Take over an assignment; say whether it took something away, so that the member has to
        join once more for others to get it (KIP-429).

        `topic_ids`: as `SubscriptionState.assign_from_group`. What an eager member had in the
        generation before `generation_id` has had no other owner. So it keeps its position. If the
        listener has heard that it went, reading begins at the committed offset, and what is in hand
        may still be committed. If the user has subscribed to something else, all begins anew.
        What the member lost, or has unsubscribed from, while something was revoked is not taken.
        """
        epoch = self._subscription.ownership_epoch
        revoked, added = changes(self._subscription.assignment, assigned)
        if revoked:
            await self.revoke(revoked)
        if epoch != self._subscription.ownership_epoch:
            return False
        kept = [tp for tp in self._subscription.queue() if tp not in revoked]
        back = self._back_from_aside(added, generation_id)
        self._subscription.assign_from_group(
            [*kept, *sorted(added)],
            await_callback=self._listeners.listener is not None,
            topic_ids=topic_ids,
            returning={} if self._was_told else back,
        )
        if self._was_told:
            self._subscription.came_back(back)
        logger.info("%s has %s; new: %s", self._name, _names(assigned), _names(added))
        self._user.assignment_changed()
        await self._listeners.assigned(added)
        self._subscription.callback_is_over()
        self._user.assignment_changed()
        self._user.assignment_taken()
        return bool(revoked)

    def _back_from_aside(
        self, added: Collection[TopicPartition], generation_id: int
    ) -> dict[TopicPartition, PartitionState]:
        """Return what was known of partitions that come back at once; the rest is gone."""
        aside = self._subscription.take_aside()
        is_next = generation_id == self._generation_id + 1
        back = {tp: state for tp, state in aside.items() if is_next and tp in added}
        self._user.positions_go([state for tp, state in aside.items() if tp not in back])
        return back

    async def leave(self, farewell: Farewell, *, is_lost: bool) -> None:
        """Tell the listener that the member leaves the group with these partitions."""
        if farewell.owned:
            await self._listeners.left(farewell.owned, farewell.listener, is_lost=is_lost)

    async def _revoke(
        self,
        partitions: Collection[TopicPartition],
        *,
        committing: Collection[TopicPartition],
        aside: bool = False,
    ) -> None:
        epoch = self._subscription.ownership_epoch
        self._subscription.revoke_soon(partitions)
        if committing:
            await self._user.commit_before_revocation(committing)
        if epoch != self._subscription.ownership_epoch:
            return  # everything was lost or given up meanwhile
        if partitions:
            logger.info("%s gives up %s", self._name, _names(partitions))
        await self._listeners.revoked(partitions)
        self._let_go(partitions, aside=aside)

    def _let_go(self, partitions: Collection[TopicPartition], *, aside: bool = False) -> None:
        subscription = self._subscription
        if not (subscription.is_subscribed and partitions):
            return
        if aside and subscription.may_go_on:
            subscription.set_aside(partitions)
        else:
            assigned = [tp for tp in partitions if subscription.get(tp) is not None]
            self._user.positions_go([subscription.in_hand(tp) for tp in assigned])
            subscription.let_go(partitions)
        self._user.assignment_changed()


class Changes(NamedTuple):
    """What an assignment means for a member that owned something before."""

    revoked: set[TopicPartition]
    added: set[TopicPartition]


def changes(owned: Collection[TopicPartition], assigned: Collection[TopicPartition]) -> Changes:
    """Return which partitions the assignment takes away and which are new (2e-6)."""
    return Changes(set(owned) - set(assigned), set(assigned) - set(owned))


def _names(partitions: Collection[TopicPartition]) -> str:
    return names_of(sorted(partitions)) or "nothing"


__all__ = ["AssignmentHandover", "AssignmentUser", "Changes", "Farewell", "changes"]
