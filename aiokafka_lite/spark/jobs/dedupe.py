"""The job `dedupe`: the records of topics, each key once, into a topic or Parquet.

A stream keeps the first record of each key within some time. A batch (`mode="compact"`) keeps the
last record of each key, like a compacted topic.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, Final, Literal

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.spark.jobs.job import (
    BatchReport,
    Job,
    JobResult,
    Progress,
    StopSignal,
)
from aiokafka_lite.spark.jobs.stream.checkpoint import query_options
from aiokafka_lite.spark.jobs.stream.own_output import refuse_own_output
from aiokafka_lite.spark.jobs.stream.stream_facts import LATE, StreamFacts
from aiokafka_lite.spark.jobs.stream.stream_run import (
    lag_behind,
    read_topics,
    run_stream,
    stream_offsets,
)
from aiokafka_lite.spark.jobs.stream.table_sink import TableStreamConfig, stream_writer, write_batch
from aiokafka_lite.spark.offsets import Offsets, backlog
from aiokafka_lite.spark.options.given_options import interval_faults
from aiokafka_lite.spark.options.source_options import SourceOptions

_STREAM: Final = "stream"
_UNKEYED: Final = "_unkeyed"
_EVENT_TIME: Final = "_event_time"


@dataclass(frozen=True, kw_only=True)
class DedupeConfig(TableStreamConfig):
    """The keys of `dedupe`."""

    mode: Literal["stream", "compact"] = "stream"
    """stream: leave out repeated records. compact: of the available records, keep each key's
    last.
    """
    key: tuple[str, ...] = ("topic", "key")
    """SQL expressions over a record's columns. Records with equal results are duplicates.

    A record with NULL for one of them equals no other: a stream writes it, compact leaves it out.
    """
    within: str = "1 hour"
    """In a stream: how far apart, by event_time, two duplicates of a key may be.

    It is also how late a record may come. Spark keeps the keys of that time.
    """
    event_time: str = "timestamp"
    """In a stream: an SQL expression for event_time.

    With current_timestamp() it is the time of reading; then no record is late.
    """
    keep_tombstones: bool = False
    """In compact: whether keys whose last value is NULL are also written."""

    def loops(self) -> Iterator[str]:
        yield from super().loops()
        if self.path is None and self.topic is None:
            yield "topic must be set, or path, or the sink_bootstrap_servers of another cluster"

    def _streams(self) -> bool:
        return self.mode == _STREAM

    def _faults(self) -> Iterator[str]:
        for fault in super()._faults():
            if self._streams() or not fault.startswith("checkpoint must be set"):
                yield fault
        if not self.key or not all(self.key):
            yield f"key={list(self.key)} must be SQL expressions over a record's columns"
        if self._streams():
            yield from interval_faults("within", self.within)
            if self.keep_tombstones:
                yield "keep_tombstones is for mode='compact'; a stream writes every value it has"
        elif self.checkpoint:
            yield "checkpoint is for mode='stream'; compact begins anew each time"


def plan(spark: Any, config: DedupeConfig) -> Any:
    """Return the records that stay, with the columns of the target."""
    if config.mode == _STREAM:
        records = read_topics(spark, config, streaming=True, includeHeaders="true")
        return _written(first_of_each(records, config), config)
    records = read_topics(spark, config, streaming=False, includeHeaders="true")
    return _written(last_of_each(records, config), config)


def first_of_each(records: Any, config: DedupeConfig) -> Any:
    """Return the first record of each key within the time, of a stream."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - PySpark, only where a job runs

    names, keyed = _with_keys(records, config.key)
    place = f.struct("topic", "partition", "offset")
    # A record without a key is identified by its partition and offset.
    keyed = keyed.withColumn(_UNKEYED, f.when(_has_no_key(names), place))
    keyed = keyed.observe("dedupe", f.count(_UNKEYED).alias("without_key"))
    keyed = keyed.withColumn(_EVENT_TIME, f.expr(config.event_time))
    keyed = keyed.withWatermark(_EVENT_TIME, config.within)
    return keyed.dropDuplicatesWithinWatermark([*names, _UNKEYED]).select(*records.columns)


