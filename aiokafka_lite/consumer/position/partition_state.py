"""Owns what is known of one assigned partition: its position, its state, its watermarks.

The table of transitions is here. `SubscriptionState` makes the transitions. Does not wait.
Source: 2c-1, 2c-2, SubscriptionState.TopicPartitionState.
"""

from enum import Enum
from uuid import UUID

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.offset_reset import OffsetReset
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.schema.field_types import ZERO_UUID


class FetchState(Enum):
    """What is known of a partition's position. Source: SubscriptionState.FetchStates."""

    INITIALIZING = "no position, and no broker was asked for one yet"
    AWAIT_RESET = "no position; the leader must be asked for the offset of the reset strategy"
    FETCHING = "a valid position: the partition may be fetched"
    AWAIT_VALIDATION = "a position that the leader must first compare with its log (KIP-320)"

    __hash__ = object.__hash__  # that of Enum is a function in Python


_FETCHING = FetchState.FETCHING  # on 3.11 it costs a call to find it in its class


NEXT_STATES = {
    FetchState.INITIALIZING: {
        FetchState.FETCHING,
        FetchState.AWAIT_RESET,
        FetchState.AWAIT_VALIDATION,
    },
    FetchState.AWAIT_RESET: {FetchState.FETCHING, FetchState.AWAIT_RESET},
    FetchState.FETCHING: {
        FetchState.FETCHING,
        FetchState.AWAIT_RESET,
        FetchState.AWAIT_VALIDATION,
    },
    FetchState.AWAIT_VALIDATION: {
        FetchState.FETCHING,
        FetchState.AWAIT_RESET,
        FetchState.AWAIT_VALIDATION,
    },
}

NO_OFFSET = -1
"""No record has this offset. It stands for None where every poll compares offsets."""


