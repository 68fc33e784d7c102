"""A session of Spark that runs cases with one connector, in a process of its own.

    python -m benchmarks.spark.session '{"connector": "ours", "bootstrap_servers": ..., ...}'

It prints a line of JSON when a case begins, and one when the case has ended, with its time. A case
that others feed also says when it is ready, and ends at the next line of the input.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiokafka_lite.spark.process.pyspark_zips import spark_home, write_interpreter
from aiokafka_lite.testing.java_runtime import find_java
from benchmarks.spark.cases import (
    BY_NAME,
    COLD,
    FIRST_BATCHES,
    PACED,
    ROWS_PER_BATCH,
    TO_NOOP,
    TO_TOPIC,
    Connector,
    SessionJob,
)
from benchmarks.spark.official import official_jars
from benchmarks.spark.process_tree import adopt_orphans

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
}


def start_spark(connector: Connector, folder: Path) -> Any:
    """Start a session that knows a connector."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").appName("kafka-lite benchmark")
    settings = {**SETTINGS, "spark.sql.warehouse.dir": str(folder / "warehouse")}
    if connector.has_jars:
        settings["spark.jars"] = ",".join(map(str, official_jars()))
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if not connector.has_jars:
        from aiokafka_lite.spark import register

        register(spark)
    return spark


class Session:
    """A session of Spark with one connector."""

    def __init__(self, spark: Any, job: SessionJob, folder: Path) -> None:
        self.spark = spark
        self._job = job
        self._folder = folder
        self._connector = BY_NAME[job.connector]
        self._folders = 0

    def run(self, case: dict[str, Any]) -> None:
        """Run a case once."""
        {
            "noop": self._read_to_noop,
            "parquet": self._read_to_parquet,
            "stream": self._stream_to_noop,
            "write": self._write,
            "mirror": self._mirror,
            "job": self._mirror if self._connector.has_jars else self._mirror_job,
        }[case["shape"]](case)

    def first_job(self) -> None:
        """Read a little."""
        self._to_noop(self._frame(self._job.small))

    def small_batches(self, *, to_topic: bool) -> list[int]:
        """Run a stream in many small batches; return the milliseconds of those that count."""
        frame = self._frame(
            self._job.small,
            streaming=True,
            startingOffsets="earliest",
            maxOffsetsPerTrigger=str(ROWS_PER_BATCH),
        )
        progress = self._to_topic(frame, self._job.target) if to_topic else self._drain(frame)
        taken = [each.durationMs["triggerExecution"] for each in progress if each.numInputRows]
        return taken[FIRST_BATCHES:]

    def follow(self, source: str, target: str, wait: Callable[[], None]) -> None:
        """Mirror new records, one batch after the other, while `wait` runs."""
        frame = self._frame(source, streaming=True, startingOffsets="earliest")
        query = self._writer(frame, target).trigger(processingTime="0 seconds").start()
        try:
            wait()
            if query.exception() is not None:
                raise SystemExit(f"the mirror has failed: {query.exception()}")
        finally:
            query.stop()

    def _read_to_noop(self, case: dict[str, Any]) -> None:
        self._to_noop(self._frame(case["source"]))

    def _read_to_parquet(self, case: dict[str, Any]) -> None:
        self._frame(case["source"]).write.parquet(str(self._fresh_folder()))

    def _stream_to_noop(self, case: dict[str, Any]) -> None:
        self._drain(self._in_batches(case))

    def _write(self, case: dict[str, Any]) -> None:
        records, size = case["payload"]["records"], case["payload"]["value_bytes"]
        letters = "".join(chr(97 + at * 17 % 26) for at in range(size + 26))
        frame = self.spark.range(0, records, 1, case["payload"]["partitions"]).selectExpr(
            "lpad(string(id % 1000), 8, '0') key",
            f"concat(lpad(string(id), 10, '0'), substr('{letters}', int(id % 26) + 1, {size - 10}))"
            " value",
        )
        options = self._sink_options(case["target"], case["payload"]["compression"])
        frame.write.format(self._connector.format).options(**options).mode("append").save()

    def _mirror(self, case: dict[str, Any]) -> None:
        self._to_topic(self._in_batches(case), case["target"], case["payload"]["compression"])

    def _mirror_job(self, case: dict[str, Any]) -> None:
        from aiokafka_lite.spark.jobs.job import NoProgress, StopSignal
        from aiokafka_lite.spark.jobs.mirror import MirrorConfig, run

        config = MirrorConfig(
            bootstrap_servers=self._job.bootstrap_servers,
            topics=(case["source"],),
            topic=case["target"],
            max_offsets_per_trigger=_offsets_of_a_batch(case),
            checkpoint=str(self._fresh_folder()),
            sink={"kafka.compression.type": case["payload"]["compression"]},
        )
        run(self.spark, config, stop=StopSignal(), progress=NoProgress())

    # Parts of the cases…

    def _frame(self, topic: str, *, streaming: bool = False, **options: str) -> Any:
        reader = self.spark.readStream if streaming else self.spark.read
        given = {**self._common(), "subscribe": topic, **options}
        return reader.format(self._connector.format).options(**given).load()

    def _in_batches(self, case: dict[str, Any]) -> Any:
        limit = {"maxOffsetsPerTrigger": str(_offsets_of_a_batch(case))}
        return self._frame(
            case["source"],
            streaming=True,
            startingOffsets="earliest",
            **(limit if case["batches"] > 1 else {}),
        )

    def _common(self) -> dict[str, str]:
        servers = {"kafka.bootstrap.servers": self._job.bootstrap_servers}
        return {**servers, **self._connector.options}

    def _sink_options(self, topic: str, compression: str = "none") -> dict[str, str]:
        return {
            "kafka.bootstrap.servers": self._job.bootstrap_servers,
            "topic": topic,
            "kafka.compression.type": compression,
        }

    @staticmethod
    def _to_noop(frame: Any) -> None:
        frame.write.format("noop").mode("overwrite").save()

    def _drain(self, frame: Any) -> list[Any]:
        writer = frame.writeStream.format("noop")
        return self._to_the_end(writer.option("checkpointLocation", str(self._fresh_folder())))

    def _to_topic(self, frame: Any, topic: str, compression: str = "none") -> list[Any]:
        return self._to_the_end(self._writer(frame, topic, compression))

    def _writer(self, frame: Any, topic: str, compression: str = "none") -> Any:
        writer = frame.select("key", "value").writeStream.format(self._connector.format)
        writer = writer.options(**self._sink_options(topic, compression))
        return writer.option("checkpointLocation", str(self._fresh_folder()))

    def _to_the_end(self, writer: Any) -> list[Any]:
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return list(query.recentProgress)

    def _fresh_folder(self) -> Path:
        self._folders += 1
        return self._folder / str(self._folders)


