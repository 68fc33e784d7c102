"""Rows count exactly once in Spark: streams, foreachBatch and batch queries, also when batches come
again.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.releases import needs
from tests.spark.support.spark_io import run_to_end, source, write
from tests.spark.support.topics import fill

TRANSACTIONAL = {"delivery": "transactional", "topic": "t"}


def committed(spark: Any, servers: str, topic: str = "t") -> list[str]:
    """The values that count, in order of appearance."""
    options = {"subscribe": topic, "kafka.isolation.level": "read_committed"}
    rows = source(spark, servers, **options).selectExpr("string(value)").collect()  # type: ignore[arg-type]
    return sorted(row[0] for row in rows)


def forget_commit(folder: Path, batch_id: int) -> None:
    """Make Spark believe that a batch was not done: it comes again, from the same offsets."""
    commits = folder / "checkpoint" / "commits"
    for file in (commits / str(batch_id), commits / f".{batch_id}.crc"):
        file.unlink()


def expected(count: int) -> list[str]:
    return sorted(f"v{number}" for number in range(count))


@needs("HAS_READ_LIMITS")
def test_a_stream_whose_last_batch_comes_again_writes_it_once(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("in", partitions=2)
    kafka_broker.create_topic("t")
    for partition in range(2):
        fill(kafka_broker, ("in", partition), 30)  # type: ignore[arg-type]
    servers = kafka_broker.bootstrap_servers
    options = {"subscribe": "in", "startingOffsets": "earliest", "maxOffsetsPerTrigger": "40"}
    frame = source(spark, servers, streaming=True, **options).selectExpr(
        "key", "concat(partition, '-', string(value)) value"
    )
    given = {"kafka.bootstrap.servers": servers, **TRANSACTIONAL}
    run_to_end(frame, tmp_path, sink="kafka-lite", **given)
    ends = len(kafka_broker.requests_of(EndTxnRequest))
    assert ends == 4  # two batches of two tasks
    forget_commit(tmp_path, 1)
    run_to_end(frame, tmp_path, sink="kafka-lite", **given)
    assert len(kafka_broker.requests_of(EndTxnRequest)) == ends
    copied = committed(spark, servers)
    assert copied == sorted(f"{half}-v{n}" for half in range(2) for n in range(30))


@needs("StreamArrowWriter")
def test_a_replay_that_brings_other_rows_is_an_error(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("in")
    kafka_broker.create_topic("t")
    fill(kafka_broker, ("in", 0), 5)  # type: ignore[arg-type]
    servers = kafka_broker.bootstrap_servers
    options = {"subscribe": "in", "startingOffsets": "earliest"}
    frame = source(spark, servers, streaming=True, **options).select("value")
    given = {"kafka.bootstrap.servers": servers, **TRANSACTIONAL}
    run_to_end(frame, tmp_path, sink="kafka-lite", **given)
    forget_commit(tmp_path, 0)
    changed = frame.selectExpr("concat(string(value), '!') value")
    with pytest.raises(Exception, match=r"ReplayMismatchError.* has written 5 rows of batch 0"):
        run_to_end(changed, tmp_path, sink="kafka-lite", **given)
    assert committed(spark, servers) == expected(5)


def test_writes_in_foreach_batch_are_part_of_its_stream(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """To two topics, and with a crash between them: the first is not written again."""
    for topic in ("in", "t", "u"):
        kafka_broker.create_topic(topic)
    fill(kafka_broker, ("in", 0), 5)  # type: ignore[arg-type]
    servers = kafka_broker.bootstrap_servers
    options = {"subscribe": "in", "startingOffsets": "earliest"}
    crashes = [RuntimeError("between two writes")]

    def write_batch(frame: Any, batch_id: int) -> None:
        write(frame.select("value"), servers, **TRANSACTIONAL)
        if crashes:
            raise crashes.pop()
        write(frame.select("value"), servers, delivery="transactional", topic="u")

    def run() -> None:
        frame = source(spark, servers, streaming=True, **options)
        writer = frame.writeStream.foreachBatch(write_batch).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(tmp_path)).start()
        query.awaitTermination()

    with pytest.raises(Exception, match="between two writes"):
        run()
    run()
    assert committed(spark, servers) == expected(5)
    assert committed(spark, servers, "u") == expected(5)


def test_a_batch_query_is_all_or_nothing(spark: Any, kafka_broker: EmbeddedBroker) -> None:
    """Also when a task fails behind others that have written."""
    kafka_broker.create_topic("t")
    servers = kafka_broker.bootstrap_servers
    frame = spark.range(0, 40, 1, 2).selectExpr("concat('v', id) value")
    broken = frame.selectExpr("if(value = 'v39', raise_error('no'), value) value")
    with pytest.raises(Exception, match="no"):
        write(broken, servers, **TRANSACTIONAL)
    assert committed(spark, servers) == []
    write(frame, servers, **TRANSACTIONAL)
    assert committed(spark, servers) == expected(40)
