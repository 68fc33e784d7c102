"""Runs a job's stream in the driver: starts it from the checkpoint, watches it, and stops it.

It stops between batches on request. It blocks the calling thread, and checks a few times a second.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.batch_report import read_report, rows_of, rows_per_s
from aiokafka_lite.spark.jobs.job import (
    DONE,
    FAILED,
    STOPPED,
    BatchReport,
    JobFailedError,
    JobResult,
    Progress,
    StopSignal,
    reason,
)
from aiokafka_lite.spark.jobs.stream.own_output import refuse_own_output
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig, TopicsConfig
from aiokafka_lite.spark.offsets import Offsets, backlog
from aiokafka_lite.spark.options.source_options import OffsetLimit, Place, SourceOptions
from aiokafka_lite.spark.read.arrow import ddl

_POLL_S: Final = 0.25
_LAST_BATCH_POLL_S: Final = 0.02
"""How often a stream that is to end is checked. A batch that has just begun is discarded."""


def query_name(job: str, checkpoint: str) -> str:
    """Return the name of a job's query, one for each checkpoint: a session may run several."""
    folder = checkpoint.rstrip("/")
    return f"kafka-lite {job} {hashlib.sha256(folder.encode()).hexdigest()[:8]}"


def read_topics(
    spark: Any,
    config: TopicsConfig,
    *,
    streaming: bool,
    columns: Iterable[str] | None = None,
    **options: str,
) -> Any:
    """Return the DataFrame of a job's topics; further options override the config's.

    `columns` are those to read; None: all. Headers are there if an option includes them.
    """
    reader = spark.readStream if streaming else spark.read
    given = {**config.source_options(), **options}
    reader = reader.format("kafka-lite").options(**given)
    if columns is not None:
        lower = {name.lower(): text.lower() for name, text in given.items()}
        has_headers = lower.get("includeheaders") == "true"
        known = [name for name in columns if has_headers or name != "headers"]
        reader = reader.schema(ddl(known))
    return reader.load()


def run_stream(
    writer: Any,
    config: StreamConfig,
    *,
    job: str,
    stop: StopSignal,
    progress: Progress,
    on_report: Callable[[Mapping[str, Any]], object] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> JobResult:
    """Start a DataStreamWriter and return when it is done, stopped on request, or failed.

    The writer has sink, columns and output mode; trigger and checkpoint come from the config. On a
    stop request the current batch ends first. `on_report` receives Spark's report of each batch as
    JSON.

    Raises: as `refuse_own_output`; the errors of a refused start; JobFailedError for a stream that
    ended with a failure.
    """
    refuse_own_output(config)
    begin_s = clock.monotonic()
    query = (
        writer.queryName(query_name(job, config.checkpoint))
        .option("checkpointLocation", config.checkpoint)
        .trigger(**config.trigger_arguments())
        .start()
    )
    watch = _Watch(query, progress, on_report)

    def result(status: str, *problems: str) -> JobResult:
        return JobResult(
            job=job,
            status=status,
            rows=watch.rows,
            batches=watch.batches,
            offsets=watch.offsets.to_nested(),
            lag=lag_behind(config, watch.offsets) if watch.offsets else None,
            seconds=round(clock.monotonic() - begin_s, 3),
            problems=problems,
        )

    try:
        status = _stay(watch, stop)
        if status == STOPPED:
            query.stop()
        watch.look()
    except Exception as error:
        with suppress(Exception):  # the JVM may have ended
            query.stop()
        raise JobFailedError(result(FAILED, reason(error))) from error
    return result(status)


def _stay(watch: "_Watch", stop: StopSignal) -> str:
    query = watch.query
    while not stop.is_set():
        if query.awaitTermination(_POLL_S):
            return DONE
        watch.look()
    seen = watch.look()
    # The current batch has ended when the next progress arrives, or no batch is active.
    while watch.look() == seen and query.status["isTriggerActive"]:
        if query.awaitTermination(_LAST_BATCH_POLL_S):
            return DONE
    return STOPPED


class _Watch:
    """The work of a stream so far, from Spark's reports of its last batches."""

    def __init__(
        self,
        query: Any,
        progress: Progress,
        on_report: Callable[[Mapping[str, Any]], object] | None,
    ) -> None:
        self.query = query
        self.rows = 0
        self.batches = 0
        self.offsets = Offsets()
        self._progress = progress
        self._on_report = on_report
        self._last = ""

    def look(self) -> str:
        """Add the batches that have ended; return the mark of the last of them."""
        last = self.query.lastProgress
        if last is None or last["timestamp"] == self._last:
            return self._last
        for report in self.query.recentProgress:
            # Sometimes a trigger without a batch is reported, too, with a timestamp of its own.
            if report["timestamp"] > self._last:
                self._note(read_report(report.json))
                self._last = report["timestamp"]
        return self._last

    def _note(self, report: Mapping[str, Any]) -> None:
        ends = _offsets(each.get("endOffset") for each in report["sources"])
        self.offsets = Offsets({**self.offsets, **ends})
        rows = rows_of(report)
        if not rows and "addBatch" not in report["durationMs"]:
            return
        if self._on_report is not None:
            self._on_report(report)
        self.rows += rows
        self.batches += 1
        newest = _offsets(each.get("latestOffset") for each in report["sources"])
        self._progress.batch(
            BatchReport(
                batch=int(report["batchId"]),
                rows=rows,
                total_rows=self.rows,
                rows_per_s=rows_per_s(report),
                lag=backlog(ends, newest) if newest else None,
            )
        )


def _offsets(nested: Iterable[Any]) -> Offsets:
    """Merge the offsets of a progress report's sources, without those of other sources than
    Kafka.
    """
    found = Offsets()
    for each in nested:
        if isinstance(each, dict):
            try:
                found.update(Offsets.from_nested(each))
            except ValueError:
                continue
    return found


# Offsets…


def lag_behind(config: TopicsConfig, done: Offsets) -> int | None:
    """Return how many offsets lie behind the done ones; None if no broker answers."""
    from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415 - the clients, only when asked

    options = SourceOptions.parse(config.source_options(), streaming=True)
    try:
        return backlog(done, Planner(options).latest())
    except (KafkaError, ValueError):
        return None


def stream_offsets(spark: Any, config: StreamConfig) -> dict[str, Any]:
    """Return where a run of this job would start and end, and what decides it. Only reads.

    Raises: as `Planner.resolve`.
    """
    from aiokafka_lite.spark.jobs.stream.checkpoint import done_offsets  # noqa: PLC0415
    from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415

    options = SourceOptions.parse(config.source_options(), streaming=True)
    planner = Planner(options)
    start, begins = done_offsets(spark, config.checkpoint), "checkpoint"
    if start is None:
        start, begins = planner.resolve(options.starting, is_start=True), "starting_offsets"
    end = Offsets(planner.resolve(OffsetLimit(place=Place.LATEST), is_start=False))
    new: set[TopicPartition] = end.keys() - start.keys()
    start = Offsets({**planner.earliest(new), **start})
    return {
        "begins": begins,
        "start": start.to_nested(),
        "end": end.to_nested(),
        "lag": backlog(start, end),
    }


__all__ = ["lag_behind", "query_name", "read_topics", "run_stream", "stream_offsets"]
