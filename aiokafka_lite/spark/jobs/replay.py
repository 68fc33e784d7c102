"""The job `replay`: writes an archive's records back into a topic, in offset order per partition.

It works in batches. Between two of them the job can slow down or stop. With a `checkpoint` the next
run goes on there, also after the job was killed. Without, `starting_offsets` continues a replay;
the summary has the offsets.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.archive import read_archive
from aiokafka_lite.spark.jobs.archived_ranges import (
    FileRange,
    extent,
    files_between,
    read_ranges,
    rows_reaching_before,
)
from aiokafka_lite.spark.jobs.job import (
    DONE,
    FAILED,
    STOPPED,
    BatchReport,
    Job,
    JobFailedError,
    JobResult,
    Progress,
    StopSignal,
    reason,
)
from aiokafka_lite.spark.jobs.stream.batch_log import BatchLog, NotedBatch, next_batch
from aiokafka_lite.spark.jobs.stream.checkpoint import query_options
from aiokafka_lite.spark.jobs.stream.topic_config import TopicSinkConfig
from aiokafka_lite.spark.offsets import Offsets, backlog, rate_limit

_RATE_BATCH_S: Final = 5
"""With a rate, a batch has the rows of this many seconds. The rate holds on average over them."""
_PAUSE_S: Final = 0.2


@dataclass(frozen=True, kw_only=True)
class ReplayConfig(TopicSinkConfig):
    """The keys of `replay`."""

    bootstrap_servers: str = ""
    """Brokers to write to: HOST:PORT,HOST:PORT,…"""
    path: str = ""
    """The folder of the archive."""
    topics: tuple[str, ...] = ()
    """The archived topics to replay; all by default."""
    starting_offsets: str | None = None
    """JSON by topic and partition: their first offsets.

    Other partitions begin at their first record.
    """
    ending_offsets: str | None = None
    """JSON by topic and partition: their end offsets, exclusive."""
    since: str | None = None
    """The first timestamp to replay, such as 2026-01-31T12:00:00Z; UTC by default."""
    until: str | None = None
    """Replay only records before this timestamp."""
    keep_partition: bool = False
    """Write each record into the partition number of its source, instead of its key's partition.

    The topic must have as many partitions.
    """
    keep_timestamp: bool = True
    """Write the timestamps of the archive, instead of the time of writing."""
    max_rows_per_second: int | None = None
    """The highest rate, on average over some seconds."""
    batch_rows: int = 1_000_000
    """About how many rows lie between two points at which the job can stop."""
    checkpoint: str | None = None
    """A folder in which the job notes its batches. It is this job's alone, and outlives it.

    The next run goes on there. With delivery=transactional a batch that was killed counts once.
    """

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if not self.bootstrap_servers:
            yield "bootstrap_servers must be set: HOST:PORT,HOST:PORT,…"
        if not self.path:
            yield "path must be set: the folder of the archive"
        for name in ("starting_offsets", "ending_offsets"):
            try:
                _offsets(getattr(self, name))
            except ValueError as error:
                yield f"{name}: {error}"
        for name in ("since", "until"):
            try:
                _instant(getattr(self, name))
            except ValueError:
                yield f"{name}={getattr(self, name)!r} is not a time such as 2026-01-31T12:00:00Z"
        if self.since is not None and self.until is not None:
            with suppress(ValueError):
                if _utc(self.since) >= _utc(self.until):
                    yield f"since={self.since!r} must be before until={self.until!r}"
        for name in ("max_rows_per_second", "batch_rows"):
            value = getattr(self, name)
            if value is not None and value < 1:
                yield f"{name}={value} must be at least 1"

    def rows_of_a_batch(self) -> int:
        """Return about how many rows a batch has."""
        if self.max_rows_per_second is None:
            return self.batch_rows
        return min(self.batch_rows, self.max_rows_per_second * _RATE_BATCH_S)


def _offsets(text: str | None) -> Offsets:
    return Offsets() if text is None else Offsets.from_json(text)


def _instant(text: str | None) -> str | None:
    """Return a time as SQL text, in UTC. Raises: ValueError."""
    if text is None:
        return None
    return f"TIMESTAMP '{_utc(text).isoformat(sep=' ')}'"


def _utc(text: str) -> datetime:
    when = datetime.fromisoformat(text)
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
    return when.astimezone(UTC)


# The rows…


def chosen(spark: Any, config: ReplayConfig) -> Any:
    """Return the archive's records to replay, with all their columns."""
    frame = read_archive(spark, config.path)
    for condition in conditions(config):
        frame = frame.where(condition)
    return frame


