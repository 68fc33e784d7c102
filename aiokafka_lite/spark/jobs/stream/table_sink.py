"""The targets of jobs that make a table: a topic or Parquet.

Each batch is added, or the whole result is replaced. The keys are plain values. PySpark comes with
the frames.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.jobs.stream.checkpoint import batch_options
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig, TopicSinkConfig

TOPIC, PARQUET = "kafka-lite", "parquet"
NOTHING_NAMED: Final[Mapping[str, str]] = {}
_COMPRESSION: Final = "zstd"
_CODECS: Final = (
    *("zstd", "snappy", "gzip", "lz4", "none"),
    *("lz4_raw", "brotli", "uncompressed"),
)


@dataclass(frozen=True, kw_only=True)
class TableSinkConfig(TopicSinkConfig):
    """A job that writes a topic, or Parquet."""

    path: str | None = None
    """A folder for Parquet, instead of a topic. Then [sink] has Parquet's options."""

    def target(self) -> tuple[str, dict[str, str]]:
        """Return the format and the options of the write."""
        if self.path is None:
            return TOPIC, self.sink_options()
        return PARQUET, {"compression": _COMPRESSION, **self.sink, "path": self.path}

    def targets(self) -> Mapping[str, str | None]:
        return super().targets() if self.path is None else {}

    def _faults(self) -> Iterator[str]:
        if self.path is None:
            yield from super()._faults()
            return
        yield from JobConfig._faults(self)
        if not self.path:
            yield "path='' is not a folder; name one, or leave the key out"
        keys = {
            "topic": self.topic is not None,
            "sink_bootstrap_servers": self.sink_bootstrap_servers is not None,
            "delivery": self.delivery != "at-least-once",
        }
        for key in (key for key, is_set in keys.items() if is_set):
            yield f"path={self.path!r} is a folder, and {key} is for a topic; set one of them"


def codec_faults(codec: str) -> Iterator[str]:
    """Yield a fault for a codec that Parquet does not have."""
    if codec.lower() not in _CODECS:
        yield f"compression={codec!r} is not one of {', '.join(_CODECS)}"


def stream_writer(frame: Any, config: "TableStreamConfig", output_mode: str) -> Any:
    """Return the DataStreamWriter of a streaming frame, in Spark's output mode.

    Spark's sinks lack two cases, which use foreachBatch. One is updates to a topic. The other is a
    complete result as Parquet, which replaces the last one.
    """
    kind, options = config.target()
    writer = frame.writeStream.outputMode(output_mode)
    if (kind, output_mode) in ((TOPIC, "update"), (PARQUET, "complete")):

        def write(batch: Any, batch_id: int) -> None:
            named = {}
            if config.delivery == "transactional":
                named = batch_options(batch, batch_id, config.checkpoint)
            write_batch(batch, config, named)

        return writer.foreachBatch(write)
    return writer.format(kind).options(**options)


def write_batch(
    frame: Any, config: TableSinkConfig, named: Mapping[str, str] = NOTHING_NAMED
) -> None:
    """Add a frame's rows to the topic, or replace the existing Parquet with them.

    `named` are further options, which name the batch.

    Returns when they are written. Raises: as the sinks.
    """
    kind, options = config.target()
    mode = "append" if kind == TOPIC else "overwrite"
    frame.write.format(kind).options(**{**options, **named}).mode(mode).save()


@dataclass(frozen=True, kw_only=True)
class TableStreamConfig(StreamConfig, TableSinkConfig):
    """A job that reads topics as a stream and writes a table."""


__all__ = [
    "PARQUET",
    "TOPIC",
    "TableSinkConfig",
    "TableStreamConfig",
    "codec_faults",
    "stream_writer",
    "write_batch",
]
