"""The part in Spark: a stream turns flights into departures per airport, airline and day.

Blocks, like PySpark.
"""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

FLIGHT = "time_hour TIMESTAMP, origin STRING, carrier STRING, dep_delay STRING"
"""The fields read from a flight's JSON."""
WATERMARK = timedelta(days=2)
"""How late a flight may come. The producer keeps partitions within a day of each other."""
SESSION = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",  # partitions of the state, each with files of its own
    "spark.sql.session.timeZone": "UTC",
}
STATEMENT = (Path(__file__).parent / "departures.sql").read_text()


@dataclass(frozen=True, slots=True)
class StreamFacts:
    """The figures of a stream: `late` counts rows that came behind the watermark and were
    dropped.
    """

    batches: int
    rows: int
    late: int


def start(spark: Any, bootstrap_servers: str, source: str, sink: str, folder: Path) -> Any:
    """Start the stream from topic `source` to topic `sink`; return its query.

    It keeps its checkpoint in `folder`.
    """
    kafka = {"kafka.bootstrap.servers": bootstrap_servers}
    reader = spark.readStream.format("kafka-lite").options(**kafka, subscribe=source)
    records = reader.option("startingOffsets", "earliest").load()
    flights = records.selectExpr(f"from_json(string(value), '{FLIGHT}') AS flight")
    events = flights.select("flight.*").withColumnRenamed("time_hour", "event_time")
    events = events.withWatermark("event_time", f"{WATERMARK.days} days")
    events.createOrReplaceTempView("events")
    departures = spark.sql(STATEMENT).selectExpr(
        "concat_ws(' ', day, origin, carrier) AS key", "to_json(struct(*)) AS value"
    )
    writer = departures.writeStream.format("kafka-lite").options(**kafka, topic=sink)
    # Append: a day is written once, when it lies behind the watermark.
    return writer.option("checkpointLocation", str(folder)).outputMode("append").start()


def facts(query: Any) -> StreamFacts:
    """Return the query's present figures."""
    batches = [each for each in query.recentProgress if each.batchDuration]
    late = sum(part.numRowsDroppedByWatermark for each in batches for part in each.stateOperators)
    return StreamFacts(len(batches), sum(each.numInputRows for each in batches), late)
