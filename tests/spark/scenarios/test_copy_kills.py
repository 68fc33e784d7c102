"""A stream that copies its ranges is killed in mid-batch: nothing is lost, and only the records of
that batch come again.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.spark.options.copy_options import copy_options
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.own_session import command, descendants, parent
from tests.spark.support.releases import needs
from tests.spark.support.spark_io import source
from tests.spark.support.topics import fill_records

COPY = TopicPartition("copy", 0)
BATCH = 20
"""How many records of each partition a batch has."""
PATIENCE_S = 60.0


def add(broker: EmbeddedBroker, start: int, end: int) -> None:
    for partition in range(2):
        numbers = range(start, end)
        records = [(1000 + n, b"%d" % n, b"%d-%d" % (partition, n)) for n in numbers]
        fill_records(broker, TopicPartition("t", partition), *records)


def copied(broker: EmbeddedBroker) -> Counter[bytes | None]:
    return Counter(each.value for each in broker.log(COPY).records())


def wait_until(is_so: Callable[[], bool], query: Any) -> None:
    until_s = SYSTEM_CLOCK.monotonic() + PATIENCE_S
    while not is_so():
        assert SYSTEM_CLOCK.monotonic() < until_s
        assert not query.awaitTermination(0.05)


def kill_workers() -> int:
    """kill -9 for the Python processes that run this session's tasks; return how many."""
    daemons = {pid for pid in descendants(os.getpid()) if "pyspark.daemon" in command(pid)}
    workers = [pid for pid in daemons if parent(pid) in daemons]
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    return len(workers)


@needs("HAS_READ_LIMITS")
def test_after_kills_only_the_records_of_the_batch_that_had_begun_are_copied_again(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("t", partitions=2)
    kafka_broker.create_topic("copy")
    servers = kafka_broker.bootstrap_servers
    sink = {"kafka.bootstrap.servers": servers, "topic": "copy", "kafka.batch.size": "200"}
    frame = source(
        spark,
        servers,
        streaming=True,
        startingOffsets="earliest",
        maxOffsetsPerTrigger=str(2 * BATCH),
        **copy_options(sink, ["key", "value"]),
    )
    stream = frame.writeStream.format("noop").option("checkpointLocation", str(tmp_path))
    add(kafka_broker, 0, BATCH)
    query = stream.start()
    try:
        query.processAllAvailable()
        assert copied(kafka_broker).total() == 2 * BATCH
        # What the next attempts write is written, and they never hear of it.
        kafka_broker.faults.drop(ProduceRequest, times=None)
        add(kafka_broker, BATCH, 3 * BATCH)
        wait_until(lambda: copied(kafka_broker).total() > 2 * BATCH, query)
        before = copied(kafka_broker).total()
        assert kill_workers() > 0
        wait_until(lambda: copied(kafka_broker).total() > before, query)
    finally:
        query.stop()
    kafka_broker.faults.clear()
    again = stream.trigger(availableNow=True).start()
    try:
        again.awaitTermination()
    finally:
        again.stop()

    found = copied(kafka_broker)
    assert found.keys() == {b"%d-%d" % (p, n) for p in range(2) for n in range(3 * BATCH)}
    attempts = 3  # the one whose workers were killed, its repetition, and that of the last run
    for value, times in found.items():
        assert value is not None
        is_of_the_batch = BATCH <= int(value.split(b"-")[1]) < 2 * BATCH
        assert 1 <= times <= (attempts if is_of_the_batch else 1)
    assert found.total() > len(found), "nothing was copied twice, so no attempt had written"
