"""Transactional writes without Spark: tasks, the driver's commit, and what readers see of them."""

from typing import Any

import pyarrow as pa

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.write.transactional_marker import TaskPlace, TaskTransaction
from aiokafka_lite.spark.write.transactional_write import write_in_transaction

SCOPE = "p-query"
COLUMNS = ("key", "value")


def options(servers: str, topic: str | None = "t", **more: str) -> SinkOptions:
    given = {
        "kafka.bootstrap.servers": servers,
        "delivery": "transactional",
        "transactionalIdPrefix": "p",
        "kafka.linger.ms": "0",
        "kafka.retry.backoff.ms": "10",
        **more,
    }
    if topic is not None:
        given["topic"] = topic
    return SinkOptions.parse(given)


def rows(*values: str) -> list[pa.RecordBatch]:
    """One batch of rows with these values, and keys made of them."""
    fields = {"key": [f"k{each}" for each in values], "value": list(values)}
    schema = pa.schema([("key", pa.string()), ("value", pa.string())])
    return [pa.RecordBatch.from_pydict(fields, schema=schema)]


class Write:
    """A write of some tasks, attempt by attempt."""

    def __init__(self, here: Worker, given: SinkOptions, scope: str = SCOPE) -> None:
        self.here = here
        self.options = given
        self.scope = scope

    def task(
        self, number: int, batch_id: int | None, *values: str, has_rivals: bool = False
    ) -> TaskTransaction:
        """What an executor does for an attempt of a task."""
        place = TaskPlace(self.scope, number, batch_id)
        return write_in_transaction(
            rows(*values), COLUMNS, self.options, place, self.here, has_rivals=has_rivals
        )

    def tasks(self, batch_id: int | None, *parts: str) -> list[TaskTransaction | None]:
        """All tasks of a batch; the values of each are the letters of a text."""
        return [self.task(number, batch_id, *part) for number, part in enumerate(parts)]


def seen(here: Worker, servers: str, topic: str = "t", partitions: int = 2) -> list[str]:
    """The values that count in a topic, in alphabetical order."""
    config: dict[str, Any] = {
        "bootstrap_servers": servers,
        "isolation_level": "read_committed",
        "auto_offset_reset": "earliest",
    }

    async def read() -> list[str]:
        async with AIOKafkaConsumer[Any, Any](**config) as consumer:
            found: list[str] = []
            wanted = [TopicPartition(topic, number) for number in range(partitions)]
            consumer.assign(wanted)
            ends = await consumer.end_offsets(wanted)
            while any([await consumer.position(tp) < ends[tp] for tp in wanted]):
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    found += [record.value.decode() for record in records if record.value]
            return sorted(found)

    return here.run(read)
