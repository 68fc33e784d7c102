"""Owns what the consumer reads and where it stands: the only holder of truth for positions.

Every other part asks here; a buffered fetch that disagrees with the position found here is dropped.
What polls ask for (who has no position, who was not compared with the metadata) is kept as it
changes: no poll looks at every partition. It knows no network and no clock, and it does not wait.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from uuid import UUID

from aiokafka_lite.cluster.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.offset_reset import OffsetReset, OffsetResetStrategy
from aiokafka_lite.consumer.position.partition_state import (
    NO_OFFSET,
    FetchState,
    PartitionState,
)
from aiokafka_lite.consumer.revision import Revision
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
)
from aiokafka_lite.model import TopicPartition, names_of
from aiokafka_lite.schema.field_types import ZERO_UUID

_NAMES_SHOWN = 8


class SubscriptionMode(Enum):
    """How partitions are chosen. The two ways exclude each other until unsubscribe() (B1)."""

    NONE = "nothing is subscribed or assigned"
    TOPICS = "subscribe(topics): every partition of the topics, or what the group assigns of them"
    PATTERN = "subscribe(pattern=...): as TOPICS, of the topics whose names match"
    ASSIGNED = "assign(partitions): what the user named"


class SubscriptionState:
    """The subscription, and a `PartitionState` per assigned partition in queue order (A8)."""

    def __init__(self, default_reset: OffsetReset | None, revision: Revision | None = None) -> None:
        self.default_reset = default_reset
        self.mode = SubscriptionMode.NONE
        self.topics: frozenset[str] = frozenset()
        self.pattern: re.Pattern[str] | None = None
        self.poll_number = 1
        """Counts the polls, so that positions know in which of them they moved (B7)."""
        self.ownership_epoch = 0
        """Counts how often all partitions were lost or given up at once. What was begun for the
        partitions of an earlier epoch must not be ended for those of this one."""
        self.revision = revision or Revision()
        self._unfollowed: dict[TopicPartition, PartitionState] = {}
        self._without_position: dict[TopicPartition, PartitionState] = {}
        self._next_place = 0
        self._states: dict[TopicPartition, PartitionState] = {}
        self._assignment: frozenset[TopicPartition] = frozenset()

    # What is subscribed…

    def subscribe(self, topics: Iterable[str], *, by_group: bool = False) -> None:
        """Replace the subscribed topics; partitions of topics no longer named are let go.

        `by_group`: they are held back until the group takes them away. Raises: IllegalStateError
        after assign() or a pattern.
        """
        self._enter(SubscriptionMode.TOPICS)
        self.topics = frozenset(topics)
        if by_group:
            self.revoke_soon([tp for tp in self._states if tp.topic not in self.topics])
        else:
            self._replace_assignment([tp for tp in self._states if tp.topic in self.topics])

    def subscribe_pattern(self, pattern: re.Pattern[str], *, by_group: bool = False) -> None:
        """Subscribe to the topics that `match_topics` will find; replaces an earlier pattern.

        `by_group`: what is assigned stays until the group takes it away. Raises: IllegalStateError
        after subscribe(topics) or assign().
        """
        self._enter(SubscriptionMode.PATTERN)
        self.pattern = pattern
        if not by_group:
            self.topics = frozenset()
            self._replace_assignment(())

    def matches(self, name: str) -> bool:
        """Say whether a topic of that name is one of the pattern's."""
        assert self.pattern is not None
        return self.pattern.match(name) is not None

    def match_topics(self, names: Iterable[str]) -> bool:
        """Take the names that match the pattern as the topics; say whether they changed.

        Partitions of topics that are gone stay until the group, or `assign_from_subscribed`, takes
        them away.
        """
        before = self.topics
        self.topics = frozenset(filter(self.matches, names))
        return self.topics != before

    def assign_from_user(self, partitions: Iterable[TopicPartition]) -> None:
        """Replace the assignment; partitions that stay keep their position and pause.

        Raises: IllegalStateError after subscribe().
        """
        self._enter(SubscriptionMode.ASSIGNED)
        self._replace_assignment(partitions)

    def assign_from_subscribed(self, partitions: Iterable[TopicPartition]) -> None:
        """Replace the assignment of a subscription; new partitions join at the queue's end."""
        assert self.is_subscribed
        self._replace_assignment(partitions)

    def assign_from_group(
        self, partitions: Iterable[TopicPartition], *, await_callback: bool = False
    ) -> None:
        """Take over what the group assigned; partitions that stay keep position and pause (2c-9).

        Nothing else lifts the hold of `revoke_soon`: call it for an assignment of this
        `ownership_epoch` only. What is no longer subscribed stays held until it is let go.
        `await_callback`: the new ones are not fetched until `callback_is_over`.
        """
        assert self.is_subscribed
        before = self._assignment
        self._replace_assignment(partitions)
        for tp, state in self._states.items():
            state.is_being_revoked = tp.topic not in self.topics
            state.is_being_assigned = await_callback and tp not in before
            self.revision.note(tp)

    def revoke_soon(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch and return no more of `partitions`: the group takes them away (2c-9)."""
        for tp in partitions:
            if (state := self._states.get(tp)) is not None:
                state.is_being_revoked = True
                self.revision.note(tp)

    def lose_everything(self) -> None:
        """Fetch and return no more of anything assigned: it may have other owners by now."""
        self.ownership_epoch += 1
        self.revoke_soon(self._assignment)

    def let_go(self, partitions: Collection[TopicPartition]) -> None:
        """Own `partitions` no more; the others are held, or not, as before."""
        self._replace_assignment([tp for tp in self._states if tp not in partitions])

    def callback_is_over(self) -> None:
        """Let the newly assigned partitions be fetched: on_partitions_assigned() has returned."""
        for tp, state in self._states.items():
            state.is_being_assigned = False
            self.revision.note(tp)

    def unsubscribe(self) -> None:
        """Let go of everything; subscribe() and assign() are both open again."""
        self.mode = SubscriptionMode.NONE
        self.topics = frozenset()
        self.pattern = None
        self.ownership_epoch += 1
        self._replace_assignment(())

    def _enter(self, mode: SubscriptionMode) -> None:
        if self.mode not in (SubscriptionMode.NONE, mode):
            raise IllegalStateError(
                "Subscription to topics, partitions and pattern are mutually exclusive; "
                "call unsubscribe() first"
            )
        self.mode = mode

    def _replace_assignment(self, partitions: Iterable[TopicPartition]) -> None:
        wanted, before = dict.fromkeys(partitions), self._states
        kept = {tp: state for tp, state in before.items() if tp in wanted}
        for tp in [tp for tp in before if tp not in kept]:
            self.revision.note(tp)
            self._unfollowed.pop(tp, None)
            self._without_position.pop(tp, None)
        for tp in wanted:
            if tp not in kept:
                kept[tp] = state = PartitionState(tp, place=self._next_place)
                self._next_place += 1
                self._unfollowed[tp] = self._without_position[tp] = state
                self.revision.note(tp)
        self._states = kept
        self._assignment = frozenset(kept)
        self.revision.number += 1

    # Looking…

    @property
    def is_subscribed(self) -> bool:
        """Whether partitions come by subscribe(), not by assign()."""
        return self.mode in (SubscriptionMode.TOPICS, SubscriptionMode.PATTERN)

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The assigned partitions."""
        return self._assignment

    def queue(self) -> tuple[TopicPartition, ...]:
        """Return all assigned partitions, the next to be served first (A8)."""
        return tuple(self._states)

    def states(self) -> Iterable[PartitionState]:
        """Return the states in queue order; not to be kept across a change of the assignment."""
        return self._states.values()

    def get(self, tp: TopicPartition) -> PartitionState | None:
        """Return the partition's state; None when it is not assigned."""
        return self._states.get(tp)

    def assigned_names(self) -> str:
        """Return what is assigned, in words for the end of an error."""
        names = [f"{topic}-{partition}" for topic, partition in sorted(self.assignment)]
        if not names:
            return "no partition is"
        more = "" if len(names) <= _NAMES_SHOWN else f" and {len(names) - _NAMES_SHOWN} more"
        return f"assigned: {', '.join(names[:_NAMES_SHOWN])}{more}"

    def assigned(self, tp: TopicPartition) -> PartitionState:
        """Return the partition's state. Raises IllegalStateError when it is not assigned."""
        state = self._states.get(tp)
        if state is None:
            raise IllegalStateError(f"Partition {tp} is not assigned; {self.assigned_names()}")
        return state

    def has_all_fetch_positions(self) -> bool:
        """Say whether every assigned partition has a valid position (B3, B8)."""
        return not self._without_position

    def initializing(self) -> Iterator[PartitionState]:
        """Yield the partitions for whose position nobody was asked yet, or not in vain (B4)."""
        return self._without_position_in(FetchState.INITIALIZING)

    def awaiting_reset(self) -> Iterator[PartitionState]:
        """Yield the partitions whose leader is to be asked (B4)."""
        return self._without_position_in(FetchState.AWAIT_RESET)

    def awaiting_validation(self) -> Iterator[PartitionState]:
        """Yield the partitions whose position is to be compared with the leader's log (2c-1)."""
        return self._without_position_in(FetchState.AWAIT_VALIDATION)

    def _without_position_in(self, fetch_state: FetchState) -> Iterator[PartitionState]:
        return (state for state in self._missing() if state.fetch_state is fetch_state)

    def _missing(self) -> list[PartitionState]:
        return sorted(self._without_position.values(), key=_place)

    def place(self, tp: TopicPartition) -> int:
        """Return where an assigned partition stands in the queue: the smaller, the sooner (A8).

        Places only grow. So the few partitions that changed are sorted, without a walk through the
        queue.
        """
        return self._states[tp].place

    # Positions…

    def seek(self, tp: TopicPartition, offset: int, offset_epoch: int = -1) -> None:
        """Set the position; a reset that was pending is off (B6).

        `offset_epoch`: the leader epoch of the record before `offset`; if it is known, the position
        is validated before it is fetched (2c-4, 2c-8). Raises: IllegalStateError when the partition
        is not assigned.
        """
        state = self.assigned(tp)
        self._set_position(state, offset, offset_epoch)
        if offset_epoch >= 0:
            self._to(state, FetchState.AWAIT_VALIDATION)

    def await_reset(self, tp: TopicPartition, strategy: OffsetReset) -> None:
        """Empty the position; the leader is to be asked where `strategy` points (B6).

        Raises: IllegalStateError when the partition is not assigned.
        """
        self._empty_position(self.assigned(tp), strategy)

    def _empty_position(self, state: PartitionState, strategy: OffsetReset | None) -> None:
        self.note_move(state)
        self._to(state, FetchState.AWAIT_RESET)
        state.offset = NO_OFFSET
        state.offset_epoch = -1
        state.reset_strategy = strategy
        state.leader = None
        state.preferred_replica = None
        self.revision.note(state.topic_partition)

    def reset(self, tp: TopicPartition, strategy: OffsetReset, offset: int) -> bool:
        """Use the answer to a reset; say whether it was still wanted (B5).

        It is not when the partition was let go, a seek came in between, or another reset did.
        """
        state = self._states.get(tp)
        if (
            state is None
            or state.fetch_state is not FetchState.AWAIT_RESET
            or state.reset_strategy != strategy
        ):
            return False
        # The epoch of that offset is the answer's, but of the record *at* it, not before it: 2c-6.
        self._set_position(state, offset, -1)
        return True

    def _set_position(self, state: PartitionState, offset: int, offset_epoch: int) -> None:
        self.note_move(state)
        self._to(state, FetchState.FETCHING)
        state.offset = offset
        state.offset_epoch = offset_epoch
        state.reset_strategy = None
        state.is_told_missing = state.is_left_missing = False
        state.leader = None
        state.preferred_replica = None
        self._unfollowed[state.topic_partition] = state
        self.revision.note(state.topic_partition)

    def _to(self, state: PartitionState, fetch_state: FetchState) -> None:
        state.to(fetch_state)
        if fetch_state is FetchState.FETCHING:
            self._without_position.pop(state.topic_partition, None)
        else:
            self._without_position[state.topic_partition] = state

    # Following the metadata…

    @property
    def unfollowed(self) -> Collection[PartitionState]:
        """The partitions not compared with the metadata since their position was set (2c-2)."""
        return self._unfollowed.values()

    def all_followed(self) -> None:
        """Note that every partition was compared with the newest metadata."""
        self._unfollowed.clear()

    def follow_leader(self, state: PartitionState, leader: LeaderAndEpoch) -> None:
        """Take note of who leads the partition now (2c-2).

        A position that another leader, or an earlier epoch, knew is to be validated by this one if
        both epochs are known; its preferred replica is forgotten.
        """
        before, state.leader = state.leader, leader
        if before in (None, leader):
            return
        state.preferred_replica = None
        if state.offset != NO_OFFSET and state.offset_epoch >= 0 and leader.epoch >= 0:
            self._to(state, FetchState.AWAIT_VALIDATION)
        self.revision.note(state.topic_partition)

    def follow_topic(self, state: PartitionState, topic_id: UUID) -> bool:
        """Take note of the topic's id; say whether the topic is another one than before.

        Then the position belonged to a topic that is no more: it is reset by policy, and without
        one only a seek helps, which `raise_for_missing_positions` says.
        """
        before, state.topic_id = state.topic_id, topic_id
        if before in (ZERO_UUID, topic_id):
            return False
        state.incarnation += 1
        state.high_watermark = state.last_stable_offset = state.log_start_offset = None
        if state.offset != NO_OFFSET:
            self._empty_position(state, self.default_reset)
        # An offset of the old topic must not be committed for the new one (B7).
        state.moved_in_poll = self.poll_number
        state.processed_offset, state.processed_epoch = NO_OFFSET, -1
        self.revision.note(state.topic_partition)
        return True

    def complete_validation(self, state: PartitionState) -> None:
        """Let a position be fetched: the leader's log has what comes before it (2c-3)."""
        self._to(state, FetchState.FETCHING)
        self.revision.note(state.topic_partition)

    def truncate(self, state: PartitionState, end_offset: int, epoch: int) -> None:
        """Go back to where the leader's log parted from what was read (2c-3)."""
        leader = state.leader
        self._set_position(state, end_offset, epoch)
        state.leader = leader

    # Where to read…

    def prefer_replica(self, state: PartitionState, node_id: int, until_s: float) -> None:
        """Read from that follower until then (monotonic); the same one again does not prolong it
        (2b-5).
        """
        if state.preferred_replica != node_id:
            state.preferred_replica, state.preferred_until_s = node_id, until_s
            self.revision.note(state.topic_partition)

    def forget_replica(self, state: PartitionState) -> bool:
        """Read from the leader again; say whether it was otherwise."""
        if state.preferred_replica is None:
            return False
        state.preferred_replica = None
        self.revision.note(state.topic_partition)
        return True

    # Resets…

    def note_no_committed(self, state: PartitionState) -> None:
        """Note that the group has no committed offset of the partition (2c-5)."""
        state.has_no_committed = True
        self.revision.number += 1

    def reset_missing_positions(self, *, without_committed: bool = False) -> None:
        """Mark the partitions nobody has asked for yet for a reset by the default strategy (B4.3).

        `without_committed`: only those the group has no committed offset of (2c-5).
        """
        if self.default_reset is not None:
            for state in self._unasked(without_committed):
                self._empty_position(state, self.default_reset)

    def raise_for_missing_positions(self, *, without_committed: bool = False) -> None:
        """Raise what `missing_position_error` returns, until the user has heard of it and has
        sought another way (`leave_missing`).
        """
        if not self._without_position:
            return
        missing = [*self._lost(), *self._unresettable(without_committed)]
        if all(state.is_left_missing for state in missing):
            return
        for state in missing:
            state.is_told_missing = True
        error = self.missing_position_error(without_committed=without_committed)
        assert error is not None
        raise error

    def leave_missing(self) -> None:
        """Let other partitions be read though those the user was told of have no position: the user
        has sought another way."""
        for state in self._without_position.values():
            state.is_left_missing = state.is_told_missing

    def missing_position_error(
        self, partitions: Collection[TopicPartition] = (), *, without_committed: bool = False
    ) -> KafkaError | None:
        """Return what to say of partitions (of `partitions` only, if any are named) for which
        auto_offset_reset "none" leaves no position but by a seek; None: there are none.

        NoOffsetForPartitionError, or OffsetOutOfRangeError where the topic was deleted and created
        again.
        """
        if not self._without_position:
            return None
        lost, unasked = (
            [state for state in states if not partitions or state.topic_partition in partitions]
            for states in (self._lost(), self._unresettable(without_committed))
        )
        if lost:
            return OffsetOutOfRangeError(
                f"the position of {_names(lost)} belongs to a topic that was deleted; the topic "
                f"was created again, and auto_offset_reset is 'none'; seek() to an offset in the "
                f"new one, or set auto_offset_reset to 'earliest' or 'latest'"
            )
        if unasked:
            return NoOffsetForPartitionError(
                f"no position for {_names(unasked)}, and auto_offset_reset is 'none'; "
                f"seek() to an offset, or set auto_offset_reset to 'earliest' or 'latest'"
            )
        return None

    def _unresettable(self, without_committed: bool) -> list[PartitionState]:
        return [] if self.default_reset is not None else self._unasked(without_committed)

    def _unasked(self, without_committed: bool) -> list[PartitionState]:
        return [
            state
            for state in self.initializing()
            if state.has_no_committed or not without_committed
        ]

    def _lost(self) -> list[PartitionState]:
        return [state for state in self.awaiting_reset() if state.reset_strategy is None]

    # What counts as processed…

    def note_move(self, state: PartitionState) -> None:
        """Remember where a position stood when the newest poll began, before it moves (B7)."""
        if state.moved_in_poll != self.poll_number:
            state.moved_in_poll = self.poll_number
            state.processed_offset = state.offset
            state.processed_epoch = state.offset_epoch

    def processed(
        self, partitions: Collection[TopicPartition] | None = None, since: int = 0
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return the (offset, leader epoch) each position had when the newest poll began (B7).

        What earlier polls returned counts as processed, what the newest one returned does not.
        Partitions that had no position then are left out, and those that moved last before the poll
        of number `since`.
        """
        number = self.poll_number
        found: dict[TopicPartition, tuple[int, int]] = {}
        for tp, state in self._states.items():
            if state.moved_in_poll < since or (partitions is not None and tp not in partitions):
                continue
            if state.moved_in_poll == number:
                offset, epoch = state.processed_offset, state.processed_epoch
            else:
                offset, epoch = state.offset, state.offset_epoch
            if offset != NO_OFFSET:
                found[tp] = (offset, epoch)
        return found

    # Serving…

    def move_to_end(self, tp: TopicPartition) -> None:
        """Put the partition at the end of the queue: it was used up, or it failed (A8, 2b-16)."""
        state = self._states.pop(tp, None)
        if state is not None:
            self._states[tp] = state
            state.place = self._next_place
            self._next_place += 1

    def pause(self, tp: TopicPartition) -> None:
        """Stop fetching and returning; what is buffered stays. Raises: as `assigned`."""
        self.assigned(tp).is_paused = True
        self.revision.note(tp)

    def resume(self, tp: TopicPartition) -> None:
        """Undo pause(). Raises: as `assigned`."""
        self.assigned(tp).is_paused = False
        self.revision.note(tp)

    def paused(self) -> set[TopicPartition]:
        """Return the paused partitions."""
        return {tp for tp, state in self._states.items() if state.is_paused}

    def back_off(self, state: PartitionState, retry_at_s: float) -> None:
        """Count a failure; ask nothing about the partition before `retry_at_s` (monotonic)."""
        state.failures += 1
        state.retry_at_s = retry_at_s
        self.revision.note(state.topic_partition)


def _place(state: PartitionState) -> int:
    return state.place


def _names(states: Iterable[PartitionState]) -> str:
    return names_of(state.topic_partition for state in states)


__all__ = [
    "NO_OFFSET",
    "FetchState",
    "OffsetResetStrategy",
    "PartitionState",
    "SubscriptionMode",
    "SubscriptionState",
]