@dataclass(slots=True, eq=False)
class PartitionState:
    """One assigned partition (B2). Its fields are empty at first. Only `SubscriptionState` changes
    them."""

    topic_partition: TopicPartition
    fetch_state: FetchState = FetchState.INITIALIZING
    place: int = 0
    """Its place in the queue. Partitions with smaller numbers are fetched first (A8)."""
    offset: int = NO_OFFSET
    """The next offset to fetch; NO_OFFSET unless FETCHING or AWAIT_VALIDATION."""
    offset_epoch: int = -1
    """The leader epoch of the record before `offset`; -1 if not known."""
    moves: int = 1
    """Counts the positions that anything but reading has set or removed. What is decided about a
    position counts for that one alone."""
    leader: LeaderAndEpoch | None = None
    """The leader when the position was last compared with the metadata; None: not compared yet."""
    reset_strategy: OffsetReset | None = None
    """Where an AWAIT_RESET goes. None: the topic was created anew, and only a seek helps."""
    began_at: OffsetReset | None = None
    """The reset that gave the position; None: a commit, a seek or nothing did."""
    began_offset: int = NO_OFFSET
    """Where reading began: the offset of the newest reset, commit or seek."""
    topic_id: UUID = ZERO_UUID
    """The id of the topic that the position belongs to; ZERO_UUID if not known."""
    assigned_topic_id: UUID = ZERO_UUID
    """The id of the topic that the group assigned; ZERO_UUID if it named none (KIP-848)."""
    is_of_former_topic: bool = False
    """Another topic has the name now, and the group has not assigned that one (KIP-848)."""
    incarnation: int = 0
    """Counts how often the log behind the position has changed: it belongs to another topic of this
    name, or was truncated. A fetch of an earlier log is dropped."""
    cuts: tuple[int, ...] = ()
    """For each of these changes, the offset from which on the log is another one."""
    cut_position: tuple[int, int] = (NO_OFFSET, -1)
    """The offset and leader epoch of the position when the log was truncated last."""
    is_returned_void: bool = False
    """Its topic was created anew since records were returned, and nothing came of the new one."""
    lost_offset: int = NO_OFFSET
    """The position that a leader has called out of range, until the reset that follows."""
    preferred_replica: int | None = None
    """The follower that the leader named to read from (KIP-392)."""
    preferred_until_s: float = 0.0
    """When to read from the leader again, in monotonic seconds."""
    has_no_committed: bool = False
    """The group was asked for a committed offset and has none (B4.2)."""
    is_told_missing: bool = False
    """A poll has raised that only a seek can give it a position."""
    is_left_missing: bool = False
    """After that error the user sought some partition. Polls return the other partitions (A9)."""
    is_counted: bool = False
    """It counts among the assigned partitions of its topic."""
    is_paused: bool = False
    is_being_revoked: bool = False
    """The group is taking it away. It is neither fetched nor returned (2c-9)."""
    is_being_assigned: bool = False
    """on_partitions_assigned() has not returned. It is not fetched yet (2c-9)."""
    moved_in_poll: int = 0
    """The number of the poll in which the position moved last."""
    processed_offset: int = NO_OFFSET
    """The position when that poll began, which auto-commit may commit (B7)."""
    processed_epoch: int = -1
    returned_in_poll: int = 0
    """The number of the newest poll that took records of it; 0 for none."""
    stored: CommittedOffset | None = None
    """What the application marked as done, with `enable_auto_offset_store=False`."""
    high_watermark: int | None = None
    last_stable_offset: int | None = None
    log_start_offset: int | None = None
    last_poll_timestamp_ms: int | None = None
    retry_at_s: float = 0.0
    """Until this moment (monotonic seconds) no request asks about this partition (H5)."""
    failures: int = 0
    """Failures in a row, of fetches or of resets."""

    @property
    def position(self) -> int | None:
        """The next offset to fetch; None while there is no valid one."""
        return self.offset if self.fetch_state is _FETCHING else None

    @property
    def is_fetchable(self) -> bool:
        """True if it may be fetched and its buffered records may be returned (B3)."""
        return self.fetch_state is _FETCHING and not self.is_held

    @property
    def is_held(self) -> bool:
        """True while it is neither fetched nor returned, whatever its position."""
        return (
            self.is_paused
            or self.is_being_revoked
            or self.is_being_assigned
            or self.is_of_former_topic
        )

    def lag(self, *, read_committed: bool) -> int | None:
        """Return the number of offsets from the position to the end; None if not known.

        The end is the last stable offset with `read_committed`, else the high watermark (2b-19).
        A position beyond the high watermark has a negative lag: what it counted is not there.
        """
        end = self.last_stable_offset if read_committed else self.high_watermark
        position = self.position
        if end is None or position is None:
            return None
        if position > end and self.high_watermark is not None:
            return min(self.high_watermark - position, 0)
        return end - position

    @property
    def lead(self) -> int | None:
        """The number of offsets from the log's beginning to the position; None if not known. It is
        negative for a position whose records were deleted.
        """
        start, position = self.log_start_offset, self.position
        return None if start is None or position is None else position - start

    def epoch_at(self, offset: int) -> int:
        """Return the leader epoch to commit with an offset that the user names; -1 if not known.

        It is that of the newest record that was returned, also if the offset is an earlier one.
        Logs with a common epoch are equal up to its first offset (KIP-320).
        """
        if offset <= self.offset:
            return self.offset_epoch
        cut_offset, cut_epoch = self.cut_position
        return cut_epoch if offset <= cut_offset else -1

    def changed_from(self, incarnation: int) -> int | None:
        """Return the offset from which on the log differs from what it was then; None: nowhere."""
        return min(self.cuts[incarnation:], default=None)

    def __repr__(self) -> str:
        topic, partition = self.topic_partition
        place = "nowhere" if self.offset == NO_OFFSET else f"at {self.offset}"
        paused = ", paused" if self.is_paused else ""
        return f"<{topic}-{partition} {self.fetch_state.name} {place}{paused}>"

    def to(
        self,
        fetch_state: FetchState,
        offset: int | None = None,
        offset_epoch: int = -1,
        strategy: OffsetReset | None = None,
        *,
        since: int | None = None,
    ) -> int:
        """Go to `fetch_state`, and to another position if `offset` is named; return `moves` then.

        It is one step: a handler of signals or a finalizer that seeks comes before or after it.
        `since`: what `moves` was when this was decided. If it is another one now, nothing is done,
        and 0 is returned. Raises: IllegalStateError if `NEXT_STATES` does not allow it.
        """
        if since is not None and since != self.moves:
            return 0
        if fetch_state not in NEXT_STATES[self.fetch_state]:
            raise IllegalStateError(
                f"cannot go to {fetch_state.name} while {self.fetch_state.name}"
            )
        # From here on there is no call.
        self.fetch_state = fetch_state
        self.retry_at_s = 0.0
        self.failures = 0
        if offset is not None:
            self.moves += 1
            self.offset, self.offset_epoch = offset, offset_epoch
            self.reset_strategy = strategy
            self.lost_offset = NO_OFFSET
            self.leader = None
            self.preferred_replica = None
            if offset != NO_OFFSET:
                self.began_offset = offset
                self.began_at = None
        return self.moves


def is_other_topic(assigned: UUID, present: UUID) -> bool:
    """Say whether the topic that has the name now is not the one that the group assigned.

    Then another member may own the partition of the same name. False if either id is not known.
    """
    return ZERO_UUID not in (assigned, present) and assigned != present


__all__ = ["NEXT_STATES", "NO_OFFSET", "FetchState", "PartitionState", "is_other_topic"]
