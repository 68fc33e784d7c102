"""Java's own tools read what we write, and we read what they write: four codecs, on real Kafka."""

from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.java_runtime import tools_version
from tests.conftest import ON_NEWEST_FIRST

CODECS = (None, "gzip", "snappy", "lz4", "zstd")
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CONSOLE_PRODUCER = {
    "3": "kafka.tools.ConsoleProducer",
    "4": "org.apache.kafka.tools.ConsoleProducer",
}
RECORDS = 200

# Java does not know which event loop writes: one is enough here.
pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.asyncio(loop_factories=["asyncio"]),
    ON_NEWEST_FIRST,
]


@pytest.mark.parametrize("codec", CODECS)
async def test_javas_console_consumer_reads_what_we_write(
    apache_kafka: ApacheKafka, topic_name: str, codec: Any
) -> None:
    async with AIOKafkaProducer(
        bootstrap_servers=apache_kafka.bootstrap_servers, compression_type=codec
    ) as producer:
        for number in range(RECORDS):
            await producer.send(
                topic_name,
                b"value %d" % number,
                b"key %d" % number,
                headers=[("n", b"%d" % number)],
            )
    printed = apache_kafka.run_tool(
        CONSOLE_CONSUMER,
        *("--topic", topic_name, "--from-beginning", "--max-messages", str(RECORDS)),
        *("--property", "print.key=true", "--property", "print.headers=true"),
        *("--property", "key.separator=|", "--property", "headers.separator=,"),
    )
    lines = printed.splitlines()[-RECORDS:]  # 4.x first says that --property has a new name
    assert lines == [f"n:{n}|key {n}|value {n}" for n in range(RECORDS)]


@pytest.mark.parametrize("codec", CODECS)
async def test_we_read_what_javas_console_producer_writes(
    apache_kafka: ApacheKafka, topic_name: str, codec: str | None
) -> None:
    lines = [f"n:{n}\tkey {n}|value {n}" for n in range(RECORDS)]
    apache_kafka.run_tool(
        CONSOLE_PRODUCER[tools_version(apache_kafka.version)[0]],
        *("--topic", topic_name, "--compression-codec", codec or "none"),
        *("--property", "parse.key=true", "--property", "key.separator=|"),
        *("--property", "parse.headers=true"),
        stdin="\n".join(lines).encode(),
    )
    async with AIOKafkaConsumer(
        bootstrap_servers=apache_kafka.bootstrap_servers, auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([TopicPartition(topic_name, 0)])
        records = [await consumer.getone() for _ in range(RECORDS)]
    assert [(record.key, record.value, record.headers) for record in records] == [
        (b"key %d" % n, b"value %d" % n, (("n", b"%d" % n),)) for n in range(RECORDS)
    ]
