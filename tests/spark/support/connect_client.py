"""A client of Spark Connect for a test, which needs a process of its own.

It runs a stream whose foreachBatch fails once behind its transactional write, and jobs.

    python connect_client.py SERVERS FOLDER

The last line of its output is JSON, by the name of each step.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from aiokafka_lite.spark import register
from aiokafka_lite.spark.jobs import archive, audit, decode, mirror, replay
from aiokafka_lite.spark.jobs.job import NoProgress, StopSignal

STARTS = 12
NOT_IN_TIME = ("connect back", "CANNOT_OPEN_SOCKET")
"""What Spark says when a busy machine does not start its Python within ten seconds."""


def batches(spark: Any, kafka: dict[str, str], folder: Path, named: dict[str, str]) -> list[str]:
    """Run the stream once, or twice if it names its batches; return what it failed of."""
    flag = str(folder / f"failed-{len(named)}")

    def write(batch: Any, batch_id: int) -> None:
        more = {**named, "txnVersion": str(batch_id)} if named else {}
        rows = batch.select("key", "value").write.format("kafka-lite").mode("append")
        rows.options(**kafka, topic="out", delivery="transactional", **more).save()
        if not Path(flag).exists():
            Path(flag).touch()
            raise RuntimeError("behind the write")

    errors = []
    for _ in range(2 if named else 1):
        stream = spark.readStream.format("kafka-lite").options(
            **kafka, subscribe="in", startingOffsets="earliest"
        )
        writer = stream.load().writeStream.foreachBatch(write).trigger(availableNow=True)
        writer = writer.option("checkpointLocation", str(folder / f"batches-{len(named)}"))
        try:
            answered(partial(run_to_end, writer))
        except Exception as error:  # noqa: BLE001 - the test judges it
            errors.append(str(error))
    return errors


def run_to_end(writer: Any) -> None:
    writer.start().awaitTermination()


def answered(call: Callable[[], Any]) -> Any:
    """Call it until the Python of its streams has answered Spark in time."""
    for _ in range(STARTS):
        try:
            return call()
        except Exception as error:
            if not any(each in str(error) for each in NOT_IN_TIME):
                raise
            print("started again:", str(error)[:300], file=sys.stderr)
    return call()


def summary(job: Any, spark: Any, config: Any) -> Any:
    """What a job says at its end."""
    hooks: Any = {"stop": StopSignal(), "progress": NoProgress()}
    return json.loads(answered(lambda: job.run(spark, config, **hooks)).to_json())


def main(servers: str, folder: Path) -> dict[str, Any]:
    builder = SparkSession.builder.remote("local[2,2]").config("spark.ui.enabled", "false")
    # A busy machine takes longer than Spark's 15 s until a worker is there.
    builder = builder.config("spark.python.authenticate.socketTimeout", "120s")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    register(spark)
    kafka = {"kafka.bootstrap.servers": servers}
    told: dict[str, Any] = {
        "nameless": batches(spark, kafka, folder, {}),
        "named": batches(spark, kafka, folder, {"txnAppId": "copy"}),
    }
    given: Any = {"bootstrap_servers": servers, "topics": ("in",)}
    kept = archive.ArchiveConfig(**given, path=str(folder / "archive"))
    told["archive"] = summary(archive, spark, kept)
    told["offsets"] = archive.JOB.offsets(spark, kept)  # type: ignore[misc]
    compared = audit.AuditConfig(**given, archive=str(folder / "archive"), transactions=True)
    told["audit"] = summary(audit, spark, compared)
    again = replay.ReplayConfig(
        bootstrap_servers=servers,
        path=str(folder / "archive"),
        topic="again",
        delivery="transactional",
        batch_rows=8,
        checkpoint=str(folder / "replay"),
    )
    told["replay"] = summary(replay, spark, again)
    told["replay again"] = summary(replay, spark, again)
    copied = mirror.MirrorConfig(**given, topic="copy", checkpoint=str(folder / "mirror"))
    told["mirror"] = summary(mirror, spark, copied)
    typed = decode.DecodeConfig(
        **given,
        schema="id bigint",
        path=str(folder / "typed"),
        dead_letter_topic="dead",
        delivery="transactional",
        checkpoint=str(folder / "decode"),
    )
    told["decode"] = summary(decode, spark, typed)
    spark.stop()
    return told


if __name__ == "__main__":
    sys.stdout.write(f"\n{json.dumps(main(sys.argv[1], Path(sys.argv[2])), default=str)}\n")
