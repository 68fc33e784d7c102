"""The driver that tests kill: three streams of one topic in one session, into Parquet, into a topic
at least once, and into a topic exactly once.

    python killed_driver.py SERVERS FOLDER LIMIT

LIMIT is maxOffsetsPerTrigger, of streams that go on until somebody kills them; 0: read what there
is, end, and leave the numbers that are in Parquet in the file `archived`.
"""

import sys
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from aiokafka_lite.spark import register

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


STARTS = 12
"""A machine with much to do may not start Python in the ten seconds that Spark waits for it."""


class Stream:
    """One of the streams; started again when it fails, as somebody would who watches it."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._starts = 0
        self._query: Any = None

    def start(self) -> None:
        """Return when it has done something."""
        self._starts += 1
        self._query = self._writer.start()
        try:
            while self._query.lastProgress is None and not self._query.awaitTermination(0.1):
                pass
        except StreamingQueryException as error:
            self._start_again(error)

    def wait(self) -> None:
        """Return at its end."""
        try:
            self._query.awaitTermination()
        except StreamingQueryException as error:
            self._start_again(error)
            self.wait()

    def _start_again(self, error: StreamingQueryException) -> None:
        if self._starts >= STARTS or "connect back" not in str(error):
            raise error
        print("started again:", error, flush=True)
        self.start()


def streams(spark: Any, servers: str, folder: Path, limit: int) -> list[Stream]:
    """Start all three, one after the other: together, they would start two dozen processes."""
    given = {"kafka.bootstrap.servers": servers}
    options = {**given, "subscribe": "in", "startingOffsets": "earliest"}
    if limit:
        options["maxOffsetsPerTrigger"] = str(limit)
    sinks = {
        "archive": ("parquet", {"path": str(folder / "archive")}),
        "plain": ("kafka-lite", {**given, "topic": "plain"}),
        "mirror": ("kafka-lite", {**given, "topic": "t", "delivery": "transactional"}),
    }
    started = []
    for name, (kind, sink) in sinks.items():
        frame = spark.readStream.format("kafka-lite").options(**options).load()
        writer = frame.select("key", "value").writeStream.format(kind).options(**sink)
        writer = writer.option("checkpointLocation", str(folder / f"checkpoint-{name}"))
        # Pauses between batches leave the machine time to start the Python of the next stream.
        trigger = {"processingTime": "2 seconds"} if limit else {"availableNow": True}
        writer = writer.trigger(**trigger)
        started.append(Stream(writer))
        started[-1].start()
    return started


def main(servers: str, folder: str, limit: str) -> None:
    # A place for both tasks of both streams: a stream that has to wait must not keep the other out.
    builder = SparkSession.builder.master("local[4,4]").appName("killed")
    for name, value in {**SETTINGS, "spark.sql.warehouse.dir": f"{folder}/warehouse"}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    for stream in streams(spark, servers, Path(folder), int(limit)):
        stream.wait()
    rows = spark.read.parquet(f"{folder}/archive").selectExpr("string(value)").collect()
    Path(folder, "archived").write_text("\n".join(row[0] for row in rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
