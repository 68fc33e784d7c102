"""Owns the job `decode`: values in JSON or Avro become typed columns, in Parquet or as JSON in
another topic, and what cannot be decoded goes to a dead-letter topic with the reason.

A topic is written by one stream, good records and dead letters alike, so `delivery` holds for both.
Parquet is written by Spark's file sink; with a dead-letter topic batch by batch, each into a folder
of its own that a batch which is done again replaces: each row is in there once in either case.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.decode.dead_letters import dead_letter_headers, quoted, refusal
from aiokafka_lite.spark.decode.decoding import AvroColumn
from aiokafka_lite.spark.decode.schema_registry import RegistryConfig, SchemaRegistry
from aiokafka_lite.spark.jobs.job import Job, JobResult, Progress, StopSignal
from aiokafka_lite.spark.jobs.stream_run import read_topics, run_stream, stream_offsets
from aiokafka_lite.spark.jobs.topic_config import StreamConfig, TopicSinkConfig

_CORRUPT: Final = "__corrupt"
_RAW_COLUMNS: Final = ("key", "raw", "topic", "partition", "offset", "timestamp", "headers")
_OBSERVED: Final = "kafka-lite decode"


@dataclass(frozen=True, kw_only=True)
class DecodeConfig(StreamConfig, TopicSinkConfig):
    """The keys of `decode`. `topic` is where decoded values go, as JSON; or `path`."""

    format: Literal["json", "avro"] = "json"
    """What values are."""
    framing: Literal["none", "confluent"] = "none"
    """confluent: a zero and the id of a schema, five bytes in all, are before each value."""
    schema: str | None = None
    """The columns to read: for JSON in Spark's DDL, such as "id bigint, name string"; for Avro a
    schema in JSON, which is compared with the writers' by Avro's rules."""
    schema_file: str | None = None
    """A file, read by the driver, that has the schema."""
    subject: str | None = None
    """For Avro from a registry, without a schema of one's own: the newest of this subject is read
    when the job starts. Unless set it is TOPIC-value."""
    registry_urls: tuple[str, ...] = ()
    """Where the schema registry is: http://HOST:PORT, tried in turn."""
    registry_user: str | None = None
    registry_password: str | None = None
    """env:NAME or file:PATH; executors read it, too."""
    registry_token: str | None = None
    """As the password; a bearer token in place of user and password."""
    registry_timeout_s: float = 10.0
    """How long connecting to the registry may take, and each wait for it."""
    select: tuple[str, ...] = ("value.*",)
    """The columns to write, as SQL of value, key, topic, partition, offset, timestamp, headers."""
    tombstones: Literal["keep", "drop"] = "keep"
    """What becomes of records without a value. Kept they are rows of nulls in Parquet."""
    path: str | None = None
    """The folder of Parquet files, if that is where the columns go."""
    partition_by: tuple[str, ...] = ()
    """Columns of the selection that are folders in there."""
    compression: str = "zstd"
    """Parquet's: zstd, snappy, gzip, lz4, none."""
    dead_letter_topic: str | None = None
    """Where records go that cannot be decoded, as they are, with the reason in headers; without it
    the first of them ends the job."""

    def sink_options(self) -> dict[str, str]:
        """Return the options of the sink; a column names the topic, which may be one of two."""
        options = super().sink_options()
        options.pop("topic", None)
        return options

    def registry(self) -> RegistryConfig | None:
        """Return where schemas are looked up; None if that is nowhere."""
        if not self.registry_urls:
            return None
        return RegistryConfig(
            urls=self.registry_urls,
            user=self.registry_user,
            password=self.registry_password,
            token=self.registry_token,
            timeout_s=self.registry_timeout_s,
        )

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if (self.path is None) == (self.topic is None):
            yield "one of path and topic must be set, and only one: where decoded values go"
        if self.dead_letter_topic is not None and self.dead_letter_topic in (
            *self.topics,
            self.topic,
        ):
            yield (
                f"dead_letter_topic={self.dead_letter_topic!r} is a topic of the job's own; dead"
                " letters would be taken for records"
            )
        if not self.select:
            yield "select must name a column at least"
        yield from self._schema_faults()

    def _schema_faults(self) -> Iterator[str]:
        if self.schema is not None and self.schema_file is not None:
            yield "schema and schema_file say the same; set one of them"
        has_schema = self.schema is not None or self.schema_file is not None
        asks = self.format == "avro" and self.framing == "confluent"
        if not asks and not has_schema:
            yield f"schema or schema_file must be set: format={self.format!r} has no columns itself"
        if self.registry_urls and not asks:
            yield "registry_urls is for format='avro' with framing='confluent' only"
        if asks and not self.registry_urls:
            yield "registry_urls must be set: with framing='confluent' Avro's schemas are there"
        if asks and not has_schema and self.subject is None and len(self.topics) != 1:
            yield "subject, or a schema, must be set: there is not one topic to take its name from"
        registry = self.registry()
        if registry is not None:
            yield from registry.faults()


