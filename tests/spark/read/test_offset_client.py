"""A light client gives the answers of a consumer, and brings none of a consumer's modules."""

import asyncio
import subprocess
import sys

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.spark.read.offset_client import OffsetClient
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.topics import T0, T1, fill

TIMES = {T0: 1002, T1: 9999}
"""The record at offset n is of the millisecond 1000 + n."""


async def answers(client: OffsetClient | AIOKafkaConsumer) -> list[object]:
    await client.start()
    try:
        return [
            await client.list_partitions("t", "none"),
            await client.beginning_offsets([T0, T1]),
            await client.end_offsets([T0, T1]),
            await client.end_offsets([]),
            await client.offsets_for_times(TIMES),
            await client.offsets_for_times({}),
            await client.topics(),
        ]
    finally:
        await client.stop()


def test_it_answers_as_a_consumer(kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.create_topic("t", partitions=2)
    fill(kafka_broker, T0, 4)
    kafka_broker.delete_records(T0, 1)
    servers = kafka_broker.bootstrap_servers
    found = asyncio.run(answers(OffsetClient(bootstrap_servers=servers)))
    assert found == asyncio.run(answers(AIOKafkaConsumer(bootstrap_servers=servers)))
    assert found[1:3] == [{T0: 1, T1: 0}, {T0: 4, T1: 0}]
    assert found[-1] == {"t"}, "a question creates no topic"


def test_a_planner_does_not_import_the_consumer() -> None:
    """These modules cost a stream 40 ms of CPU at its start."""
    lacking = (
        "import sys, aiokafka_lite.spark.read.planner, aiokafka_lite.spark.read.stream_offsets;"
        " print([each for each in sys.modules if each.startswith(('aiokafka_lite.consumer.fetch',"
        " 'aiokafka_lite.consumer.group', 'aiokafka_lite.consumer.record_poller'))])"
    )
    done = subprocess.run([sys.executable, "-c", lacking], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