def conditions(config: ReplayConfig) -> Iterator[str]:
    """Yield the conditions for a record, as SQL."""
    if config.topics:
        yield f"topic IN ({', '.join(map(_literal, config.topics))})"
    since, until = _instant(config.since), _instant(config.until)
    if since is not None:
        yield f"timestamp >= {since}"
    if until is not None:
        yield f"timestamp < {until}"
    for tp, offset in sorted(_offsets(config.starting_offsets).items()):
        yield f"NOT ({_of(tp)} AND offset < {offset})"
    for tp, offset in sorted(_offsets(config.ending_offsets).items()):
        yield f"NOT ({_of(tp)} AND offset >= {offset})"


def _literal(text: str) -> str:
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{quoted}'"


def _of(tp: TopicPartition) -> str:
    return f"topic = {_literal(tp.topic)} AND partition = {tp.partition}"


def in_files(paths: Iterable[str]) -> str:
    """Return the condition for the records of these files, as SQL."""
    listed = ", ".join(map(_literal, sorted(paths)))
    return f"_metadata.file_path IN ({listed})" if listed else "false"


def between(start: Offsets, end: Offsets) -> str:
    """Return the condition for the records of a batch, as SQL."""
    ranges = [
        f"({_of(tp)} AND offset >= {start[tp]} AND offset < {end[tp]})"
        for tp in sorted(end)
        if end[tp] > start[tp]
    ]
    return " OR ".join(ranges)


def in_order(frame: Any, config: ReplayConfig) -> Any:
    """Return the rows for the sink: one task has all of a partition's, in offset order."""
    names = ["key", "value", "headers"]
    if config.keep_timestamp:
        names.append("timestamp")
    if config.keep_partition:
        names.append("partition")
    if config.topic is None:
        names.append("topic")
    ordered = frame.repartition("topic", "partition")
    return ordered.sortWithinPartitions("topic", "partition", "offset").selectExpr(*names)


def plan(spark: Any, config: ReplayConfig) -> Any:
    """Return the rows for the sink, as if they were one batch."""
    return in_order(chosen(spark, config), config)


# The run…