def plan(spark: Any, config: DecodeConfig) -> Any:
    """Return the decoded records: the columns of a read, the value's bytes as `raw`, the decoded
    `value`, and `error`, which is null unless the value could not be decoded.

    Asks the registry for the newest schema if none is named. Raises: KafkaConfigurationError for a
    schema that cannot be; SchemaRegistryError, UnknownSchemaError.
    """
    frame = (
        read_topics(spark, config, streaming=True, includeHeaders="true")
        .withColumnRenamed("value", "raw")
        .select(*_RAW_COLUMNS)
    )
    if config.tombstones == "drop":
        frame = frame.where("raw is not null")
    schema = _schema(config)
    if config.format == "json":
        return _from_json(frame, schema, framed=config.framing == "confluent")
    decode = AvroColumn(schema=schema, registry=config.registry()).function()
    frame = frame.withColumn("decoded", decode(frame.raw))
    return frame.selectExpr(*_RAW_COLUMNS, "decoded.value", "decoded.error")


def _schema(config: DecodeConfig) -> str:
    if config.schema is not None:
        return config.schema
    if config.schema_file is not None:
        try:
            return Path(config.schema_file).read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise KafkaConfigurationError(f"schema_file={config.schema_file!r}: {error}") from error
    registry = config.registry()
    assert registry is not None, "or the config is refused"
    subject = config.subject or f"{config.topics[0]}-value"
    found = SchemaRegistry(registry).latest(subject)
    if found.kind != "AVRO" or found.references:
        what = "refers to others" if found.references else f"is {found.kind}, not AVRO"
        raise KafkaConfigurationError(
            f"the newest schema of {subject} {what}; name the columns to read by schema"
        )
    return found.text


def _from_json(frame: Any, ddl: str, *, framed: bool) -> Any:
    """Decode in Spark. A value with one wrong field is wrong as a whole."""
    from pyspark.sql.functions import col, expr  # noqa: PLC0415 - PySpark, only where a job runs

    text = "string(substring(raw, 6))" if framed else "string(raw)"
    options = f"map('mode', 'PERMISSIVE', 'columnNameOfCorruptRecord', '{_CORRUPT}')"
    full = quoted(f"{ddl.strip().rstrip(',')}, {_CORRUPT} string")
    wrong = {
        "is_valid_utf8(text)": ("UnicodeDecodeError", "it is no UTF-8"),
        f"parsed is not null and parsed.{_CORRUPT} is null": (
            "JSONDecodeError",
            f"it is no JSON object, or its fields are not of the types {ddl.strip()}",
        ),
    }
    if framed:
        wrong = {
            "length(raw) >= 5 and startswith(raw, X'00')": (
                "WireFormatError",
                "it does not begin with a zero and the id of a schema",
            ),
            **wrong,
        }
    cases = " ".join(
        f"when not ({is_right}) then named_struct('class', '{kind}', 'message', {quoted(said)})"
        for is_right, (kind, said) in wrong.items()
    )
    parsed = frame.selectExpr("*", f"{text} AS text").selectExpr(
        "*", f"from_json(text, {full}, {options}) AS parsed"
    )
    parsed = parsed.withColumn("error", expr(f"case when raw is null then null {cases} end"))
    parsed = parsed.withColumn("value", col("parsed").dropFields(_CORRUPT))
    return parsed.withColumn("value", expr("if(error is null, value, null)")).drop("text", "parsed")