def last_of_each(records: Any, config: DedupeConfig) -> Any:
    """Return the last record of each key.

    In a partition it has the highest offset. Of several partitions it is the youngest of those.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    names, keyed = _with_keys(records, config.key)
    keyed = keyed.where(~_has_no_key(names))
    record = f.struct(*records.columns).alias("record")
    places = ["topic", "partition"]
    lasts = keyed.groupBy(*names, *places).agg(f.max_by(record, "offset").alias("record"))
    age = f.struct("record.timestamp", *places)
    last = lasts.groupBy(*names).agg(f.max_by("record", age).alias("record")).select("record.*")
    return last if config.keep_tombstones else last.where("value IS NOT NULL")


def _with_keys(records: Any, expressions: Sequence[str]) -> tuple[list[str], Any]:
    from pyspark.sql.functions import expr  # noqa: PLC0415

    columns = {f"_key{number}": expr(text) for number, text in enumerate(expressions)}
    return list(columns), records.withColumns(columns)


def _has_no_key(names: Sequence[str]) -> Any:
    from pyspark.sql.functions import col  # noqa: PLC0415

    return reduce(or_, (col(name).isNull() for name in names))


def _written(records: Any, config: DedupeConfig) -> Any:
    """Return the columns for a topic; a table gets all of them."""
    if config.path is not None:
        return records
    topic = ("topic",) if config.topic is None else ()
    return records.selectExpr("key", "value", "headers", "timestamp", *topic)


def run(spark: Any, config: DedupeConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    """Write each key once. Raises: as `run_stream`, or the batch's errors.

    Records that a stream leaves out as late are lost to its target. So the result reports them as a
    problem.
    """
    if config.mode != _STREAM:
        return _compact(spark, config, progress)
    writer, facts = stream_writer(plan(spark, config), config, "append"), StreamFacts()
    result = run_stream(
        writer, config, job=JOB.name, stop=stop, progress=progress, on_report=facts.note
    )
    result = replace(result, facts={**result.facts, **facts.to_dict()})
    late = result.facts.get(LATE, 0)
    if not late:
        return result
    problem = (
        f"{late} records came later than within={config.within!r} allows and were left out; raise"
        " it, or set event_time to current_timestamp()"
    )
    return replace(result, problems=(*result.problems, problem))


def _compact(spark: Any, config: DedupeConfig, progress: Progress) -> JobResult:
    """Write the last record of each key, as one batch of the records available at its start."""
    from pyspark.sql import Observation  # noqa: PLC0415
    from pyspark.sql.functions import expr  # noqa: PLC0415

    refuse_own_output(config)
    begin_s = SYSTEM_CLOCK.monotonic()
    _, end = _range(config)
    records = read_topics(
        spark, config, streaming=False, includeHeaders="true", endingOffsets=end.to_json()
    )
    read, written = Observation(), Observation()
    no_key = " OR ".join(f"({text}) IS NULL" for text in config.key)
    records = records.observe(
        read, expr("count(*) AS rows"), expr(f"count_if({no_key}) AS without_key")
    )
    last = last_of_each(records, config).observe(written, expr("count(*) AS rows"))
    named = query_options(spark) if config.delivery == "transactional" else {}
    write_batch(_written(last, config), config, named)
    seconds = SYSTEM_CLOCK.monotonic() - begin_s
    rows = read.get["rows"]
    progress.batch(
        BatchReport(batch=0, rows=rows, total_rows=rows, rows_per_s=rows / seconds, lag=0)
    )
    return JobResult(
        job=JOB.name,
        rows=rows,
        batches=1,
        offsets=end.to_nested(),
        lag=lag_behind(config, end),
        seconds=round(seconds, 3),
        facts={"written": written.get["rows"], "without_key": read.get["without_key"]},
    )


def _range(config: DedupeConfig) -> tuple[Offsets, Offsets]:
    """Return the batch's present start and end, as numbers alone."""
    from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415 - the clients, only when asked

    options = SourceOptions.parse(config.source_options(), streaming=False)
    planner = Planner(options)
    start = planner.resolve(options.starting, is_start=True)
    return Offsets(start), Offsets(planner.resolve(options.ending, is_start=False))


def offsets(spark: Any, config: DedupeConfig) -> dict[str, Any]:
    """Return where a run would start and end. Only reads. Raises: as `Planner.resolve`."""
    if config.mode == _STREAM:
        return stream_offsets(spark, config)
    start, end = _range(config)
    return {"start": start.to_nested(), "end": end.to_nested(), "lag": backlog(start, end)}


JOB: Final = Job(name="dedupe", config=DedupeConfig, plan=plan, run=run, offsets=offsets)

__all__ = ["JOB", "DedupeConfig", "first_of_each", "last_of_each", "offsets", "plan", "run"]
