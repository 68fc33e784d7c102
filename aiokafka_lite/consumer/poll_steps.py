"""What a poll does between its waits. Does not wait.

`record_poller` derives from it, and has the coroutines. The parts decide; each step asks them in
order.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_collector import FetchCollector
from aiokafka_lite.consumer.fetch.fetch_preparations import FetchPreparations
from aiokafka_lite.consumer.fetch.fetch_round import FetchRound
from aiokafka_lite.consumer.fetch.fetcher import Fetcher
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.leader_watch import LeaderWatch
from aiokafka_lite.consumer.position.offset_fetcher import OffsetFetcher
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup

_POLLS_A_TURN = 8
_TURN_S = 0.002
"""How many polls that find records run in a row, and for how long, until other tasks run."""


class RunningPoll:
    """One call's poll, and what its newest look around has found."""

    __slots__ = ("_awaited", "collect", "deadline_s", "is_over", "look_again_s", "partitions")

    def __init__(
        self,
        partitions: Collection[TopicPartition],
        collect: Callable[[Collection[TopicPartition]], Any],
        deadline_s: float | None,
    ) -> None:
        """`collect(partitions)` takes what the call returns. `deadline_s` None: no bound."""
        self.partitions = partitions
        self.collect = collect
        self.deadline_s = deadline_s
        self.is_over = False
        """Its time is over."""
        self.look_again_s: float | None = None
        """When to look again although nothing has changed, in monotonic seconds; None: never."""
        self._awaited: frozenset[FetchRound] | None = None

    def are_over(self, pending: frozenset[FetchRound]) -> bool:
        """Say whether every fetch that was pending at the first call has been answered.

        The error of a fetch that was set aside is not raised before.
        """
        self._awaited = pending if self._awaited is None else self._awaited & pending
        return not self._awaited


