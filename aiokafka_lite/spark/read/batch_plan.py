"""Plans a batch query: resolves its limits to offsets, and cuts these into ranges for tasks.

The ends that a user names are checked here, when a batch is planned.
"""

from collections.abc import Iterable
from typing import Any

from aiokafka_lite.spark.offsets import (
    OffsetRange,
    Offsets,
    cut_log,
    gone_partitions,
    made_again,
    made_anew,
    plan_ranges,
    split_ranges,
)
from aiokafka_lite.spark.options.source_options import Place, SourceOptions
from aiokafka_lite.spark.read.data_loss import report_losses
from aiokafka_lite.spark.read.log_cuts import LogCuts
from aiokafka_lite.spark.read.planner import Planner
from aiokafka_lite.spark.read.pushdown import begin_at, earliest_timestamp_ms, narrow


def plan_batch(
    options: SourceOptions, planner: Planner, filters: Iterable[Any] = ()
) -> list[OffsetRange]:
    """Return the ranges of a batch query, one per task, without what the filters exclude.

    Raises: ValueError for limits that name unknown partitions; DataLossError for an end behind the
    log's, and for partitions that have gone or changed since the start was asked for; else as
    `Planner.resolve`.
    """
    start = planner.resolve(options.starting, is_start=True)
    ids = dict(planner.topic_ids)
    end = _end(options, planner)
    for _ in range(options.fetch_offset_retries - 1):
        if start.keys() == end.keys():
            break
        # One answer has left something out, or a topic has changed in between (2f-15).
        planner.wait(options.fetch_offset_retry_interval_ms / 1000)
        start = planner.resolve(options.starting, is_start=True).with_others(start)
        end = _end(options, planner).with_others(end)
    if gone := start.keys() - end.keys():
        report_losses([gone_partitions(gone)], fail=options.fail_on_data_loss)
    start = _in_present_logs(options, planner, start.of_logs(ids, start.epochs), end)
    shared = start.keys() & end.keys()
    start = Offsets({tp: start[tp] for tp in shared})
    # A start behind the end means nothing to read: no record is as young, or none exists yet.
    end = Offsets({tp: max(end[tp], start[tp]) for tp in shared}).of_logs({}, end.epochs)
    kept = list(filters)
    ranges = narrow(plan_ranges(start, end, {}).ranges, kept)
    timestamp_ms = earliest_timestamp_ms(kept)
    if ranges and timestamp_ms is not None:
        partitions = {each.topic_partition for each in ranges}
        ranges = begin_at(ranges, planner.first_as_young(partitions, timestamp_ms))
    return split_ranges(ranges, options.min_partitions, options.max_records_per_partition)


def _in_present_logs(
    options: SourceOptions, planner: Planner, start: Offsets, end: Offsets
) -> Offsets:
    """Return the starts, moved to where logs begin that have changed since: a group's committed
    offset may be older than the log, and a topic may be made anew between two questions.

    Raises: DataLossError.
    """
    renewed = made_anew(start.topic_ids, planner.topic_ids)
    moved = {tp for tp in start if tp.topic in renewed}
    cut = {tp: at for tp, at in LogCuts(planner).between(start, end).items() if tp not in moved}
    losses = [made_again(topic) for topic in sorted(renewed)]
    losses += [cut_log(tp, at, start[tp]) for tp, at in sorted(cut.items())]
    report_losses(losses, fail=options.fail_on_data_loss)
    first = planner.earliest(moved | cut.keys())
    return start.with_others({tp: max(at, cut.get(tp, at)) for tp, at in first.items()})


def _end(options: SourceOptions, planner: Planner) -> Offsets:
    """Return the ends. An end that the user named must not lie behind the log's."""
    end = planner.resolve(options.ending, is_start=False)
    if options.ending.place is not Place.OFFSETS:
        return end
    last = planner.ends(end)
    losses = [
        f"{tp.topic}-{tp.partition} ends at {last[tp]}, before its ending offset {end[tp]}"
        for tp in sorted(end)
        if last[tp] < end[tp]
    ]
    report_losses(losses, fail=options.fail_on_data_loss)
    return Offsets({tp: min(end[tp], last[tp]) for tp in end}).of_logs({}, last.epochs)


__all__ = ["plan_batch"]
