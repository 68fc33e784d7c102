"""Decides the offsets of a stream: its start, the end of each trigger, and the ranges of a batch.

It blocks only while the planner asks brokers. It keeps nothing that a restart would need: Spark's
checkpoint has that.

An idle stream asks the brokers again after a wait, and does not answer from memory. Otherwise
`processAllAvailable()` would not wait for all available records.
"""

import logging
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Final, Protocol

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.metadata.absences import PATIENCE_S
from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import (
    OffsetRange,
    Offsets,
    backlog,
    cut_log,
    gone_partitions,
    made_anew,
    plan_ranges,
    rate_limit,
    split_ranges,
)
from aiokafka_lite.spark.options.source_options import OffsetLimit, SourceOptions
from aiokafka_lite.spark.read.byte_limit import ByteLimit
from aiokafka_lite.spark.read.data_loss import report_left, report_losses
from aiokafka_lite.spark.read.log_cuts import EpochQuestions, LogCuts

logger = logging.getLogger(__name__)

_KEPT_S: Final = 86_400.0
"""How long offsets keep a partition that is absent from every answer, if lost data is no error."""

_COMMIT_PAUSE_S: Final = 60.0
"""The longest pause behind commits that fail. Each of them delays a batch by some seconds."""


class OffsetQuestions(EpochQuestions, Protocol):
    """The questions to the brokers; `Planner` implements them."""

    @property
    def topic_ids(self) -> Mapping[str, str]: ...

    def resolve(self, limit: OffsetLimit, *, is_start: bool) -> Offsets: ...

    def latest_after(self, known: Offsets) -> Offsets: ...

    def earliest(self, partitions: Iterable[TopicPartition]) -> Offsets: ...

    def weigh(self, part: OffsetRange) -> float | None: ...

    def commit(self, group_id: str, offsets: Offsets) -> None: ...

    def wait(self, delay_s: float) -> None: ...


