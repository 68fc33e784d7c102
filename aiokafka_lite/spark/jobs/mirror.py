"""The job `mirror`: copies records to another topic, or to the same topics of another cluster.

Records stay unchanged, or go through an SQL projection. No row depends on another, so the job needs
no shuffle and no state.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from aiokafka_lite.spark.jobs.job import Job, JobResult, Progress, StopSignal
from aiokafka_lite.spark.jobs.stream.stream_run import read_topics, run_stream, stream_offsets
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig, TopicSinkConfig


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
        # Spark gives a record without a timestamp one of -1 ms.
        names.append("if(timestampType < 0, NULL, timestamp) AS timestamp")
    if config.keep_partition:
        names.append("partition")
    if config.topic is None:
        names.append("topic")
    return ", ".join(names)


def plan(spark: Any, config: MirrorConfig) -> Any:
    """Return the rows for the sink, as a stream."""
    read = read_topics(spark, config, streaming=True, includeHeaders="true")
    condition = "" if config.where is None else f" WHERE {config.where}"
    # A template inserts the frame's name, and braces are special in a template.
    before, behind = _quoted(columns(config)), _quoted(condition)
    text = f"SELECT {before} FROM {{records}}{behind}"  # noqa: S608 - the user's, for the user
    return spark.sql(text, records=read)


def _quoted(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def run(spark: Any, config: MirrorConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    """Copy the available records, or continue until a stop. Raises: as `run_stream`."""
    writer = plan(spark, config).writeStream.format("kafka-lite").options(**config.sink_options())
    return run_stream(writer, config, job=JOB.name, stop=stop, progress=progress)


JOB: Final = Job(name="mirror", config=MirrorConfig, plan=plan, run=run, offsets=stream_offsets)

__all__ = ["JOB", "MirrorConfig", "columns", "plan", "run"]
