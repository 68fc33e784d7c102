"""The job `mirror`: copies records to another topic, or to the same topics of another cluster.

Records stay unchanged, or go through an SQL projection. No row depends on another, so the job needs
no shuffle and no state. Unchanged records need no rows of Spark either: tasks of the source copy
their ranges (`range_copy`). Transactions do need rows, because the driver ends what tasks have
written.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from aiokafka_lite.spark.batch_report import COUNTED
from aiokafka_lite.spark.jobs.job import Job, JobResult, Progress, StopSignal
from aiokafka_lite.spark.jobs.stream.sql_columns import columns_used
from aiokafka_lite.spark.jobs.stream.stream_run import read_topics, run_stream, stream_offsets
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig, TopicSinkConfig
from aiokafka_lite.spark.options.copy_options import copy_options
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.options.source_options import SourceOptions

_TASK_OFFSETS: Final = 20_000
"""A task copies so many offsets in less time than it takes Spark to start it."""


@dataclass(frozen=True, kw_only=True)
class MirrorConfig(TopicSinkConfig, StreamConfig):
    """The keys of `mirror`."""

    select: str | None = None
    """The columns to write, as the list of an SQL SELECT.

    They are the sink's: key, value, headers, timestamp, topic, partition. By default all are copied
    unchanged.
    """
    where: str | None = None
    """The condition for a record to be written, as SQL."""
    keep_partition: bool = False
    """Write each record into the partition number of its source, instead of its key's partition.

    Without effect if `select` is given.
    """
    keep_timestamp: bool = True
    """Write the source's timestamps, instead of the time of writing.

    Without effect if `select` is given.
    """

    def loops(self) -> Iterator[str]:
        yield from super().loops()
        if self.topic is None:
            yield (
                "topic must be set, or the sink_bootstrap_servers of another cluster: each topic"
                " would be read and written at once, for ever"
            )


def columns(config: MirrorConfig) -> str:
    """Return the columns to write, as SQL."""
    if config.select is not None:
        return config.select
    names = ["key", "value", "headers"]
    if config.keep_timestamp:
        names.append("timestamp")
    if config.keep_partition:
        names.append("partition")
    if config.topic is None:
        names.append("topic")
    return ", ".join(names)


def copies_ranges(config: MirrorConfig) -> bool:
    """Return whether tasks copy ranges by themselves, without rows of Spark."""
    is_unchanged = config.select is None and config.where is None
    if not is_unchanged or config.delivery == "transactional":
        return False
    read = SourceOptions.parse(config.source_options(), streaming=True)
    written = SinkOptions.parse(config.sink_options())
    # Spark renews tokens for its own sources and sinks alone.
    return read.token_mechanism is None and written.token_mechanism is None


def copied_columns(config: MirrorConfig) -> tuple[str, ...]:
    """Return the columns of records that a copy keeps."""
    wanted = {
        "timestamp": config.keep_timestamp,
        "partition": config.keep_partition,
        "topic": config.topic is None,
    }
    return ("key", "value", "headers", *(name for name, is_kept in wanted.items() if is_kept))


def copies(spark: Any, config: MirrorConfig) -> Any:
    """Return a stream that copies ranges as it runs, and yields how many records it has copied."""
    from pyspark.sql.functions import expr  # noqa: PLC0415 - PySpark, only where a job runs

    least = {} if _divides_itself(config) else {"minOffsetsPerTask": str(_TASK_OFFSETS)}
    copied = copy_options(config.sink_options(), copied_columns(config))
    counts = read_topics(spark, config, streaming=True, **copied, **least)
    return counts.observe(COUNTED, expr("sum(rows)").alias("rows"))


def _divides_itself(config: MirrorConfig) -> bool:
    """Return whether the options already say how a batch is divided among tasks."""
    given = {name.lower() for name in config.source}
    return not given.isdisjoint(("minpartitions", "minoffsetspertask"))


def executed(spark: Any, config: MirrorConfig) -> Any:
    """Return what a run executes: copies of ranges, or rows."""
    return copies(spark, config) if copies_ranges(config) else plan(spark, config)


def plan(spark: Any, config: MirrorConfig) -> Any:
    """Return the rows for the sink, as a stream."""
    used = columns_used(columns(config), config.where or "")
    read = read_topics(spark, config, streaming=True, columns=used, includeHeaders="true")
    condition = "" if config.where is None else f" WHERE {config.where}"
    # A template inserts the frame's name, and braces are special in a template.
    before, behind = _quoted(columns(config)), _quoted(condition)
    text = f"SELECT {before} FROM {{records}}{behind}"  # noqa: S608 - the user's, for the user
    return spark.sql(text, records=read)


def _quoted(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def run(spark: Any, config: MirrorConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    """Copy the available records, or continue until a stop. Raises: as `run_stream`."""
    stream = executed(spark, config).writeStream
    if copies_ranges(config):
        writer = stream.format("noop")
    else:
        writer = stream.format("kafka-lite").options(**config.sink_options())
    return run_stream(writer, config, job=JOB.name, stop=stop, progress=progress)


JOB: Final = Job(name="mirror", config=MirrorConfig, plan=executed, run=run, offsets=stream_offsets)

__all__ = [
    "JOB",
    "MirrorConfig",
    "columns",
    "copied_columns",
    "copies",
    "copies_ranges",
    "executed",
    "plan",
    "run",
]