# Where it goes…


def run(spark: Any, config: DecodeConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    """Decode what there is, or go on until asked to stop. Raises: as `plan` and `run_stream`."""
    frame = plan(spark, config)
    count = _DeadLetters()
    if config.topic is not None:
        writer = _to_topic(frame, config)
    elif config.dead_letter_topic is None:
        writer = _to_files(frame, config)
    else:
        writer = frame.writeStream.foreachBatch(_batch_writer(config, count))
    result = run_stream(
        writer, config, job=JOB.name, stop=stop, progress=progress, on_report=count.add_observed
    )
    return replace(result, facts={**result.facts, "dead_letters": count.total})


class _DeadLetters:
    """How many there were."""

    def __init__(self) -> None:
        self.total = 0

    def add_observed(self, report: Mapping[str, Any]) -> None:
        observed = (report.get("observedMetrics") or {}).get(_OBSERVED) or {}
        self.total += int(observed.get("dead_letters") or 0)


def records(frame: Any, config: DecodeConfig) -> Any:
    """Return the records of both topics: the selection as JSON, and dead letters as they were."""
    from pyspark.sql.functions import expr  # noqa: PLC0415 - as above

    frame = frame.observe(_OBSERVED, expr("count(error)").alias("dead_letters"))
    text = f"encode(to_json(struct({', '.join(config.select)})), 'utf-8')"
    good = {"topic": quoted(str(config.topic)), "value": f"if(raw is null, null, {text})"}
    if config.dead_letter_topic is None:
        frame = frame.where(refusal())
        columns = {**good, "headers": "headers"}
    else:
        bad = {
            "topic": quoted(config.dead_letter_topic),
            "value": "raw",
            "headers": dead_letter_headers(JOB.name),
        }
        columns = {name: f"if(error is null, {good.get(name, name)}, {bad[name]})" for name in bad}
    named = [f"{expression} AS {name}" for name, expression in columns.items()]
    return frame.selectExpr("key", "timestamp", *named)


def dead_letters(frame: Any) -> Any:
    """Return the dead letters among decoded records, as records of their topic."""
    headers = f"{dead_letter_headers(JOB.name)} AS headers"
    return frame.where("error is not null").selectExpr("key", "raw AS value", "timestamp", headers)


def _to_topic(frame: Any, config: DecodeConfig) -> Any:
    rows = records(frame, config)
    return rows.writeStream.format("kafka-lite").options(**config.sink_options())


def _to_files(frame: Any, config: DecodeConfig) -> Any:
    rows = frame.where(refusal()).selectExpr(*config.select)
    return (
        rows.writeStream.format("parquet")
        .partitionBy(*config.partition_by)
        .option("path", config.path)
        .option("compression", config.compression)
    )


def _batch_writer(config: DecodeConfig, count: _DeadLetters) -> Callable[[Any, int], None]:
    """Return what writes a batch: dead letters first, then a folder, which replaces that of an
    earlier attempt. Its name has the stream's id: another stream has other batches."""

    def write(batch: Any, batch_id: int) -> None:
        stream_id = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
        folder = f"{config.path}/batch={stream_id}-{batch_id}"
        batch.persist()
        try:
            found = batch.where("error is not null").count()
            if found:
                bad = dead_letters(batch).write.format("kafka-lite")
                options = {**config.sink_options(), "topic": config.dead_letter_topic}
                bad.options(**options).mode("append").save()
            good = batch.where("error is null").selectExpr(*config.select).write
            good = good.mode("overwrite").partitionBy(*config.partition_by)
            good.option("compression", config.compression).parquet(folder)
            count.total += found
        finally:
            batch.unpersist()

    return write


JOB: Final = Job(name="decode", config=DecodeConfig, plan=plan, run=run, offsets=stream_offsets)

__all__ = ["JOB", "DecodeConfig", "dead_letters", "plan", "records", "run"]
