"""Java's console consumer and ours see the same data of a log with transactions of every kind.

confluent-kafka and Java write them, on real Kafka: committed, aborted, interleaved, still open.
"""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.java_runtime import tools_version
from aiokafka_lite.testing.kafka_node import run_java
from tests.conftest import ON_NEWEST_FIRST
from tests.support.topics import create_topic

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
TRANSACTIONAL_COPIER = "org.apache.kafka.tools.TransactionalMessageCopier"
LEVELS = ("read_committed", "read_uncommitted")
TIMEOUT_S = 60

# What is read, not by which loop, is the question here: one is enough.
pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.asyncio(loop_factories=["asyncio"]),
    ON_NEWEST_FIRST,
]

Found = list[tuple[int, str]]


class Writer:
    """confluent-kafka's producer; each call returns when the broker has the records."""

    def __init__(self, address: str, topic: str, transactional_id: str | None = None) -> None:
        self._topic = topic
        options: dict[str, Any] = {"bootstrap.servers": address, "log_level": 0}
        if transactional_id is not None:
            options["transactional.id"] = f"{topic}-{transactional_id}"
        self.producer = confluent_kafka.Producer(options)
        if transactional_id is not None:
            self.producer.init_transactions(TIMEOUT_S)

    def begin(self) -> None:
        self.producer.begin_transaction()

    def write(self, *values: str) -> None:
        for value in values:
            self.producer.produce(self._topic, value, partition=0)
        assert self.producer.flush(TIMEOUT_S) == 0

    def commit(self) -> None:
        self.producer.commit_transaction(TIMEOUT_S)

    def abort(self) -> None:
        self.producer.abort_transaction(TIMEOUT_S)


@contextmanager
def transactions_of_every_kind(address: str, topic: str) -> Iterator[Writer]:
    """Write values that begin with what became of them; yields the writer whose last is open."""
    plain, first, second, third, last = (
        Writer(address, topic, name) for name in (None, "first", "second", "third", "last")
    )
    first.begin()
    first.write("committed 1", "committed 2", "committed 3")
    first.commit()
    plain.write("plain 1", "plain 2")
    second.begin()
    second.write("aborted 1", "aborted 2")
    second.abort()
    second.begin()
    third.begin()
    second.write("committed 4")
    third.write("aborted 3", "aborted 4")
    plain.write("plain 3")
    second.write("committed 5")
    third.write("aborted 5")
    second.commit()
    third.write("aborted 6")
    third.abort()
    third.begin()
    third.write("committed 6")
    third.commit()
    first.begin()
    first.write("aborted 7")
    first.abort()
    last.begin()
    last.write("open 1", "open 2")
    plain.write("behind plain")
    first.begin()
    first.write("behind committed")
    first.commit()
    second.begin()
    second.write("behind aborted")
    second.abort()
    yield last
    # librdkafka ends its threads with the producers.
    for writer in (plain, first, second, third, last):
        assert writer.producer.flush(TIMEOUT_S) == 0


def read_by_java(kafka: ApacheKafka, topic: str, level: str) -> Found:
    """What Java's console consumer prints until nothing has come for some seconds."""
    printed = kafka.run_tool(
        CONSOLE_CONSUMER,
        *("--topic", topic, "--partition", "0", "--offset", "earliest"),
        *("--isolation-level", level, "--timeout-ms", "4000"),
        *("--property", "print.offset=true"),
    )
    lines = re.findall(r"^Offset:(\d+)\t(.*)$", printed, re.MULTILINE)
    return [(int(offset), value) for offset, value in lines]


async def java_sees(kafka: ApacheKafka, topic: str) -> dict[str, Found]:
    """What it prints, by isolation level; both at once, because it takes its time."""
    found = await asyncio.gather(
        *(asyncio.to_thread(read_by_java, kafka, topic, level) for level in LEVELS)
    )
    return dict(zip(LEVELS, found, strict=True))


async def read_by_us(
    address: str, topic: str, level: Any, *, max_poll_records: int = 500, **options: Any
) -> Found:
    """Everything up to the end that this level knows; the position is there when it returns."""
    found: Found = []
    tp = TopicPartition(topic, 0)
    async with (
        AIOKafkaConsumer(
            bootstrap_servers=address,
            auto_offset_reset="earliest",
            isolation_level=level,
            fetch_max_wait_ms=50,
            max_poll_records=max_poll_records,
            **options,
        ) as consumer,
        asyncio.timeout(TIMEOUT_S),
    ):
        consumer.assign([tp])
        end = (await consumer.end_offsets([tp]))[tp]
        while await consumer.position(tp) < end:
            for record in (await consumer.getmany(timeout_ms=100)).get(tp, ()):
                found.append((record.offset, (record.value or b"").decode()))
        assert await consumer.getmany(timeout_ms=300) == {}
        assert await consumer.position(tp) == end
    return found


