"""The job `aggregate`: a streaming SQL statement over topics, written to a topic or Parquet.

The user writes the statement. This file makes the views that it selects from: `records` and, for
JSON values, `events`. It also converts the statement's rows for the target. A value that cannot be
read is left out and counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job import Job, JobResult, Progress, StopSignal
from aiokafka_lite.spark.jobs.stream.sql_columns import columns_used
from aiokafka_lite.spark.jobs.stream.stream_facts import StreamFacts
from aiokafka_lite.spark.jobs.stream.stream_run import read_topics, run_stream, stream_offsets
from aiokafka_lite.spark.jobs.stream.table_sink import TableStreamConfig, stream_writer
from aiokafka_lite.spark.options.given_options import interval_faults

_CORRUPT: Final = "_corrupt_record"
_IS_BAD: Final = "_is_bad"


@dataclass(frozen=True, kw_only=True)
class AggregateConfig(TableStreamConfig):
    """The keys of `aggregate`."""

    sql: str | None = None
    """The statement: a SELECT from `records` or `events`. Set this key or `sql_file`."""
    sql_file: str | None = None
    """The path of a file with the statement."""
    event_schema: str | None = None
    """The fields of values that are JSON objects, such as `id BIGINT, at TIMESTAMP`.

    With fields, the view `events` exists. A value that does not fit is left out, and counted as
    bad_records.
    """
    event_time: str | None = None
    """An SQL expression, a timestamp, for the view's column event_time.

    Unset, it is the record's timestamp. A record with null for it is counted as bad.
    """
    watermark: str | None = None
    """How late by event_time a record may come and still count, such as `10 minutes`.

    A later record is left out, and counted as late_rows.
    """
    output_mode: Literal["append", "update", "complete"] = "append"
    """append: each window once, after the watermark has passed it. update: the rows that a
    batch has changed. complete: all rows, at every batch.
    """
    key: str | None = None
    """An SQL expression over the statement's columns: the key of the topic's records."""

    def statement(self) -> str:
        """Return the statement. Raises: OSError or ValueError for a file that cannot be read."""
        text = self.sql or ""
        if self.sql_file is not None:
            text = Path(self.sql_file).read_text(encoding="utf-8")
        return text.strip().removesuffix(";")

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if (self.sql is None) == (self.sql_file is None):
            yield "one of sql and sql_file must be set, and only one"
        else:
            try:
                if not self.statement():
                    yield "the statement is empty; select from records or events"
            except (OSError, ValueError) as error:
                yield f"sql_file={self.sql_file!r} cannot be read: {error}"
        if self.watermark is not None:
            yield from interval_faults("watermark", self.watermark)
        if self.path is not None and self.output_mode == "update":
            yield "output_mode='update' needs a topic: rows in files are not changed"
        if self.path is not None and self.key is not None:
            yield "key is for records of a topic; with path, select it as a column"


def plan(spark: Any, config: AggregateConfig) -> Any:
    """Return the rows to write, as a stream. The views are made in the session.

    Raises: KafkaConfigurationError for a statement or a schema that does not fit; Spark's
    AnalysisException.
    """
    statement = config.statement()
    ours = "timestamp" if config.event_schema is None else "timestamp value"
    used = columns_used(statement, config.event_time or "", ours)
    records = read_topics(spark, config, streaming=True, columns=used)
    if config.event_schema is None:
        timed(records, config, "timestamp").createOrReplaceTempView("records")
    else:
        records.createOrReplaceTempView("records")
        events(records, config).createOrReplaceTempView("events")
    frame = spark.sql(statement)
    if not frame.isStreaming:
        raise KafkaConfigurationError(
            "the statement reads no topic: select from the view records, or from events, which is"
            " there with event_schema"
        )
    return frame if config.path is not None else as_records(frame, config)


def timed(frame: Any, config: AggregateConfig, default: str) -> Any:
    """Return a frame with the column event_time and its watermark."""
    from pyspark.sql.functions import expr  # noqa: PLC0415 - PySpark, only where a job runs

    frame = frame.withColumn("event_time", expr(config.event_time or default))
    if config.watermark is not None:
        frame = frame.withWatermark("event_time", config.watermark)
    return frame


def events(records: Any, config: AggregateConfig) -> Any:
    """Return the view `events`: the JSON fields, `event_time`, and the whole record as `record`.

    A tombstone is neither an event nor a bad record.
    """
    from pyspark.sql import functions as f  # noqa: PLC0415

    schema = f"{config.event_schema}, {_CORRUPT} STRING"
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    json = f.from_json(f.col("value").cast("string"), schema, options)
    read = records.select(f.struct(*records.columns).alias("record"), json.alias("json"))
    fields = [name for name in read.schema["json"].dataType.names if name != _CORRUPT]
    if "record" in {name.lower() for name in fields}:
        raise KafkaConfigurationError(
            "event_schema has a field record, and so has the view, for the record itself; leave the"
            " field out, or read it from records by from_json"
        )
    is_bad = f.col("json").isNull() | f.col(f"json.{_CORRUPT}").isNotNull()
    columns = [f.col("json").getField(name).alias(name) for name in fields]
    found = read.where("record.value IS NOT NULL").select("record", is_bad.alias(_IS_BAD), *columns)
    # A bad value may be read in part. The user's expression must not see it.
    when = f.expr(config.event_time or "record.timestamp")
    found = found.withColumn("event_time", f.when(~f.col(_IS_BAD), when))
    found = found.observe("events", f.expr("count_if(event_time IS NULL) AS bad_records"))
    found = found.where("event_time IS NOT NULL").drop(_IS_BAD)
    return (
        found if config.watermark is None else found.withWatermark("event_time", config.watermark)
    )


def as_records(frame: Any, config: AggregateConfig) -> Any:
    """Return a statement's rows in the form that a topic takes.

    Rows with a column `value` stay unchanged. Other rows become JSON objects, with the configured
    key.
    """
    if "value" in frame.columns:
        if config.key is not None:
            raise KafkaConfigurationError(
                "the statement has a column value, so its rows are records as they are: select a"
                " column key, and leave out the option key"
            )
        return frame
    columns = ["to_json(struct(*), map('ignoreNullFields', 'false')) AS value"]
    if config.key is not None:
        columns.append(f"string({config.key}) AS key")
    if config.topic is None and "topic" in frame.columns:
        columns.append("topic")
    return frame.selectExpr(*columns)


def run(spark: Any, config: AggregateConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    """Aggregate the available records, or continue until a stop.

    Raises: as `plan` and `run_stream`.
    """
    writer, facts = stream_writer(plan(spark, config), config, config.output_mode), StreamFacts()
    result = run_stream(
        writer, config, job=JOB.name, stop=stop, progress=progress, on_report=facts.note
    )
    return replace(result, facts={**result.facts, **facts.to_dict()})


JOB: Final = Job(
    name="aggregate", config=AggregateConfig, plan=plan, run=run, offsets=stream_offsets
)

__all__ = ["JOB", "AggregateConfig", "as_records", "events", "plan", "run", "timed"]
