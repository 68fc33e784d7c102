"""Owns what the consumer reads, and the position of each partition.

Every other part takes positions from here. A buffered fetch that does not fit its position is
dropped. The partitions without a position, and those not compared with the metadata, are kept in
tables of their own. So no poll looks at every partition. It uses no network and no clock. Does not
wait.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from uuid import UUID

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.offset_reset import OffsetReset, OffsetResetStrategy
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.position.partition_state import (
    NO_OFFSET,
    FetchState,
    PartitionState,
    is_other_topic,
)
from aiokafka_lite.consumer.revision import Revision
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
)
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition, names_of
from aiokafka_lite.private_reads import with_private_reads
from aiokafka_lite.schema.field_types import ZERO_UUID

_NAMES_SHOWN = 8


class SubscriptionMode(Enum):
    """How partitions are chosen. Only unsubscribe() leads from one mode to another (B1)."""

    NONE = "nothing is subscribed or assigned"
    TOPICS = "subscribe(topics): every partition of the topics, or those that the group assigns"
    PATTERN = "subscribe(pattern=...): as TOPICS, for the topics whose names match"
    SERVER_PATTERN = "subscribe(pattern=SubscriptionPattern(...)): as TOPICS, the broker matches"
    ASSIGNED = "assign(partitions): the partitions that the user named"


_FETCHING = FetchState.FETCHING
_NONE, _ASSIGNED = SubscriptionMode.NONE, SubscriptionMode.ASSIGNED
_NOT_SUBSCRIBED = (_NONE, _ASSIGNED)
"""On 3.11 it costs a call to find a member in its class."""


@dataclass(slots=True, eq=False)
class _Place:
    """Where to go on in a partition that is not assigned."""

    offset: int
    offset_epoch: int
    leader: LeaderAndEpoch | None
    topic_id: UUID
    is_paused: bool
    was_absent: bool = False
    """The metadata has lacked it, or others of the group. Else the place does not count."""
    is_left_out: bool = False
    """An assignment has lacked it although it was there."""


@with_private_reads(
    "subscription",
    "subscription subscribed_pattern assigned_partitions is_assigned partitions_auto_assigned"
    " paused_partitions fetch_context wait_for_assignment wait_for_subscription"
    " reassignment_in_progress fetcher_idle_time _subscription"
    " _subscription_type _subscribed_pattern _assigned_state",
)
class SubscriptionState:
    """The subscription, and a `PartitionState` per assigned partition in queue order (A8)."""

    def __init__(self, default_reset: OffsetReset | None, revision: Revision | None = None) -> None:
        self.default_reset = default_reset
        self.mode = SubscriptionMode.NONE
        self.topics: frozenset[str] = frozenset()
        self.pattern: re.Pattern[str] | None = None
        self.server_pattern = ""
        """What the broker matches in SERVER_PATTERN, otherwise ""."""
        self.poll_number = 1
        """Counts the polls. Each position remembers the poll in which it moved last (B7)."""
        self.ownership_epoch = 0
        """Counts how often all partitions were lost or given up at once. A handover that began in
        an earlier epoch must not go on in this one."""
        self.revision = revision or Revision()
        self.unsettled = 0
        """Counts how often a partition had no valid position, or one that is to be compared with
        the metadata."""
        self.log_changed: Callable[[TopicPartition, int], object] = _nobody
        """Called with the offset from which on the log of a partition is another one: its topic
        was created anew, or the log was truncated. What is known by offset from there is void."""
        self.is_absent: Callable[[TopicPartition], bool] = _never
        """Says whether the metadata has lost the partition, which may come back (2f-15)."""
        self.has_commits = False
        """Whether the application stores its progress in the group. Then the log from where reading
        began may have records that it has not handled."""
        self.goes_by_polls = False
        """Whether records count as processed when the poll after them begins (B7)."""
        self._places: dict[TopicPartition, _Place] = {}
        self._absent: set[TopicPartition] = set()
        """What the metadata has lacked since it had it."""
        self._is_shaken = False
        """Whether that has changed since the last assignment."""
        self._unfollowed: dict[TopicPartition, PartitionState] = {}
        self._without_position: dict[TopicPartition, PartitionState] = {}
        self._next_place = 0
        self._gone_with_records: set[TopicPartition] = set()
        self._gone_in_poll = 0
        self._begins_anew = False
        """The user has subscribed to something else, and the group has not assigned it yet."""
        self.is_of_transactions = False
        """Whether transactions store the offsets: what one has copied may be aborted."""
        self._aside: dict[TopicPartition, PartitionState] = {}
        self._back: dict[TopicPartition, PartitionState] = {}
        self._back_in_poll = 0
        self._states: dict[TopicPartition, PartitionState] = {}
        self._assignment: frozenset[TopicPartition] | None = frozenset()
        """None: it was not asked for since it changed."""
        self._told_missing: list[PartitionState] = []
        self._counts: dict[str, int] = {}
        """How many partitions of each topic are assigned."""
        self._paused: dict[TopicPartition, PartitionState] = {}

    # What is subscribed…

    def subscribe(self, topics: Iterable[str], *, by_group: bool = False) -> None:
        """Replace the subscribed topics. Partitions of other topics are no longer assigned.

        `by_group`: those stay assigned but held, until the group takes them away.
        Raises: IllegalStateError after assign() or a pattern.
        """
        self._enter(SubscriptionMode.TOPICS)
        before, self.topics = self.topics, frozenset(topics)
        self._begins_anew = self._begins_anew or before != self.topics
        for tp in list(self._places):
            if tp.topic not in self.topics:
                self._places.pop(tp, None)
        if by_group:
            self.revoke_soon([tp for tp in self.queue() if tp.topic not in self.topics])
        else:
            self._replace_assignment([tp for tp in self.queue() if tp.topic in self.topics])

    def subscribe_pattern(self, pattern: re.Pattern[str], *, by_group: bool = False) -> None:
        """Subscribe to the topics that `match_topics` will find. It replaces an earlier pattern.

        Partitions of topics that match both stay. `by_group`: the others stay until the group takes
        them away. Raises: IllegalStateError after subscribe(topics) or assign().
        """
        self._enter(SubscriptionMode.PATTERN)
        before, self.pattern = self.pattern, pattern
        self._begins_anew = self._begins_anew or before != pattern
        if not by_group:
            self.topics = frozenset(filter(self.matches, self.topics))
            self._replace_assignment([tp for tp in self.queue() if tp.topic in self.topics])

    def subscribe_server_pattern(self, pattern: str) -> None:
        """Subscribe to the topics that the broker finds. It replaces an earlier pattern.

        Assigned partitions stay until the group takes them away.
        Raises: IllegalStateError after subscribe(topics), another pattern or assign().
        """
        self._enter(SubscriptionMode.SERVER_PATTERN)
        self.server_pattern = pattern

    def match_assigned(self, names: Iterable[str]) -> None:
        """Take these topics as those that the broker has found, if the broker matches."""
        if self.mode is SubscriptionMode.SERVER_PATTERN:
            self.topics = frozenset(names)

    def matches(self, name: str) -> bool:
        """Say whether the pattern matches a topic's name."""
        assert self.pattern is not None
        return self.pattern.match(name) is not None

    def match_topics(self, names: Iterable[str]) -> bool:
        """Subscribe to those of `names` that match the pattern; say whether the topics changed.

        Partitions of topics that no longer match stay until the group, or `assign_from_subscribed`,
        takes them away.
        """
        before = self.topics
        self.topics = frozenset(filter(self.matches, names))
        return self.topics != before

    def assign_from_user(self, partitions: Iterable[TopicPartition]) -> None:
        """Replace the assignment. Partitions that stay keep their position and stay paused.

        Raises: IllegalStateError after subscribe().
        """
        self._enter(SubscriptionMode.ASSIGNED)
        self._replace_assignment(partitions, mode=_ASSIGNED)

    def change_from_user(
        self, added: Iterable[TopicPartition], gone: Iterable[TopicPartition]
    ) -> None:
        """Add partitions to the assignment and take others away. The rest is not looked at.

        Raises: IllegalStateError after subscribe().
        """
        self._enter(SubscriptionMode.ASSIGNED)
        for tp in gone:
            if tp in self._states:
                state = self._states[tp]
                del self._states[tp]
                self._forget(state)
        for tp in added:
            state = PartitionState(tp)
            if tp not in self._states:
                state.place = self._next_place
                self._next_place += 1
                self._states[tp] = state
                self._begin(state)
        self._assignment = None
        self.revision.number += 1
        if not self._states:
            self.unsubscribe()

    def assign_from_subscribed(self, partitions: Iterable[TopicPartition]) -> None:
        """Replace the assignment of a subscription. New partitions go to the end of the queue."""
        assert self.is_subscribed
        self._replace_assignment(partitions)
        self._follow_assignment()

    def assign_from_group(
        self,
        partitions: Iterable[TopicPartition],
        *,
        await_callback: bool = False,
        topic_ids: Mapping[str, UUID] | None = None,
        returning: Mapping[TopicPartition, PartitionState] = MappingProxyType({}),
    ) -> None:
        """Take over what the group assigned. Partitions that stay keep their position (2c-9).

        Only this call lifts the hold of `revoke_soon`. So call it only for an assignment that was
        made in this `ownership_epoch`. Partitions of topics that are no longer subscribed stay held
        until `let_go`. `await_callback`: new partitions are not fetched until `callback_is_over`.
        `topic_ids`: the topics of new partitions, if the group names them by id (KIP-848).
        `returning`: states of `take_aside` that go on.
        """
        assert self.is_subscribed
        before, ids = self.assignment, topic_ids or {}
        self._replace_assignment(partitions, returning)
        self._follow_assignment()
        self._begins_anew = False
        for tp, state in self._states.copy().items():
            state.is_being_revoked = tp.topic not in self.topics
            state.is_being_assigned = await_callback and tp not in before
            if tp in returning:
                self._places.pop(tp, None)
            elif tp not in before:
                state.assigned_topic_id = state.topic_id = ids.get(tp.topic, ZERO_UUID)
            self.revision.note(tp)

    def revoke_soon(self, partitions: Iterable[TopicPartition]) -> None:
        """Stop fetching and returning `partitions`, because the group takes them away (2c-9)."""
        for tp in partitions:
            if (state := self._states.get(tp)) is not None:
                state.is_being_revoked = True
                self.revision.note(tp)

    def lose_everything(self) -> None:
        """Stop fetching and returning all partitions, because other members may own them now."""
        self.ownership_epoch += 1
        self.revoke_soon(self.assignment)

    def let_go(self, partitions: Collection[TopicPartition]) -> None:
        """Remove `partitions` from the assignment. The others stay held or not held, as before."""
        gone = frozenset(partitions)
        self._replace_assignment([tp for tp in self.queue() if tp not in gone])

    def set_aside(self, partitions: Collection[TopicPartition]) -> None:
        """As `let_go`. What is known of the partitions is kept for `take_aside`."""
        self._aside = {tp: self.in_hand(tp) for tp in partitions if tp in self._states}
        self.let_go(partitions)

    def take_aside(self) -> dict[TopicPartition, PartitionState]:
        """Return what was known of the partitions that were set aside last, once."""
        aside, self._aside = self._aside, {}
        return aside

    def came_back(self, states: Mapping[TopicPartition, PartitionState]) -> None:
        """Note that these partitions went and came without another owner in between. Until the next
        poll, the application may commit the records that it has of them by `states`.
        """
        self._back, self._back_in_poll = dict(states), self.poll_number

    def in_hand(self, tp: TopicPartition) -> PartitionState:
        """Return the state by which the records of an assigned partition were returned: its own, or
        that of before a rebalance.
        """
        is_former = tp in self._back and self._back_in_poll == self.poll_number
        return self._back[tp] if is_former else self._states[tp]

    def all_in_hand(self) -> list[PartitionState]:
        """Return `in_hand` of every partition, in the order of the queue."""
        if not self._back:
            return list(self._states.values())
        return [self.in_hand(tp) for tp in list(self._states)]

    def go_on_behind(
        self, offsets: Mapping[TopicPartition, CommittedOffset]
    ) -> list[TopicPartition]:
        """Go on behind the committed records of partitions that came back: they were returned
        before. Returns those partitions.
        """
        if not self._back:
            return []
        moved = [
            tp for tp in offsets if tp in self._states and self.in_hand(tp) is not self._states[tp]
        ]
        for tp in moved:
            self.seek(tp, offsets[tp].offset, offsets[tp].leader_epoch)
        return moved

    @property
    def may_go_on(self) -> bool:
        """Whether partitions that go and come back at once are read on where they were."""
        return not (self._begins_anew or self.is_of_transactions)

    def callback_is_over(self) -> None:
        """Let the newly assigned partitions be fetched: on_partitions_assigned() has returned."""
        for tp, state in self._states.copy().items():
            state.is_being_assigned = False
            self.revision.note(tp)

    def unsubscribe(self) -> None:
        """Remove all partitions and topics. Both subscribe() and assign() are possible again."""
        self.mode = SubscriptionMode.NONE
        self.topics = frozenset()
        self.pattern = None
        self.server_pattern = ""
        self.ownership_epoch += 1
        self._replace_assignment((), mode=_NONE)
        self._gone_with_records.clear()
        self._places.clear()
        self._absent.clear()
        self._aside.clear()
        self._back.clear()

    def _enter(self, mode: SubscriptionMode) -> None:
        if self.mode not in (SubscriptionMode.NONE, mode):
            raise IllegalStateError(
                "Subscription to topics, partitions and pattern are mutually exclusive; "
                "call unsubscribe() first"
            )
        self.mode = mode

    def _replace_assignment(
        self,
        partitions: Iterable[TopicPartition],
        returning: Mapping[TopicPartition, PartitionState] = MappingProxyType({}),
        *,
        mode: SubscriptionMode | None = None,
    ) -> None:
        """Let these partitions be assigned, and no others. `mode`: only while that is the mode."""
        replaced = self._states
        before = replaced.copy()
        kept: dict[TopicPartition, PartitionState] = {}
        new: list[PartitionState] = []
        wanted = dict.fromkeys(partitions)
        for tp, state in before.items():
            if tp in wanted:
                kept[tp] = state
        for tp in wanted:
            if tp not in kept:
                kept[tp] = state = returning.get(tp) or PartitionState(tp)
                new.append(state)
                state.place = self._next_place
                self._next_place += 1
        is_over = self.mode is _NONE and kept if mode is None else self.mode is not mode
        if is_over or self._states is not replaced:
            return  # a call in the middle was unsubscribe(), or has replaced it, too
        self._states, self._assignment = kept, None
        for tp, state in before.items():
            if tp not in kept:
                self._forget(state)
        for state in new:
            self._begin(state)
        self._assignment = None
        self.revision.number += 1

    def _forget(self, state: PartitionState) -> None:
        """Note that a partition is no longer assigned."""
        tp = state.topic_partition
        self._note_gone(state)
        self._note_place(state)
        self._list(state)
        self.revision.note(tp)

    def _begin(self, state: PartitionState) -> None:
        """Note that a partition is assigned now."""
        self._list(state, is_new=True)
        self.revision.note(state.topic_partition)

    def _list(self, state: PartitionState, *, is_new: bool = False) -> None:  # noqa: C901  see below
        """Let the tables have a state that has changed, or not, by what it is now. `is_new`: its
        position was not compared with the metadata yet.

        There is no call in it, so a seek or another assignment comes before or after it.
        """
        tp = state.topic_partition
        is_assigned = tp in self._states and self._states[tp] is state
        if is_assigned is not state.is_counted:
            state.is_counted, topic = is_assigned, tp[0]
            if topic not in self._counts:
                self._counts[topic] = 0
            self._counts[topic] += 1 if is_assigned else -1
            if not self._counts[topic]:
                del self._counts[topic]
        if is_assigned:
            if is_new:
                self._unfollowed[tp] = state
            if state.fetch_state is not _FETCHING:
                self._without_position[tp] = state
            elif tp in self._without_position:
                del self._without_position[tp]
            self.unsettled += is_new or state.fetch_state is not _FETCHING
            if state.is_paused:
                self._paused[tp] = state
            elif tp in self._paused:
                del self._paused[tp]
            return
        if tp in self._paused and self._paused[tp] is state:
            del self._paused[tp]
        if tp in self._without_position and self._without_position[tp] is state:
            del self._without_position[tp]
        if tp in self._unfollowed and self._unfollowed[tp] is state:
            del self._unfollowed[tp]

    def _note_gone(self, state: PartitionState) -> None:
        """Remember a partition that goes after the newest poll has returned records of it."""
        if state.returned_in_poll != self.poll_number:
            return
        if self._gone_in_poll != self.poll_number:
            self._gone_in_poll = self.poll_number
            self._gone_with_records.clear()
        self._gone_with_records.add(state.topic_partition)

    # Places in partitions that the metadata has lost, and that may come back (2f-15)…

    def _note_place(self, state: PartitionState) -> None:
        """Remember where to go on in a partition that is no longer assigned."""
        tp = state.topic_partition
        if not self.is_subscribed or state.is_of_former_topic:
            return
        if self.has_commits:
            offset, epoch = state.began_offset, -1
        elif self.goes_by_polls and state.moved_in_poll == self.poll_number:
            offset, epoch = state.processed_offset, state.processed_epoch
        else:
            offset, epoch = state.offset, state.offset_epoch
        if offset != NO_OFFSET:
            is_paused = state.is_paused and not self.goes_by_polls  # else a listener is told
            self._places[tp] = _Place(offset, epoch, state.leader, state.topic_id, is_paused)
        if (place := self._places.get(tp)) is not None:
            place.was_absent = place.was_absent or self.is_absent(tp)

    def follow_absences(self, lost: Collection[TopicPartition]) -> None:
        """Take over what the metadata has, `lost` being what it had before and lacks now."""
        if not lost and not self._absent:
            return
        self._absent.update(lost)
        back = {tp for tp in list(self._absent) if not self.is_absent(tp)}
        self._absent -= back
        self._is_shaken = self._is_shaken or bool(lost or back)
        for tp, place in self._places.copy().items():
            place.was_absent = place.was_absent or self.is_absent(tp)

    def _follow_assignment(self) -> None:
        """Decide which places count in the assignment that was taken over.

        Those of partitions that were absent do. So do the others if absent ones are the reason for
        a rebalance that gives them back: nobody has read them in between. What is not given back
        although it is there belongs to others. A member may hear of an assignment before its own
        metadata lacks a partition, so the next assignment decides about such a one.
        """
        for tp, place in self._places.copy().items():
            if tp in self._states:
                place.was_absent = place.was_absent or self._is_shaken
            elif not self.is_absent(tp):
                if place.was_absent or place.is_left_out:
                    self._places.pop(tp, None)
                place.is_left_out = True
        self._is_shaken = False

    def _go_on(self, state: PartitionState, moves: int) -> bool:
        """Return to where reading was before the metadata lost the partition; say whether it did.

        Not if that was another log: the topic has another id, or its leader an earlier epoch. If
        neither is known, the leader compares the position with its log, as after an election.
        """
        place = self._places.get(state.topic_partition)
        if place is None or not place.was_absent:
            return False
        leader = state.leader
        if is_other_topic(place.topic_id, state.topic_id) or (
            leader is not None and place.leader is not None and leader.epoch < place.leader.epoch
        ):
            return False
        moves = self._set_position(state, place.offset, place.offset_epoch, since=moves)
        if not moves:
            return False
        state.leader = leader
        if place.is_paused:
            self._pause(state)
        if place.offset_epoch >= 0:
            self._to(state, FetchState.AWAIT_VALIDATION, since=moves)
        return True

    # Questions…

    @property
    def is_subscribed(self) -> bool:
        """True if partitions come from subscribe(), not from assign()."""
        return self.mode not in _NOT_SUBSCRIBED

    @property
    def is_empty(self) -> bool:
        """True if nothing is subscribed, and nothing assigned."""
        return not self._states and self.mode in _NOT_SUBSCRIBED

    @property
    def assignment(self) -> frozenset[TopicPartition]:
        """The assigned partitions."""
        assignment = self._assignment
        while assignment is None:
            number = self.revision.number
            found = frozenset(list(self._states))
            if number == self.revision.number:  # else it has changed in the middle
                self._assignment = assignment = found
        return assignment

    @property
    def assigned_topics(self) -> Collection[str]:
        """The topics of the assigned partitions."""
        return list(self._counts)

    def queue(self) -> tuple[TopicPartition, ...]:
        """Return all assigned partitions, those to be fetched next first (A8)."""
        queue = list(self._states)  # a tuple would be allocated inside its loop
        return tuple(queue)

    def states(self) -> list[PartitionState]:
        """Return the states in queue order. The result is void after a change of the assignment."""
        return list(self._states.values())

    def has_all(self, partitions: frozenset[TopicPartition]) -> bool:
        """Say whether all of them are assigned."""
        return self._states.keys() >= partitions

    def get(self, tp: TopicPartition) -> PartitionState | None:
        """Return the partition's state; None if it is not assigned."""
        return self._states.get(tp)

    def has_come_back(self, tp: TopicPartition) -> bool:
        """Say whether an assigned partition was taken away and given back since the newest poll
        returned records of it. Other members may have read and committed it meanwhile.
        """
        number = self.poll_number
        is_former = tp in self._gone_with_records and self._gone_in_poll == number
        return is_former and self.in_hand(tp).returned_in_poll != number

    def assigned_names(self) -> str:
        """Return the names of the assigned partitions, for the end of an error text."""
        names = [f"{topic}-{partition}" for topic, partition in sorted(self.assignment)]
        if not names:
            return "no partition is"
        more = "" if len(names) <= _NAMES_SHOWN else f" and {len(names) - _NAMES_SHOWN} more"
        return f"assigned: {', '.join(names[:_NAMES_SHOWN])}{more}"

    def assigned(self, tp: TopicPartition) -> PartitionState:
        """Return the partition's state. Raises: IllegalStateError if it is not assigned."""
        state = self._states.get(tp)
        if state is None:
            raise IllegalStateError(f"Partition {tp} is not assigned; {self.assigned_names()}")
        return state

    def has_all_fetch_positions(self) -> bool:
        """Say whether every assigned partition has a valid position (B3, B8)."""
        return not self._without_position

    def is_settled(self) -> bool:
        """Say whether every position is valid, and was compared with the metadata."""
        return not self._without_position and not self._unfollowed

    @property
    def is_listener_called(self) -> bool:
        """Whether on_partitions_assigned() runs for partitions that have no position yet."""
        return any(state.is_being_assigned for state in self._without_position.copy().values())

    def initializing(self) -> Iterator[PartitionState]:
        """Yield the partitions without a position for which no reset has begun (B4)."""
        return self._without_position_in(FetchState.INITIALIZING)

    def awaiting_reset(self) -> Iterator[PartitionState]:
        """Yield the partitions whose leader must be asked for the offset of a reset (B4)."""
        return self._without_position_in(FetchState.AWAIT_RESET)

    def awaiting_validation(self) -> Iterator[PartitionState]:
        """Yield the partitions whose position must be compared with the leader's log (2c-1)."""
        return self._without_position_in(FetchState.AWAIT_VALIDATION)

    def _without_position_in(self, fetch_state: FetchState) -> Iterator[PartitionState]:
        return (state for state in self._missing() if state.fetch_state is fetch_state)

    def _missing(self) -> list[PartitionState]:
        missing = list(self._without_position.values())
        return sorted([each for each in missing if not each.is_of_former_topic], key=_place)

    def place(self, tp: TopicPartition) -> int:
        """Return the place of an assigned partition in the queue (A8).

        Partitions with smaller numbers are fetched first. A number only grows. So the few
        partitions that changed can be sorted by it, without a look at the whole queue. One that a
        call in the middle has taken away comes last.
        """
        state = self._states.get(tp)
        return self._next_place if state is None else state.place

    # Positions…

    def seek(self, tp: TopicPartition, offset: int, offset_epoch: int = -1) -> None:
        """Set the position, and cancel a pending reset (B6).

        `offset_epoch`: the leader epoch of the record before `offset`. If it is known, the position
        is validated before it is fetched (2c-4, 2c-8).
        Raises: IllegalStateError if the partition is not assigned.
        """
        state = self.assigned(tp)
        moves = self._set_position(state, offset, offset_epoch)
        state.is_returned_void = False
        if offset_epoch >= 0:
            self._to(state, FetchState.AWAIT_VALIDATION, since=moves)

    def await_reset(self, tp: TopicPartition, strategy: OffsetReset) -> None:
        """Remove the position. The leader must be asked for the offset of `strategy` (B6).

        Raises: IllegalStateError if the partition is not assigned.
        """
        self._empty_position(self.assigned(tp), strategy)

    def _empty_position(
        self, state: PartitionState, strategy: OffsetReset | None, *, since: int | None = None
    ) -> int:
        """Remove the position; return as `PartitionState.to`."""
        self.note_move(state)
        moves = state.to(FetchState.AWAIT_RESET, NO_OFFSET, strategy=strategy, since=since)
        self._list(state)
        self.revision.note(state.topic_partition)
        return moves

    def reset(self, tp: TopicPartition, strategy: OffsetReset, offset: int) -> bool:
        """Set the position to the offset of a reset; say whether the reset was still wanted (B5).

        It is not if the partition was taken away, or if a seek or another reset came since.
        """
        state = self._states.get(tp)
        if state is None:
            return False
        moves = state.moves
        if state.fetch_state is not FetchState.AWAIT_RESET or state.reset_strategy != strategy:
            return False
        was_beyond_end = offset <= state.lost_offset  # else the log begins behind it by now
        # The response has the epoch of the record *at* this offset, not of the one before (2c-6).
        if not self._set_position(state, offset, -1, since=moves):
            return False
        state.began_at = strategy
        if was_beyond_end:
            self._log_changed(state, 0)
        return True

    def _set_position(
        self, state: PartitionState, offset: int, offset_epoch: int, *, since: int | None = None
    ) -> int:
        """Set the position; return as `PartitionState.to`."""
        self.note_move(state)
        moves = state.to(FetchState.FETCHING, offset, offset_epoch, since=since)
        if moves:
            state.is_told_missing = state.is_left_missing = False
            self._list(state, is_new=True)
            if self._places:
                self._places.pop(state.topic_partition, None)
            self.revision.note(state.topic_partition)
        return moves

    def _to(self, state: PartitionState, fetch_state: FetchState, *, since: int) -> None:
        """Judge the position that the state had when `moves` was `since`."""
        state.to(fetch_state, since=since)
        self._list(state)

    # Following the metadata…

    def take_unfollowed(self) -> list[PartitionState]:
        """Return the partitions with a position that was not compared with the metadata yet (2c-2).

        They count as compared from now on. So a seek in the middle of that is not forgotten.
        """
        unfollowed, self._unfollowed = self._unfollowed, {}
        return list(unfollowed.values())

    def follow_leader(self, state: PartitionState, leader: LeaderAndEpoch) -> None:
        """Store the present leader of the partition (2c-2).

        If the leader or its epoch has changed, the preferred replica is forgotten. The new leader
        must then validate the position, if both epochs are known.
        """
        moves = state.moves
        before, state.leader = state.leader, leader
        if before in (None, leader):
            return
        state.preferred_replica = None
        if state.offset != NO_OFFSET and state.offset_epoch >= 0 and leader.epoch >= 0:
            self._to(state, FetchState.AWAIT_VALIDATION, since=moves)
        self.revision.note(state.topic_partition)

    def follow_topic(self, state: PartitionState, topic_id: UUID) -> bool:
        """Store the topic's id; say whether the topic is another one than before.

        In that case the position belonged to a topic that was deleted. It is reset by the default
        strategy. Without a strategy `raise_for_missing_positions` raises that only a seek helps.

        If the group has not assigned the new topic, the partition gets no position. It keeps the id
        that was assigned, so no offset of it is committed for the new topic (KIP-848).
        """
        before, was_former = state.topic_id, state.is_of_former_topic
        is_former = is_other_topic(state.assigned_topic_id, topic_id)
        state.is_of_former_topic = is_former
        if not is_former:
            state.topic_id = topic_id
        if is_former == was_former and (is_former or before in (ZERO_UUID, topic_id)):
            return False
        state.high_watermark = state.last_stable_offset = state.log_start_offset = None
        if is_former:
            self._empty_position(state, None)  # so what was asked about it is not wanted any more
        elif was_former or state.offset != NO_OFFSET:
            self._empty_position(state, self.default_reset)
        # An offset of the old topic must not be committed for the new one (B7).
        state.moved_in_poll = self.poll_number
        state.cut_position = (NO_OFFSET, -1)
        state.is_returned_void = state.returned_in_poll > 0
        self._log_changed(state, 0)
        self.revision.note(state.topic_partition)
        return True

    def _log_changed(self, state: PartitionState, offset: int) -> None:
        """Let nothing count any more that was known of the log by its offsets from `offset` on."""
        state.incarnation += 1
        state.cuts = (*state.cuts, offset)
        state.lost_offset = NO_OFFSET
        if state.processed_offset > offset or not offset:
            state.processed_offset, state.processed_epoch = offset or NO_OFFSET, -1
        if state.stored is not None and (state.stored.offset > offset or not offset):
            state.stored = state.stored._replace(offset=offset, leader_epoch=-1) if offset else None
        self.log_changed(state.topic_partition, offset)

    def complete_validation(self, state: PartitionState) -> None:
        """Let a position be fetched: the leader's log has the records before it (2c-3)."""
        moves = state.moves
        if state.fetch_state is FetchState.AWAIT_VALIDATION:
            self._to(state, FetchState.FETCHING, since=moves)
        self.revision.note(state.topic_partition)

    def epoch_ends(self, state: PartitionState, end_offset: int) -> None:
        """Take over where the epoch of a position ends that is valid. Records that were known
        behind that end, such as those that a note names, are not in the log any more.
        """
        self.log_changed(state.topic_partition, end_offset)

    def truncate(
        self, state: PartitionState, end_offset: int, epoch: int, *, since: int | None = None
    ) -> None:
        """Move the position back to where the leader's log differs from what was read (2c-3).

        `since`: what `moves` was when that was found. A seek since then stays, here and below.
        """
        leader, cut_position = state.leader, (state.offset, state.offset_epoch)
        if self._set_position(state, end_offset, epoch, since=since):
            state.leader, state.cut_position = leader, cut_position
        self._log_changed(state, end_offset)

    def truncated_somewhere(
        self, state: PartitionState, strategy: OffsetReset, *, since: int | None = None
    ) -> None:
        """Reset the position: the leader's log differs from what was read, nobody knows where."""
        self._empty_position(state, strategy, since=since)
        self._log_changed(state, 0)

    def out_of_range(
        self, state: PartitionState, strategy: OffsetReset, *, since: int | None = None
    ) -> None:
        """Reset a position at which the leader has no record."""
        lost_offset = state.offset
        if self._empty_position(state, strategy, since=since):
            state.lost_offset = lost_offset

    # Where to read…

    def prefer_replica(self, state: PartitionState, node_id: int, until_s: float) -> None:
        """Read from a follower until `until_s` (monotonic).

        If the leader names the same follower again, the time stays (2b-5).
        """
        if state.preferred_replica != node_id:
            state.preferred_replica, state.preferred_until_s = node_id, until_s
            self.revision.note(state.topic_partition)

    def forget_replica(self, state: PartitionState) -> bool:
        """Read from the leader again; say whether a replica was preferred."""
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

    def reset_missing_positions(self, *, without_committed: bool = False) -> list[PartitionState]:
        """Mark the partitions without a position for a reset by the default strategy (B4.3).

        `without_committed`: only those for which the group has no committed offset (2c-5). Returns
        those that go on instead where they were before the metadata lost them (2f-15).
        """
        went_on: list[PartitionState] = []
        for state in self._unasked(without_committed):
            moves = state.moves
            if state.fetch_state is not FetchState.INITIALIZING:
                continue  # sought meanwhile
            if self._places and self._go_on(state, moves):
                went_on.append(state)
            elif self.default_reset is not None:
                self._empty_position(state, self.default_reset, since=moves)
        return went_on

    def raise_for_missing_positions(self, *, without_committed: bool = False) -> None:
        """Raise the error of `missing_position_error`, unless `leave_missing` came after it.

        The listener may still seek the partitions with which it was called.
        """
        if not self._without_position:
            return
        found = (*self._lost(), *self._unresettable(without_committed))
        missing = [state for state in found if not state.is_being_assigned]
        if all(state.is_left_missing for state in missing):
            return
        for state in missing:
            state.is_told_missing = True
        self._told_missing = missing
        error = self.missing_position_error(without_committed=without_committed)
        assert error is not None
        raise error

    def leave_missing(self) -> None:
        """Note that the user sought a partition after the error about missing positions.

        From now on, polls return records of the other partitions.
        """
        told, self._told_missing = self._told_missing, []
        for state in told:
            state.is_left_missing = state.is_told_missing

    def missing_position_error(
        self, partitions: Collection[TopicPartition] = (), *, without_committed: bool = False
    ) -> KafkaError | None:
        """Return the error for partitions that only a seek can give a position; None: none.

        That is so with auto_offset_reset "none". Only `partitions` count. If none is named, all
        count but those with which the listener is being called.
        The error is an OffsetOutOfRangeError if a topic was deleted and created again, else a
        NoOffsetForPartitionError.
        """
        if not self._without_position:
            return None
        lost, unasked = (
            [
                state
                for state in states
                if state.topic_partition in partitions
                or not (partitions or state.is_being_assigned)
            ]
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

    def note_take(self, state: PartitionState) -> None:
        """Before records are taken, store in which poll that is, and what `note_move` does."""
        state.returned_in_poll = self.poll_number
        state.is_returned_void = False
        if self._back:  # a poll that ran during the rebalance has records of now
            self._back.pop(state.topic_partition, None)
        self.note_move(state)

    def count_poll_of(self, state: PartitionState) -> None:
        """Count a poll that has returned records of `state`, which may be gone since."""
        if self._gone_in_poll == self.poll_number:
            self._gone_in_poll += 1
        self.poll_number += 1
        state.returned_in_poll = self.poll_number

    def note_move(self, state: PartitionState) -> None:
        """Before a position moves, store where it was when the newest poll began (B7)."""
        if state.moved_in_poll != self.poll_number:
            state.moved_in_poll = self.poll_number
            state.processed_offset = state.offset
            state.processed_epoch = state.offset_epoch

    def processed(
        self, partitions: Collection[TopicPartition] | None = None, since: int = 0
    ) -> dict[TopicPartition, tuple[int, int]]:
        """Return the (offset, leader epoch) that each position had when the newest poll began (B7).

        Records of earlier polls count as processed; those of the newest poll do not. Two kinds of
        partitions are left out. The first had no position then. The second moved last before the
        poll with the number `since`.
        """
        number = self.poll_number
        found: dict[TopicPartition, tuple[int, int]] = {}
        for tp, state in self._states.copy().items():
            if state.moved_in_poll < since or (partitions is not None and tp not in partitions):
                continue
            if state.moved_in_poll == number:
                offset, epoch = state.processed_offset, state.processed_epoch
            else:
                offset, epoch = state.offset, state.offset_epoch
            if offset != NO_OFFSET:
                found[tp] = (offset, epoch)
        return found

    def store(self, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Mark what comes before these offsets as done. Raises: as `assigned`."""
        states = {tp: self.assigned(tp) for tp in offsets}
        for tp, state in states.items():
            state.stored = offsets[tp]

    def stored(
        self, partitions: Collection[TopicPartition] | None = None
    ) -> dict[TopicPartition, CommittedOffset]:
        """Return what was marked as done, of `partitions` or of all."""
        marks = {
            tp: state.stored or self.in_hand(tp).stored for tp, state in self._states.copy().items()
        }
        return {
            tp: mark
            for tp, mark in marks.items()
            if mark is not None and (partitions is None or tp in partitions)
        }

    # The queue, pauses and backoffs…

    def move_to_end(self, tp: TopicPartition) -> None:
        """Put a partition at the end of the queue: its fetch was used up or failed (A8, 2b-16)."""
        if tp in self._states:
            state = self._states[tp]
            del self._states[tp]  # and back without a call: a seek in the middle finds it
            self._states[tp] = state
            state.place = self._next_place
            self._next_place += 1

    def pause(self, tp: TopicPartition) -> None:
        """Stop fetching and returning a partition. Buffered fetches stay. Raises: as `assigned`."""
        self._pause(self.assigned(tp))
        self.revision.note(tp)

    def _pause(self, state: PartitionState) -> None:
        tp, state.is_paused = state.topic_partition, True
        if tp in self._states and self._states[tp] is state:
            self._paused[tp] = state

    def resume(self, tp: TopicPartition) -> None:
        """Undo pause(). Raises: as `assigned`."""
        self.assigned(tp).is_paused = False
        if tp in self._paused and not self._paused[tp].is_paused:
            del self._paused[tp]
        self.revision.note(tp)

    def paused(self) -> set[TopicPartition]:
        """Return the paused partitions."""
        return set(self._paused)

    def back_off(self, state: PartitionState, retry_at_s: float) -> None:
        """Count a failure. No request asks about the partition before `retry_at_s` (monotonic)."""
        state.failures += 1
        state.retry_at_s = retry_at_s
        self.revision.note(state.topic_partition)


def _never(_: TopicPartition) -> bool:
    """Nothing is known of any metadata."""
    return False


def _nobody(tp: TopicPartition, offset: int) -> None:
    """Nobody keeps records by their offsets."""


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