def values(found: Found, *kinds: str) -> list[str]:
    return [value for _, value in found if value.startswith(kinds)]


async def markers_are_written(address: str, topic: str, end: int) -> None:
    """Return when the log ends there: a commit is answered before its marker is in the log."""
    tp = TopicPartition(topic, 0)
    async with (
        AIOKafkaConsumer(bootstrap_servers=address) as consumer,
        asyncio.timeout(TIMEOUT_S),
    ):
        while (await consumer.end_offsets([tp]))[tp] < end:
            await asyncio.sleep(0.01)


async def test_e1_e3_e4_java_and_we_see_the_same_of_transactions_of_every_kind(
    apache_kafka: ApacheKafka, topic_name: str
) -> None:
    address = apache_kafka.bootstrap_servers
    await create_topic(address, topic_name, partitions=1)
    with transactions_of_every_kind(address, topic_name) as last:
        await markers_are_written(address, topic_name, 27)
        seen = {level: await read_by_us(address, topic_name, level) for level in LEVELS}
        assert seen == await java_sees(apache_kafka, topic_name)
        for level in LEVELS:
            for limit in (1, 2):
                again = await read_by_us(address, topic_name, level, max_poll_records=limit)
                assert again == seen[level]
            small = await read_by_us(address, topic_name, level, fetch_max_bytes=1)
            assert small == seen[level], "one batch per answer, each with its own list of aborts"
        before_open = [f"committed {n}" for n in range(1, 7)]
        assert values(seen["read_committed"], "committed") == before_open
        assert values(seen["read_committed"], "aborted", "open", "behind") == []
        uncommitted = seen["read_uncommitted"]
        assert values(uncommitted, "aborted") == [f"aborted {n}" for n in range(1, 8)]
        assert values(uncommitted, "open", "behind") == [
            *("open 1", "open 2", "behind plain", "behind committed", "behind aborted")
        ]
        last.commit()
        await markers_are_written(address, topic_name, 28)
    by_java = await java_sees(apache_kafka, topic_name)
    for level in LEVELS:
        found = await read_by_us(address, topic_name, level)
        assert found == by_java[level]
        assert found[: len(seen[level])] == seen[level]
        assert values(found, "open", "behind plain", "behind committed") == [
            *("open 1", "open 2", "behind plain", "behind committed")
        ]
        assert bool(values(found, "aborted", "behind aborted")) is (level == "read_uncommitted")


@pytest.mark.needs_kafka("2.5", "transactions that Java's newer clients abort")
async def test_e3_java_and_we_see_the_same_of_transactions_that_java_aborts_at_random(
    apache_kafka: ApacheKafka, topic_name: str
) -> None:
    """Java copies a topic by transactions, does the aborted ones again, and loses nothing."""
    address = apache_kafka.bootstrap_servers
    source, copy = f"{topic_name}-source", topic_name
    for topic in (source, copy):
        await create_topic(address, topic, partitions=1)
    async with AIOKafkaProducer(bootstrap_servers=address) as producer:
        for number in range(200):
            await producer.send(source, b"%d" % number)
    run_java(
        tools_version(apache_kafka.version),
        TRANSACTIONAL_COPIER,
        *("--broker-list", address, "--input-topic", source, "--input-partition", "0"),
        *("--output-topic", copy, "--transactional-id", copy, "--consumer-group", copy),
        *("--transaction-size", "5", "--max-messages", "200", "--enable-random-aborts"),
    )
    seen = {level: await read_by_us(address, copy, level) for level in LEVELS}
    assert seen == await java_sees(apache_kafka, copy)
    assert [value for _, value in seen["read_committed"]] == [str(n) for n in range(200)]
    assert len(seen["read_uncommitted"]) > 200, "some of 40 transactions were aborted"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("end", ["commit", "abort"])
async def test_e4_a_trailing_marker_moves_the_position_to_the_end_of_the_log(
    apache_kafka: ApacheKafka, topic_name: str, end: str, level: str
) -> None:
    """aiokafka #911: a position that stops one short of the end never shows a lag of 0."""
    address = apache_kafka.bootstrap_servers
    await create_topic(address, topic_name, partitions=1)
    writer = Writer(address, topic_name, "writer")
    for count in (1, 2):
        writer.begin()
        writer.write(f"{count} a", f"{count} b")
        getattr(writer, end)()
        await markers_are_written(address, topic_name, count * 3)
        found = await read_by_us(address, topic_name, level)
        is_shown = end == "commit" or level == "read_uncommitted"
        assert [offset for offset, _ in found] == ([0, 1, 3, 4][: 2 * count] if is_shown else [])
