"""Rows count exactly once in Spark: streams, foreachBatch and batch queries, also when batches come
again.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.releases import needs
from tests.spark.support.spark_io import run_to_end, source, write
from tests.spark.support.topics import fill

_BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
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


@needs("StreamArrowWriter")
def test_a_stream_that_is_stopped_in_a_batch_blocks_no_reader(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """Its tasks are killed, and the process that aborts the batch finds what they have left."""
    kafka_broker.create_topic("in")
    kafka_broker.create_topic("t")
    fill(kafka_broker, ("in", 0), 5)  # type: ignore[arg-type]
    servers = kafka_broker.bootstrap_servers

    def until(condition: Callable[[], bool], limit_s: float) -> None:
        end_s = time.monotonic() + limit_s
        while not condition():
            assert time.monotonic() < end_s
            Event().wait(0.02)

    options = {"subscribe": "in", "startingOffsets": "earliest"}
    # Large rows, because Spark's pipes hold small ones back. The last one never comes.
    never = "if(offset = 4, java_method('java.lang.Thread', 'sleep', 60000L), '')"
    frame = source(spark, servers, streaming=True, **options).selectExpr(
        f"concat(string(value), repeat(' ', 200000), {never}) value"
    )
    rows = frame.writeStream.format("kafka-lite")
    given = {"kafka.bootstrap.servers": servers, "kafka.linger.ms": "0", **TRANSACTIONAL}
    log = kafka_broker.log(("t", 0))
    spark.conf.set(_BATCH_ROWS, "2")
    query = rows.options(**given, checkpointLocation=str(tmp_path)).start()
    try:
        until(lambda: log.high_watermark > 0, 60)
        assert log.last_stable_offset == 0
    finally:
        query.stop()
        spark.conf.unset(_BATCH_ROWS)
    until(lambda: log.last_stable_offset == log.high_watermark, 5)
    assert committed(spark, servers) == []


def test_writes_of_another_thread_name_their_batch_or_are_refused(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """Spark tells its batch to the thread of foreachBatch only."""
    for topic in ("in", "t"):
        kafka_broker.create_topic(topic)
    fill(kafka_broker, ("in", 0), 5)  # type: ignore[arg-type]
    servers = kafka_broker.bootstrap_servers
    options = {"subscribe": "in", "startingOffsets": "earliest"}
    named: list[dict[str, str]] = [{}]
    crashes = [RuntimeError("behind the write")]

    def write_batch(frame: Any, batch_id: int) -> None:
        def in_thread() -> None:
            # Spark finds the sink by the session of the thread.
            sessions = spark._jvm.org.apache.spark.sql.classic.SparkSession
            sessions.setActiveSession(spark._jsparkSession)
            given = {**TRANSACTIONAL, **named[0]}
            if given.get("txnAppId"):
                given["txnVersion"] = str(batch_id)
            write(frame.select("value"), servers, **given)

        with ThreadPoolExecutor(1) as pool:
            pool.submit(in_thread).result()
        if crashes:
            raise crashes.pop()

    def run() -> None:
        frame = source(spark, servers, streaming=True, **options)
        writer = frame.writeStream.foreachBatch(write_batch).trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path)).start().awaitTermination()

    with pytest.raises(Exception, match="In another thread than that of foreachBatch"):
        run()
    named[0] = {"txnAppId": "copy"}
    with pytest.raises(Exception, match="behind the write"):
        run()
    run()
    assert committed(spark, servers) == expected(5)


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
