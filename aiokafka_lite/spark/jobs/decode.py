"""The job `decode`: JSON or Avro values become typed columns, in Parquet or as JSON in a topic.

A value that cannot be decoded goes to a dead-letter topic, with the reason. One stream writes good
records and dead letters to topics, so `delivery` holds for both. Spark's file sink writes Parquet.
With a dead-letter topic, each batch is written to a folder of its own, and a repeated batch
replaces its folder. In both cases each row is in Parquet once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.decode.blocking_registry import BlockingRegistry, RegistryConfig
from aiokafka_lite.spark.decode.dead_letters import dead_letter_headers, quoted, refusal
from aiokafka_lite.spark.decode.decoding import AvroColumn
from aiokafka_lite.spark.jobs.job import Job, JobResult, Progress, StopSignal
from aiokafka_lite.spark.jobs.stream.checkpoint import batch_options, is_connect, stream_id
from aiokafka_lite.spark.jobs.stream.stream_run import read_topics, run_stream, stream_offsets
from aiokafka_lite.spark.jobs.stream.table_sink import codec_faults
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig, TopicSinkConfig

_CORRUPT: Final = "__corrupt"
_RAW_COLUMNS: Final = ("key", "raw", "topic", "partition", "offset", "timestamp", "headers")
_READ: Final = tuple("value" if name == "raw" else name for name in _RAW_COLUMNS)
_OBSERVED: Final = "kafka-lite decode"


@dataclass(frozen=True, kw_only=True)
class DecodeConfig(StreamConfig, TopicSinkConfig):
    """The keys of `decode`. Decoded values go to `topic` as JSON, or to `path`."""

    format: Literal["json", "avro"] = "json"
    """The format of the values."""
    framing: Literal["none", "confluent"] = "none"
    """confluent: each value begins with a zero byte and a schema id, five bytes in all."""
    schema: str | None = None
    """The columns to read.

    For JSON it is Spark's DDL, such as "id bigint, name string". For Avro it is a schema in JSON,
    to which writers' schemas are resolved by Avro's rules.
    """
    schema_file: str | None = None
    """A file with the schema. The driver reads it."""
    subject: str | None = None
    """For Avro from a registry, without a schema of your own: the subject of the schema.

    Its newest version is read when the job starts. Unset, the subject is TOPIC-value.
    """
    registry_urls: tuple[str, ...] = ()
    """The addresses of the schema registry, http://HOST:PORT. They are tried in turn."""
    registry_user: str | None = None
    registry_password: str | None = field(default=None, repr=False)
    """env:NAME or file:PATH. Executors read it, too."""
    registry_token: str | None = field(default=None, repr=False)
    """Like the password: a bearer token instead of user and password."""
    registry_timeout_s: float = 10.0
    """The limit for connecting to the registry, and for each wait for it."""
    select: tuple[str, ...] = ("value.*",)
    """The columns to write, as SQL of value, key, topic, partition, offset, timestamp, headers."""
    tombstones: Literal["keep", "drop"] = "keep"
    """How records without a value are treated. If kept, they are rows of nulls in Parquet."""
    path: str | None = None
    """The folder of Parquet files, if the columns go to Parquet."""
    partition_by: tuple[str, ...] = ()
    """The selected columns that become folders of Parquet."""
    compression: str = "zstd"
    """Parquet's codec: zstd, snappy, gzip, lz4, none."""
    dead_letter_topic: str | None = None
    """The topic for records that cannot be decoded.

    They keep their bytes, and headers state the reason.

    Without it, the first such record ends the job.
    """

    def sink_options(self) -> dict[str, str]:
        """Return the options of the sink. A column names the topic, because there may be two."""
        options = super().sink_options()
        options.pop("topic", None)
        return options

    def targets(self) -> Mapping[str, str | None]:
        return {**super().targets(), "dead_letter_topic": self.dead_letter_topic}

    def registry(self) -> RegistryConfig | None:
        """Return the registry's configuration; None without a registry."""
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
        if self.dead_letter_topic is not None and self.dead_letter_topic == self.topic:
            yield (
                f"dead_letter_topic={self.dead_letter_topic!r} is the topic of decoded records;"
                " dead letters would be taken for them"
            )
        yield from codec_faults(self.compression)
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
    """Return the decoded records: the columns of a read, `raw`, `value` and `error`.

    `raw` is the value's bytes, `value` the decoded value. `error` is null unless decoding failed.
    Without a named schema the registry is asked for the newest one.

    Raises: KafkaConfigurationError for an impossible schema; SchemaRegistryError;
    UnknownSchemaError.
    """
    frame = (
        read_topics(spark, config, streaming=True, columns=_READ, includeHeaders="true")
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
    schema = BlockingRegistry(registry).latest(subject).registered.schema
    if schema.schema_type != "AVRO" or schema.references:
        what = "refers to others" if schema.references else f"is {schema.schema_type}, not AVRO"
        raise KafkaConfigurationError(
            f"the newest schema of {subject} {what}; name the columns to read by schema"
        )
    return schema.schema_str


def _from_json(frame: Any, ddl: str, *, framed: bool) -> Any:
    """Decode in Spark. One wrong field makes the whole value wrong."""
    from pyspark.sql.functions import col, expr  # noqa: PLC0415 - PySpark, only where a job runs

    text = "string(substring(raw, 6))" if framed else "string(raw)"
    options = f"map('mode', 'PERMISSIVE', 'columnNameOfCorruptRecord', '{_CORRUPT}')"
    full = quoted(f"{ddl.strip().rstrip(',')}, {_CORRUPT} string")
    wrong = {
        "is_valid_utf8(text)": ("UnicodeDecodeError", "it is not UTF-8"),
        f"parsed is not null and parsed.{_CORRUPT} is null": (
            "JSONDecodeError",
            f"it is not a JSON object, or its fields do not have the types {ddl.strip()}",
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


# The targets…


def run(spark: Any, config: DecodeConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    """Decode the available records, or continue until a stop.

    Raises: as `plan` and `run_stream`.
    """
    frame = plan(spark, config)
    count = _DeadLetters()
    if config.topic is not None:
        writer = _to_topic(frame, config)
    elif config.dead_letter_topic is None:
        writer = _to_files(frame, config)
    else:
        count.is_elsewhere = is_connect(spark)
        writer = frame.writeStream.foreachBatch(_batch_writer(config, count))
    result = run_stream(
        writer, config, job=JOB.name, stop=stop, progress=progress, on_report=count.add_observed
    )
    facts = {**result.facts, "dead_letters": count.total}
    if count.is_elsewhere:
        del facts["dead_letters"]
    return replace(result, facts=facts)


class _DeadLetters:
    """The number of dead letters."""

    def __init__(self) -> None:
        self.total = 0
        self.is_elsewhere = False
        """Whether another process counts them: over Spark Connect, batches are written there."""

    def add_observed(self, report: Mapping[str, Any]) -> None:
        observed = (report.get("observedMetrics") or {}).get(_OBSERVED) or {}
        self.total += int(observed.get("dead_letters") or 0)


def records(frame: Any, config: DecodeConfig) -> Any:
    """Return the records of both topics: the selection as JSON, and dead letters unchanged."""
    from pyspark.sql.functions import expr  # noqa: PLC0415

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
    """Return a function that writes a batch: first its dead letters, then its folder.

    The folder replaces that of an earlier attempt. Its name has the stream's id, because another
    stream has other batches.
    """

    def write(batch: Any, batch_id: int) -> None:
        query_id = stream_id(batch.sparkSession, config.checkpoint)
        folder = f"{config.path}/batch={query_id}-{batch_id}"
        batch.persist()
        try:
            found = batch.where("error is not null").count()
            if found:
                bad = dead_letters(batch).write.format("kafka-lite")
                options = {**config.sink_options(), "topic": config.dead_letter_topic}
                if config.delivery == "transactional":
                    options |= batch_options(batch, batch_id, config.checkpoint)
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
