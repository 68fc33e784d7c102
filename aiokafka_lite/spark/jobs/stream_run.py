"""Owns the life of a job's stream in the driver: started from the job's checkpoint, watched batch
by batch, and ended between batches when somebody asks.

It blocks the thread that calls it, and wakes up a few times a second.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.model import TopicPartition
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
from aiokafka_lite.spark.jobs.topic_config import StreamConfig, TopicsConfig
from aiokafka_lite.spark.offsets import Offsets, backlog
from aiokafka_lite.spark.options.source_options import OffsetLimit, Place, SourceOptions

_POLL_S: Final = 0.25
_LAST_BATCH_POLL_S: Final = 0.02
"""How often a stream that is to end is looked at: a batch that has just begun is thrown away."""


def read_topics(spark: Any, config: TopicsConfig, *, streaming: bool, **options: str) -> Any:
    """Return the DataFrame of a job's topics; further options win."""
    reader = spark.readStream if streaming else spark.read
    given = {**config.source_options(), **options}
    return reader.format("kafka-lite").options(**given).load()


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
    """Start a DataStreamWriter and stay until it is done, was asked to stop, or failed.

    The writer has sink, columns and output mode; trigger and checkpoint are the config's. Asked to
    stop, the batch that runs is ended first. `on_report` hears Spark's report of each batch, as
    JSON has it.

    Raises: what Spark refuses to start; JobFailedError for a stream that did not end by itself.
    """
    begin_s = clock.monotonic()
    query = (
        writer.queryName(f"kafka-lite {job}")
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
        with suppress(Exception):  # of a JVM that is gone
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
    # The batch that runs is ended when the next progress is there, or none is running.
    while watch.look() == seen and query.status["isTriggerActive"]:
        if query.awaitTermination(_LAST_BATCH_POLL_S):
            return DONE
    return STOPPED


class _Watch:
    """What a stream has done so far, from the reports Spark keeps of its last batches."""

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
        """Take note of the batches that have ended; return the mark of the last of them."""
        last = self.query.lastProgress
        if last is None or last["timestamp"] == self._last:
            return self._last
        for report in self.query.recentProgress:
            # A trigger without a batch is reported, too, at times; it has a time of its own.
            if report["timestamp"] > self._last:
                self._note(json.loads(report.json))
                self._last = report["timestamp"]
        return self._last

    def _note(self, report: Mapping[str, Any]) -> None:
        ends = _offsets(each.get("endOffset") for each in report["sources"])
        self.offsets = Offsets({**self.offsets, **ends})
        rows = int(report["numInputRows"])
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
                rows_per_s=float(report.get("processedRowsPerSecond") or 0.0),
                lag=backlog(ends, newest) if newest else None,
            )
        )


def _offsets(nested: Iterable[Any]) -> Offsets:
    """Merge the offsets of a progress report's sources; those that are not Kafka's are left out."""
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
    """Return how many offsets there are behind what is done; None if no broker says."""
    from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415 - the clients, only when asked

    options = SourceOptions.parse(config.source_options(), streaming=True)
    try:
        return backlog(done, Planner(options).latest())
    except (KafkaError, ValueError):
        return None


def stream_offsets(spark: Any, config: StreamConfig) -> dict[str, Any]:
    """Return where a run of this job would start and end, and by what. Only reads.

    Raises: as `Planner.resolve`.
    """
    from aiokafka_lite.spark.jobs.checkpoint import done_offsets  # noqa: PLC0415 - as above
    from aiokafka_lite.spark.read.planner import Planner  # noqa: PLC0415 - as above

    options = SourceOptions.parse(config.source_options(), streaming=True)
    planner = Planner(options)
    start, begins = done_offsets(spark, config.checkpoint), "checkpoint"
    if start is None:
        start, begins = planner.resolve(options.starting, is_start=True), "starting_offsets"
    end = planner.resolve(OffsetLimit(place=Place.LATEST), is_start=False)
    new: set[TopicPartition] = end.keys() - start.keys()
    start = Offsets({**planner.earliest(new), **start})
    return {
        "begins": begins,
        "start": start.to_nested(),
        "end": end.to_nested(),
        "lag": backlog(start, end),
    }


__all__ = ["lag_behind", "read_topics", "run_stream", "stream_offsets"]