class PollSteps:
    """The steps of the polls of one consumer."""

    def __init__(
        self,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
        buffer: FetchBuffer,
        collector: FetchCollector,
        fetcher: Fetcher,
        group: "ConsumerGroup | None",
        offset_fetcher: OffsetFetcher,
        *,
        leader_timeout_s: float,
    ) -> None:
        """`leader_timeout_s`: how long a partition may have no leader until polls raise for it."""
        self._client = client
        self._clock = client.clock
        self._metadata = client.metadata
        self._subscription = subscription
        self._signal = signal
        self._buffer = buffer
        self._collector = collector
        self._fetcher = fetcher
        self._group = group
        self._offset_fetcher = offset_fetcher
        self._preparations = FetchPreparations(client, signal, timeout_s=leader_timeout_s)
        self._leader_watch = LeaderWatch(client.config.client_id, leader_timeout_s)
        self._wanted: list[Collection[TopicPartition]] = []  # by the polls that run; empty: all
        self._settled_in: MetadataSnapshot | None = None
        self._settled_at = 0
        self._is_stopped = False
        self._idle_polls = 0
        self._idle_since_s = 0.0
        self._idle_s = 0.0
        self._polls_left = 0  # of this turn
        self._turn_ends_s = 0.0
        collector.may_decode_on = self._takes_turn

    def _look_for_records(self, poll: RunningPoll) -> Any:
        """Return what the poll takes, if there is anything, with the next fetches on their way.

        Otherwise the poll is over, or knows when to look again.
        Raises: as `RecordPoller.poll`.
        """
        positions_due_s = self._look_around()
        try:
            taken = poll.collect(poll.partitions)
        finally:
            fetches_due_s = self._fetcher.start_fetches()
            if self._collector.unprepared:
                self._preparations.start(self._collector.unprepared)
        if taken:
            return taken
        fetches_due_s = self._fetch_what_is_wanted(fetches_due_s)
        deadline_s = poll.deadline_s
        poll.is_over = deadline_s is not None and self._clock.monotonic() >= deadline_s
        self._raise_for_want_of_records(poll)
        if not poll.is_over:
            poll.look_again_s = self._earliest(deadline_s, positions_due_s, fetches_due_s)
        return None

    def _earliest(
        self, first_s: float | None, second_s: float | None, third_s: float | None = None
    ) -> float | None:
        """Return the earliest of these moments, and of the one at which a leader is missed."""
        earliest_s = self._leader_watch.due_at_s
        for moment_s in (first_s, second_s, third_s):
            if moment_s is not None and (earliest_s is None or moment_s < earliest_s):
                earliest_s = moment_s
        return earliest_s

    def _is_turn_over(self, may_wait: bool) -> bool:
        """Say whether a poll must let the other tasks run before it looks for records.

        Polls that find records do so only now and then, because a turn of the loop costs as much
        as a poll. So do polls that wait if they find none. Any other poll without buffered records
        does it each time.
        """
        if (may_wait or len(self._buffer)) and self._takes_turn():
            return False
        self._begin_turn()
        return True

    def _begin_turn(self) -> None:
        """Note that the other tasks run, or have run, before the next poll."""
        if self._buffer.budget.until_s:
            self._buffer.budget.begin()
        self._polls_left = _POLLS_A_TURN
        self._turn_ends_s = self._clock.monotonic() + _TURN_S

    def _takes_turn(self) -> bool:
        """Count a poll, or records that are decoded without one; False: the others must run."""
        if not self._polls_left or self._clock.monotonic() >= self._turn_ends_s:
            return False
        if self._buffer.budget.is_spent:
            return False
        self._polls_left -= 1
        return True

    def _begin_poll(self, partitions: Collection[TopicPartition]) -> None:
        """Count a poll among those that run. Raises: the error of the group or of a listener."""
        if self._group is not None:
            self._group.poll_began()
        self._collector.begin_poll()
        self._fetcher.want(partitions)
        self._wanted.append(partitions)

    def _end_poll(self, partitions: Collection[TopicPartition]) -> None:
        if self._group is not None:
            self._group.poll_ended()
        self._wanted.remove(partitions)
        if self._wanted and self._fetcher.lacks_room:
            self._signal.notify()  # what this poll left may stop the fetches of others

    def _fetch_what_is_wanted(self, due_s: float | None) -> float | None:
        """Make room and fetch if the buffer is full of data that no running poll takes.

        Only possible if every running poll names its partitions. Returns when to look again, which
        is `due_s` if nothing was done.
        """
        if not (self._fetcher.lacks_room and all(self._wanted)):
            return due_s
        return self._fetcher.start_fetches_for({tp for wanted in self._wanted for tp in wanted})

    def _look_around(self) -> float | None:
        """Bring membership, commits and positions up to date. Does not wait."""
        self._client.check()
        if self._group is not None:
            self._group.tick()
        snapshot, subscription = self._metadata.snapshot, self._subscription
        if snapshot is self._settled_in and subscription.unsettled == self._settled_at:
            return None  # all positions are as they were when there was nothing to do
        due_s = self._offset_fetcher.update_positions()
        self._offset_fetcher.raise_for_missing_positions()
        self._settled_at = subscription.unsettled  # a finalizer may seek from here on
        self._settled_in = snapshot if subscription.is_settled() else None
        return due_s

    def _raise_for_want_of_records(self, poll: RunningPoll) -> None:
        """Raise the errors of a poll that has nothing to return (A9)."""
        self._raise_passing_errors()
        standing = self._collector.standing_error(poll.partitions)
        standing = standing or self._offset_fetcher.missing_position_error(poll.partitions)
        if standing is None:
            standing = self._leader_error()
            is_refusal = standing is not None and not standing.retriable
            if is_refusal and not poll.is_over and not self._are_others_ready():
                standing = None  # a refused topic must not keep the others from being read
        if standing is not None and (poll.are_over(self._fetcher.pending_fetches) or poll.is_over):
            raise standing

    def _are_others_ready(self) -> bool:
        """Say whether each partition that has a leader can be fetched: the group has assigned
        them, and they have positions.
        """
        if self._group is not None and self._group.membership.awaits_assignment:
            return False
        snapshot = self._metadata.snapshot
        return all(
            state.position is not None or snapshot.leader(state.topic_partition).node_id is None
            for state in self._subscription.states()
        )

    def _raise_errors(self) -> None:
        self._raise_passing_errors()
        error = self._leader_error()
        if error is not None:
            raise error

    def _raise_passing_errors(self) -> None:
        error = (
            self._fetcher.take_error()
            or self._offset_fetcher.take_error()
            or self._preparations.take_error()
        )
        if error is not None:
            raise error

    def _leader_error(self) -> KafkaError | None:
        """Return the error of partitions without a leader, and of topics without partitions."""
        snapshot, subscription = self._metadata.snapshot, self._subscription
        leaderless = (*self._offset_fetcher.leaderless, *self._fetcher.leaderless)
        return self._leader_watch.check(
            [tp for tp in leaderless if subscription.get(tp) is not None],
            [name for name in subscription.topics if not snapshot.partition_ids(name)],
            snapshot,
            self._clock.monotonic(),
        )

    @property
    def idle_s(self) -> float:
        """Seconds in which a poll has waited for records, or several have, since the start."""
        running_s = self._clock.monotonic() - self._idle_since_s if self._idle_polls else 0.0
        return self._idle_s + running_s

    def _begin_idle(self) -> None:
        """Note that a poll begins to wait for records."""
        if not self._idle_polls:
            self._idle_since_s = self._clock.monotonic()
        self._idle_polls += 1

    def _end_idle(self) -> None:
        """Note that a poll waits no more."""
        self._idle_polls -= 1
        if not self._idle_polls:
            self._idle_s += self._clock.monotonic() - self._idle_since_s


__all__ = ["PollSteps", "RunningPoll"]