def _offsets_of_a_batch(case: dict[str, Any]) -> int:
    return int(-(-case["payload"]["records"] // case["batches"]))


def main() -> None:
    """Run everything on the command line."""
    adopt_orphans()
    job = SessionJob(**json.loads(sys.argv[1]))
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["JAVA_HOME"] = str(find_java().resolve().parents[1])
    os.environ["PYTHONPATH"] = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    with tempfile.TemporaryDirectory(prefix="aiokafka-lite-spark-") as folder:
        # As jobs do: PySpark's zips would be compiled anew by each Python process.
        python = write_interpreter(Path(folder), spark_home())
        os.environ["PYSPARK_PYTHON"] = sys.executable if python is None else str(python)
        made: list[Session] = []

        def start() -> None:
            spark = start_spark(BY_NAME[job.connector], Path(folder))
            made.append(Session(spark, job, Path(folder)))
            made[0].first_job()

        _timed(COLD, start)
        session = made[0]
        for case in job.cases:
            _timed(case["title"], lambda case=case: session.run(case))  # type: ignore[misc]
        if job.batches:
            _timed(TO_NOOP, lambda: session.small_batches(to_topic=False))
            _timed(TO_TOPIC, lambda: session.small_batches(to_topic=True))
        if job.paced is not None:
            source, target = job.paced
            _timed(PACED, lambda: session.follow(source, target, _fed))
        session.spark.stop()


def _fed() -> None:
    """Say that others may feed the case now, and wait until they have."""
    _tell(ready=PACED)
    sys.stdin.readline()


def _timed(title: str, work: Callable[[], list[int] | None]) -> None:
    _tell(begin=title)
    start_s = time.perf_counter()
    told = work()
    _tell(end=title, wall_s=time.perf_counter() - start_s, batches_ms=told or [])


def _tell(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


if __name__ == "__main__":
    main()