def run(spark: Any, config: ReplayConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    """Write the chosen records, batch by batch, until all are written or a stop is requested.

    Raises: JobFailedError for a batch that was not written; the batches before it are written. Also
    for a checkpoint whose offsets mean other records by now.
    """
    begin_s = SYSTEM_CLOCK.monotonic()
    frame = chosen(spark, config)
    ranges = read_ranges(spark, frame)
    first, end = extent(ranges)
    log = None if config.checkpoint is None else BatchLog(spark, config.checkpoint)
    newest = None if log is None else log.newest()
    batch, upto = next_batch(newest, first, end)
    done = batch.start
    pace = Pace(config.max_rows_per_second, stop)
    rows = batches = 0

    def result(status: str, *problems: str) -> JobResult:
        return JobResult(
            job=JOB.name,
            status=status,
            rows=rows,
            batches=batches,
            offsets=done.to_nested(),
            lag=backlog(done, end),
            seconds=round(SYSTEM_CLOCK.monotonic() - begin_s, 3),
            problems=problems,
        )

    if newest is not None and (others := [*other_lives(newest, ranges)]):
        raise JobFailedError(result(FAILED, *others))
    while (done != end or upto is not None) and not stop.is_set():
        before_s = SYSTEM_CLOCK.monotonic()
        if upto is None:
            upto = rate_limit(config.rows_of_a_batch(), done, end)
        batch = replace(batch, start=done, end=upto, rows=rows_reaching_before(ranges, upto))
        named = query_options(spark) if log is None else batch.options
        try:
            if log is not None:
                log.begin(batch)
            files = files_between(ranges, done, upto)
            count = _write(frame.where(in_files(files)).where(between(done, upto)), config, named)
            if log is not None:
                log.done(batch)
        except Exception as error:
            raise JobFailedError(result(FAILED, reason(error))) from error
        batch, upto = next_batch(replace(batch, is_done=True), first, end)
        done, rows, batches = batch.start, rows + count, batches + 1
        seconds = max(SYSTEM_CLOCK.monotonic() - before_s, 1e-6)
        progress.batch(
            BatchReport(
                batch=batches - 1,
                rows=count,
                total_rows=rows,
                rows_per_s=count / seconds,
                lag=backlog(done, end),
            )
        )
        pace.wait(count)
    return result(DONE if done == end else STOPPED)


def other_lives(noted: NotedBatch, ranges: list[FileRange]) -> Iterator[str]:
    """Yield what is wrong with the place of an earlier run: an offset is no identity (2c-10).

    An archive goes on when its topic is created again, or its log is cut. Then it gets other
    records with offsets that were replayed.
    """
    before = noted.rows or Offsets()
    for tp, rows in sorted(rows_reaching_before(ranges, noted.end).items()):
        more = rows - before.get(tp, rows)
        if more > 0:
            yield (
                f"partition {tp.topic}-{tp.partition} has {more} more records in files that begin"
                f" before offset {noted.end[tp]} than when batch {noted.number} was replayed up to"
                " there: its topic was created again, its log was cut, files were merged, or other"
                " records are chosen. To go on, take another checkpoint, and choose by since and"
                " until, or by starting_offsets"
            )


def _write(frame: Any, config: ReplayConfig, named: Mapping[str, str]) -> int:
    """Write a batch, which these options name; return its number of rows."""
    from pyspark.sql import Observation  # noqa: PLC0415 - PySpark, only where a job runs
    from pyspark.sql.functions import count, lit  # noqa: PLC0415

    seen = Observation()
    rows = in_order(frame.observe(seen, count(lit(1)).alias("rows")), config)
    options = config.sink_options()
    if config.delivery == "transactional":
        options |= named
    rows.write.format("kafka-lite").options(**options).mode("append").save()
    return int(seen.get["rows"])


class Pace:
    """Limits the rows per second, on average since it was made."""

    def __init__(
        self,
        rows_per_s: int | None,
        stop: StopSignal,
        clock: Clock = SYSTEM_CLOCK,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._rows_per_s = rows_per_s
        self._stop = stop
        self._clock = clock
        self._sleep = threading.Event().wait if sleep is None else sleep
        self._due_s = clock.monotonic()

    def wait(self, rows: int) -> None:
        """Return once this many further rows are allowed, or a stop is requested."""
        if self._rows_per_s is None:
            return
        self._due_s += rows / self._rows_per_s
        while not self._stop.is_set():
            left_s = self._due_s - self._clock.monotonic()
            if left_s <= 0:
                # Time lost to slow brokers is not made up for in a burst.
                self._due_s = self._clock.monotonic()
                return
            self._sleep(min(left_s, _PAUSE_S))


def dry_offsets(spark: Any, config: ReplayConfig) -> dict[str, Any]:
    """Return what a run would write, by the archive's offsets. Only reads."""
    first, end = extent(read_ranges(spark, chosen(spark, config)))
    log = None if config.checkpoint is None else BatchLog(spark, config.checkpoint)
    start = next_batch(None if log is None else log.newest(), first, end)[0].start
    return {"start": start.to_nested(), "end": end.to_nested(), "lag": backlog(start, end)}


JOB: Final = Job(name="replay", config=ReplayConfig, plan=plan, run=run, offsets=dry_offsets)

__all__ = [
    "JOB",
    "Pace",
    "ReplayConfig",
    "between",
    "chosen",
    "conditions",
    "dry_offsets",
    "in_files",
    "in_order",
    "other_lives",
    "plan",
    "run",
]
