"""The job `archive`: writes topics to Parquet files in folders by topic and date, exactly once.

Spark guarantees exactly once: a batch is a range of offsets, and the file sink lists the files of
each batch. To see only those files, readers have to use Spark, or read that list.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from aiokafka_lite.spark.jobs.job import Job, JobResult, Progress, StopSignal
from aiokafka_lite.spark.jobs.stream.stream_run import read_topics, run_stream, stream_offsets
from aiokafka_lite.spark.jobs.stream.table_sink import codec_faults
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig

COLUMNS: Final = (
    *("key binary", "value binary", "topic string", "partition int", "offset bigint"),
    *("timestamp timestamp", "timestampType int"),
    "headers array<struct<key:string,value:binary>>",
    *("date date", "hour int"),
)
"""The archive's columns, names and types; `hour` only if it is a partition column."""

DATE: Final = "date_from_unix_date(cast(floor(unix_micros(timestamp) / 86400000000D) as int))"
HOUR: Final = "cast(pmod(floor(unix_micros(timestamp) / 3600000000D), 24) as int)"
"""In UTC, whatever the session's time zone, so that the folders stay the same."""


@dataclass(frozen=True, kw_only=True)
class ArchiveConfig(StreamConfig):
    """The keys of `archive`."""

    path: str = ""
    """The folder of the archive."""
    partition_by: Literal["date", "hour"] = "date"
    """topic=…/date=…, or topic=…/date=…/hour=… (UTC, of the records' timestamps)."""
    compression: str = "zstd"
    """Parquet's codec: zstd, snappy, gzip, lz4, none."""
    files_per_partition: int | None = None
    """The most files that a batch writes for one date of a topic.

    Unset, each task writes one file for each folder of its records.
    """

    def __post_init__(self) -> None:
        if self.path and not self.checkpoint:
            object.__setattr__(self, "checkpoint", f"{self.path.rstrip('/')}/_checkpoint")
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if not self.path:
            yield "path must be set: the folder of the archive"
        yield from codec_faults(self.compression)
        if self.files_per_partition is not None and self.files_per_partition < 1:
            yield f"files_per_partition={self.files_per_partition} must be at least 1"


def folders(config: ArchiveConfig) -> tuple[str, ...]:
    """Return the columns that become folders."""
    return ("topic", "date", "hour") if config.partition_by == "hour" else ("topic", "date")


def plan(spark: Any, config: ArchiveConfig) -> Any:
    """Return the rows of the archive, as a stream."""
    frame = read_topics(spark, config, streaming=True, includeHeaders="true")
    frame = frame.selectExpr("*", f"{DATE} AS date")
    if config.partition_by == "hour":
        frame = frame.selectExpr("*", f"{HOUR} AS hour")
    if config.files_per_partition is not None:
        spread = f"pmod(partition, {config.files_per_partition})"
        frame = frame.repartition(*folders(config), _expression(spread))
    return frame


def _expression(text: str) -> Any:
    from pyspark.sql.functions import expr  # noqa: PLC0415 - PySpark, only where a job runs

    return expr(text)


def read_archive(spark: Any, path: str, *columns: str) -> Any:
    """Return columns of an archive: the named ones, or all but the folders `date` and `hour`.

    The types are declared and not guessed, because a topic may be called 2024.
    """
    types = {each.partition(" ")[0]: each for each in COLUMNS}
    chosen = columns or tuple(name for name in types if name not in ("date", "hour"))
    schema = ", ".join(types[name] for name in chosen)
    return spark.read.schema(schema).parquet(path).select(*chosen)


def run(spark: Any, config: ArchiveConfig, *, stop: StopSignal, progress: Progress) -> JobResult:
    """Archive the available records, or continue until a stop. Raises: as `run_stream`."""
    writer = (
        plan(spark, config)
        .writeStream.format("parquet")
        .partitionBy(*folders(config))
        .option("path", config.path)
        .option("compression", config.compression)
        .options(**config.sink)
    )
    return run_stream(writer, config, job=JOB.name, stop=stop, progress=progress)


JOB: Final = Job(name="archive", config=ArchiveConfig, plan=plan, run=run, offsets=stream_offsets)

__all__ = [
    "COLUMNS",
    "DATE",
    "HOUR",
    "JOB",
    "ArchiveConfig",
    "folders",
    "plan",
    "read_archive",
    "run",
]