class StreamOffsets:
    """The offsets of one run of a stream.

    Some starts may change between two questions: latest, a timestamp, a group's committed offsets.
    Such a start is pinned: the first batch is empty, and its end is the start. If Spark replays it
    and asks for the start again, the checkpoint has the old one.
    """

    def __init__(
        self, options: SourceOptions, questions: OffsetQuestions, clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._options = options
        self._questions = questions
        self._clock = clock
        self._byte_limit: ByteLimit | None = None
        if options.max_bytes_per_trigger is not None:
            self._byte_limit = ByteLimit(options.max_bytes_per_trigger, questions.weigh, clock)
        self._initial: Offsets | None = None
        self._is_pinned = options.starting.is_fixed
        self._is_available_now = False
        self._target: Offsets | None = None
        self._asked_at_s: float | None = None
        self._triggered_at_s: float | None = None
        self._planned_to: Offsets | None = None
        self._committed: Offsets | None = None
        self._logs_by_json: dict[str, Offsets] = {}
        """Without `topicIds`: the start and the end of a batch, with what tells their logs."""
        self._cuts = LogCuts(questions)
        self._told: set[tuple[object, object]] = set()
        """The logs that have changed and that a warning has told of, by id or by leader epoch."""
        self._planned_ids: Mapping[str, str] = {}
        self._absent_since_s: dict[TopicPartition, float] = {}
        self._commit_failures = 0
        self._commit_due_s = -math.inf
        self.newest: Offsets | None = None
        """The ends of the partitions at the last question."""

    def initial(self) -> Offsets:
        """Return the start of a new stream, the same at each call. Raises: as `Planner.resolve`."""
        if self._initial is None:
            found = self._questions.resolve(self._options.starting, is_start=True)
            self._initial = found.of_logs(self._questions.topic_ids, found.epochs)
            logger.info("the stream starts at %s", self._initial.to_json())
        return self._shown(self._initial)

    def prepare_available_now(self) -> None:
        """Read up to the offsets that exist at the next question, in any number of batches."""
        self._is_available_now = True

    def latest(self, start: Offsets | None, *, takes_all: bool = False) -> Offsets:
        """Return how far the next batch may go from `start`; `start` itself means no batch.

        `start` is None before Spark 4.2, which does not pass it. Then the first batch of a run has
        no limits. `takes_all` turns the limits off. Raises: as `Planner.resolve`.
        """
        if start is not None:
            start = self._with_logs(start)
            self._logs_by_json = {Offsets(start).to_json(): start}
            self._commit(start)
        elif self._planned_to is not None:
            start = self._planned_to
        else:
            # New and continued streams ask in the same way, and only the ends are valid for both.
            self._is_pinned = True
            return self._shown(self._available(Offsets()))
        available = self._available(start)
        if not self._is_pinned:
            self._is_pinned = True
            if start == self._initial:
                return self._shown(start)
        renewed = made_anew(start.topic_ids, available.topic_ids)
        kept = _without(start, renewed)
        cut = self._cuts.between(kept, available)
        kept = kept.with_others(cut)
        is_changed = bool(renewed or cut)
        if not takes_all:
            if self._is_to_wait(kept, available):
                return self._shown(start)
            limited = self._limited(kept, available)
            if limited != start or not is_changed:  # or Spark would see nothing new
                available = limited
        # Spark compares the JSON. Offsets of an earlier version without ids are no reason for a
        # batch, nor is a new leader.
        return self._shown(start if available == start and not is_changed else available)

    def _shown(self, offsets: Offsets) -> Offsets:
        """Return offsets as Spark writes them down. What `topicIds` leaves out is remembered."""
        if self._options.topic_ids:
            return offsets
        bare = Offsets(offsets)
        # The end of a log that has changed may be where the old one ended. Spark then makes no
        # batch, so what is known of the start stays.
        self._logs_by_json.setdefault(bare.to_json(), offsets)
        return bare

    def _with_logs(self, offsets: Offsets) -> Offsets:
        """Return offsets of Spark with the ids and epochs that they were shown without in this
        run.
        """
        if self._options.topic_ids or offsets.topic_ids or offsets.epochs:
            return offsets
        return self._logs_by_json.get(offsets.to_json(), offsets)

    def _limited(self, start: Offsets, available: Offsets) -> Offsets:
        """Return how far the limits of a trigger allow to go; the smaller limit counts."""
        limit = self._options.max_offsets_per_trigger
        if limit is None and self._byte_limit is None:
            return available
        begin = {**self._questions.earliest(available.keys() - start.keys()), **start}
        limits = [] if limit is None else [limit]
        if self._byte_limit is not None:
            limits.append(self._byte_limit.offsets(begin, available))
        limited = rate_limit(min(limits), begin, available)
        return limited.of_logs(available.topic_ids, available.epochs)

    def _available(self, start: Offsets) -> Offsets:
        if self._target is not None:
            return self._target
        if self._asked_at_s is not None:
            due_s = self._asked_at_s + self._options.offset_poll_interval_ms / 1000
            self._questions.wait(due_s - self._clock.monotonic())
        self.newest = self._with_absent(start, self._questions.latest_after(start))
        self._asked_at_s = self._clock.monotonic()
        if self._is_available_now:
            self._target = self.newest
        return self.newest

    def _with_absent(self, start: Offsets, found: Offsets) -> Offsets:
        """Return the ends, and for what the answer leaves out the start: nothing new is known of
        it (2f-15).

        What was absent from every answer for `PATIENCE_S` may be lost. Without `failOnDataLoss` its
        start stays for a day more, so that it is read from there when it comes back.
        Raises: DataLossError, before Spark writes down an end that lacks a partition. So a query
        that begins again after the topic came back goes on where it was.
        """
        fails = self._options.fail_on_data_loss
        patience_s = PATIENCE_S if fails else _KEPT_S
        before_s, self._absent_since_s = self._absent_since_s, {}
        now_s, ids, former = self._clock.monotonic(), self._questions.topic_ids, start.topic_ids
        kept: dict[TopicPartition, int] = {}
        gone: list[TopicPartition] = []
        left = self._left_out(start, found)
        if fails:
            report_left(left, fail=True)
        for tp in start.keys() - found.keys() - left:
            is_there = tp.topic in ids
            if is_there and former.get(tp.topic) not in (None, ids[tp.topic]):
                continue  # another topic has the name now
            since_s = before_s.get(tp, now_s)
            if now_s < since_s + patience_s or (is_there and tp.topic in former):
                self._absent_since_s[tp] = since_s
                kept[tp] = start[tp]
            else:
                gone.append(tp)
        if gone and fails:
            report_losses([gone_partitions(gone)], fail=True)
        whole = Offsets({**found, **kept})
        return whole.of_logs({**former, **ids}, {**start.epochs, **found.epochs})

    def _left_out(self, start: Offsets, end: Offsets) -> set[TopicPartition]:
        """Return the partitions of a start that the options do not select any more."""
        selection = self._options.selection
        return {tp for tp in start.keys() - end.keys() if not selection.has(tp)}

    def _is_to_wait(self, start: Offsets, available: Offsets) -> bool:
        """Return whether a batch is smaller than requested and should still wait."""
        least = self._options.min_offsets_per_trigger
        if least is None or self._is_available_now:
            return False
        now_s, before_s = self._clock.monotonic(), self._triggered_at_s
        delay_s = self._options.max_trigger_delay_ms / 1000
        is_due = before_s is None or now_s - before_s >= delay_s
        if not is_due and backlog(start, available) < least:
            return True
        self._triggered_at_s = now_s
        return False

    def plan(self, start: Offsets, end: Offsets) -> list[OffsetRange]:
        """Return the ranges of a batch. Raises: DataLossError; as `Planner.resolve`."""
        start, end = self._with_logs(start), self._with_logs(end)
        self._planned_to = end
        questions = self._questions
        if start == self._initial and not self._options.starting.is_fixed:
            # A replay of the batch that pinned the start: its start lies before the present one.
            start = start.with_others({tp: at for tp, at in end.items() if at < start.get(tp, at)})
        present = end
        if (end.topic_ids or end.epochs) and self.newest is None:
            # A batch from before a restart. Its logs may have changed meanwhile.
            present = questions.latest_after(Offsets())
        end_ids = end.topic_ids
        gone = made_anew(end_ids, questions.topic_ids)
        renewed = gone | made_anew(start.topic_ids, end_ids)
        kept, end = _without(start, renewed), _without(end, gone)
        left = self._left_out(kept, end)
        report_left(left, fail=self._options.fail_on_data_loss)
        named = Offsets({tp: at for tp, at in kept.items() if tp not in left})
        kept = named.of_logs(kept.topic_ids, kept.epochs)
        short, cut = self._cuts.between(end, present), self._cuts.between(kept, present)
        planned = end.with_others(short).of_logs(end_ids, end.epochs)
        earliest = questions.earliest((planned.keys() - kept.keys()) | cut.keys())
        former = {**start.topic_ids, **{topic: end_ids[topic] for topic in gone}}
        told = [topic for topic in renewed if self._is_news(topic, former[topic])]
        plan = plan_ranges(kept, planned, earliest, told, cut)
        losses = [
            cut_log(tp, at, before[tp])
            for before, cuts in ((kept, cut), (end, short))
            for tp, at in sorted(cuts.items())
            if self._is_news(tp, before.epochs[tp])
        ]
        report_losses([*plan.losses, *losses], fail=self._options.fail_on_data_loss)
        # A question since then may have told of other topics by these names.
        self._planned_ids = {**questions.topic_ids, **end_ids}
        return split_ranges(
            plan.ranges, self._options.min_partitions, self._options.max_records_per_partition
        )

    def _is_news(self, of: object, log: object) -> bool:
        """Return whether nothing was told yet of what has become of a log."""
        is_news = self._options.fail_on_data_loss or (of, log) not in self._told
        self._told.add((of, log))
        return is_news

    @property
    def topic_ids(self) -> Mapping[str, str]:
        """By name, the ids of the topics whose ranges were planned last."""
        return self._planned_ids

    def done(self, end: Offsets) -> None:
        """Note that all records before `end` were processed."""
        self._commit(self._with_logs(end))

    def _commit(self, offsets: Offsets) -> None:
        """Commit for the group that shows the lag.

        A failure is logged, because it is information only. The next attempt then waits for the end
        of a pause, which grows with the failures.
        """
        group = self._options.commit_group_id
        if group is None or not offsets or offsets in (self._committed, self._initial):
            return
        if self._clock.monotonic() < self._commit_due_s:
            return
        try:
            self._questions.commit(group, offsets)
        except KafkaError as error:
            logger.warning("committing %s for group %s: %s", offsets.to_json(), group, error)
            self._commit_failures += 1
            pause_s = min(2.0**self._commit_failures, _COMMIT_PAUSE_S)
            self._commit_due_s = self._clock.monotonic() + pause_s
        else:
            self._committed = offsets
            self._commit_failures = 0


def _without(offsets: Offsets, topics: Collection[str]) -> Offsets:
    kept = Offsets({tp: at for tp, at in offsets.items() if tp.topic not in topics})
    return kept.of_logs(offsets.topic_ids, offsets.epochs)


__all__ = ["OffsetQuestions", "StreamOffsets"]
