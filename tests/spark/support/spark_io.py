"""Reads, writes and streams by either source, in a line each."""

from pathlib import Path
from typing import Any

LITE, OFFICIAL = "kafka-lite", "kafka"


def source(
    spark: Any, servers: str, *, streaming: bool = False, kind: str = LITE, **options: str
) -> Any:
    """The data frame of a read; without a choice of topics, of the topic t."""
    reader = spark.readStream if streaming else spark.read
    given = {"kafka.bootstrap.servers": servers, **options}
    if not {"subscribe", "subscribePattern", "assign"} & given.keys():
        given["subscribe"] = "t"
    return reader.format(kind).options(**given).load()


def write(frame: Any, servers: str, *, kind: str = LITE, **options: str) -> None:
    given = {"kafka.bootstrap.servers": servers, **options}
    frame.write.format(kind).options(**given).mode("append").save()


def run_to_end(frame: Any, folder: Path, *, sink: str = "parquet", **options: str) -> list[Any]:
    """Run a stream to what there is now, output and checkpoint in a folder; return its batches."""
    given = {"checkpointLocation": str(folder / "checkpoint"), **options}
    if sink == "parquet":
        given["path"] = str(folder / "rows")
    query = frame.writeStream.format(sink).options(**given).trigger(availableNow=True).start()
    try:
        query.awaitTermination()
        return [each for each in query.recentProgress if each.batchDuration]
    finally:
        query.stop()


def values_in(spark: Any, folder: Path) -> list[str]:
    """The values a stream has written to a folder, in order."""
    rows = spark.read.parquet(str(folder / "rows")).selectExpr("cast(value as string)").collect()
    return sorted(row[0] for row in rows)
