"""Spark's own Kafka connector is the judge: the same reads, writes and checkpoints through both, on
a real Apache Kafka."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka, archive_classes
from tests.conftest import require_kafka
from tests.spark.support.releases import needs_official
from tests.spark.support.spark_io import LITE, OFFICIAL, run_to_end, source, values_in, write
from tests.support.topics import KEEP_OLD_RECORDS, create_topic

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(300), needs_official]

CODECS = ("gzip", "snappy", "lz4", "zstd", None)
TIME_MS = 1_700_000_000_000
TUNED = {"kafka.fetch.max.wait.ms": "10", "fetchOffset.retryIntervalMs": "1"}


@pytest.fixture(scope="module")
def kafka(spark: Any) -> Iterator[ApacheKafka]:
    """A real node with a topic of each kind, whose cleaner does not rest between two looks."""
    require_kafka(DEFAULT_VERSION)
    archive_classes(DEFAULT_VERSION)
    properties = {"log.cleaner.backoff.ms": "100", "log.retention.ms": "-1"}
    with ApacheKafka(properties=properties) as node:
        asyncio.run(fill_topics(node.bootstrap_servers))
        delete_records(node)
        yield node


@pytest.fixture(scope="module")
def servers(kafka: ApacheKafka) -> str:
    return kafka.bootstrap_servers


async def fill_topics(servers: str) -> None:
    compacted = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "segment.ms": "100",
        "delete.retention.ms": "0",
    }
    await create_topic(servers, "codecs", partitions=2, configs=KEEP_OLD_RECORDS)
    await create_topic(servers, "transactions", partitions=2)
    await create_topic(servers, "compacted", partitions=1, configs=compacted)
    await create_topic(servers, "deleted", partitions=2, configs=KEEP_OLD_RECORDS)
    await create_topic(
        servers, "stamped", partitions=1, configs={"message.timestamp.type": "LogAppendTime"}
    )
    await create_topic(servers, "grown", partitions=1)
    for codec in CODECS:
        await send_every_kind(servers, "codecs", codec)
    await send_every_kind(servers, "stamped", None)
    await send_numbers(servers, "deleted", 20)
    await send_transactions(servers)
    await compact(servers)


async def send_every_kind(servers: str, topic: str, codec: Any) -> None:
    headers: list[Any] = [None, [], [("h", b"1")], [("h", None), ("h", b""), ("ü", b"\x00\xff")]]
    async with AIOKafkaProducer(bootstrap_servers=servers, compression_type=codec) as producer:
        partitions = sorted(await producer.partitions_for(topic))
        for n in range(24):
            await producer.send(
                topic,
                None if n % 6 == 0 else b"%d of %a" % (n, codec),
                key=(b"", b"key", b"%d" % n)[n % 3] if n % 4 or n % 6 == 0 else None,
                partition=partitions[n % len(partitions)],
                timestamp_ms=TIME_MS + n,
                headers=headers[n % 4],
            )


async def send_numbers(servers: str, topic: str, count: int) -> None:
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        partitions = sorted(await producer.partitions_for(topic))
        for n in range(count):
            partition = partitions[n % len(partitions)]
            await producer.send(topic, b"%d" % n, partition=partition, timestamp_ms=TIME_MS + n)


async def send_transactions(servers: str) -> None:
    """Committed, aborted, and at last one that stays open."""
    async with AIOKafkaProducer(bootstrap_servers=servers, transactional_id="done") as producer:
        for number, is_committed in enumerate((True, False, True, False)):
            await producer.begin_transaction()
            for n in range(6):
                await producer.send("transactions", b"%d-%d" % (number, n), partition=n % 2)
            await producer.flush()
            if is_committed:
                await producer.commit_transaction()
            else:
                await producer.abort_transaction()
    async with AIOKafkaProducer(
        bootstrap_servers=servers, transactional_id="open", transaction_timeout_ms=600_000
    ) as opened:
        await opened.begin_transaction()
        await opened.send_and_wait("transactions", b"undecided", partition=0)
        await send_numbers(servers, "transactions", 4)  # behind it, and so not for all to see


async def compact(servers: str) -> None:
    """Write the same keys until the cleaner has left holes."""
    tp = TopicPartition("compacted", 0)
    async with (
        AIOKafkaProducer(bootstrap_servers=servers) as producer,
        AIOKafkaConsumer(bootstrap_servers=servers, auto_offset_reset="earliest") as consumer,
        asyncio.timeout(60),
    ):
        consumer.assign([tp])
        written = 0
        while True:
            for n in range(10):
                ack = await producer.send("compacted", b"%d" % written, key=b"%d" % (n % 3))
                written += 1
            await ack
            await consumer.seek_to_beginning(tp)
            seen = 0
            while await consumer.position(tp) < written:
                taken = await consumer.getmany_arrow(timeout_ms=1000, until={tp: written})
                seen += taken.num_rows
            consumer.resume(tp)
            if 0 < seen < written - 10:
                return


def delete_records(node: ApacheKafka) -> None:
    folder = node.nodes[0].folder
    wanted = {"topic": "deleted", "partition": 0, "offset": 5}
    file = Path(folder) / "delete.json"
    file.write_text(json.dumps({"version": 1, "partitions": [wanted]}))
    node.run_tool("org.apache.kafka.tools.DeleteRecordsCommand", "--offset-json-file", str(file))


def rows(spark: Any, servers: str, kind: str, **options: str) -> list[Any]:
    frame = source(spark, servers, kind=kind, **{**TUNED, **options})  # type: ignore[arg-type]
    return sorted(frame.collect(), key=lambda row: (row.topic, row.partition, row.offset))


ALIKE: dict[str, dict[str, str]] = {
    "codecs, headers, nulls": {"subscribe": "codecs", "includeHeaders": "true"},
    "time of the broker": {"subscribe": "stamped", "includeHeaders": "true"},
    "committed": {"subscribe": "transactions", "kafka.isolation.level": "read_committed"},
    "uncommitted": {"subscribe": "transactions"},
    "compacted": {"subscribe": "compacted"},
    "compacted, split": {"subscribe": "compacted", "minPartitions": "5"},
    "deleted records": {"subscribe": "deleted"},
    "offsets": {
        "subscribe": "deleted",
        "startingOffsets": '{"deleted":{"0":7,"1":-2}}',
        "endingOffsets": '{"deleted":{"0":-1,"1":3}}',
    },
    "records that are gone, passed over": {
        "subscribe": "deleted",
        "startingOffsets": '{"deleted":{"0":1,"1":8}}',
        "failOnDataLoss": "false",
    },
    "one time for all": {
        "subscribe": "deleted",
        "startingTimestamp": str(TIME_MS + 13),
        "endingTimestamp": str(TIME_MS + 16),
    },
    "times by partition": {
        "subscribe": "deleted",
        "startingOffsetsByTimestamp": json.dumps({"deleted": {"0": TIME_MS, "1": TIME_MS + 9}}),
        "endingOffsetsByTimestamp": json.dumps({"deleted": {"0": TIME_MS + 99, "1": TIME_MS + 17}}),
    },
    "a time nobody has reached": {
        "subscribe": "deleted",
        "startingTimestamp": str(TIME_MS + 19),
        "startingOffsetsByTimestampStrategy": "latest",
    },
    "pattern": {"subscribePattern": "^(dele|comp)", "maxRecordsPerPartition": "7"},
    "partitions": {"assign": '{"deleted":[1],"codecs":[0]}'},
}


@pytest.mark.parametrize("name", ALIKE)
def test_the_same_read_has_the_same_rows(spark: Any, servers: str, name: str) -> None:
    expected = rows(spark, servers, OFFICIAL, **ALIKE[name])
    assert rows(spark, servers, LITE, **ALIKE[name]) == expected
    assert expected


def test_schemas_are_the_same(spark: Any, servers: str) -> None:
    for headers in ("true", "false"):
        kinds = (
            source(spark, servers, kind=kind, includeHeaders=headers).schema
            for kind in (OFFICIAL, LITE)
        )
        assert len({each.json() for each in kinds}) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"startingOffsets": "latest"},
        {"startingOffsets": '{"deleted":{"0":1}}'},
        {"startingOffsets": '{"deleted":{"0":1,"1":0}}'},  # deleted
        {"startingOffsets": "nonsense"},
        {"endingOffsets": "earliest"},
        {"startingTimestamp": str(TIME_MS + 19)},
        {"assign": "deleted"},
        {"minPartitions": "0"},
        {"kafka.group.id": "g", "kafka.enable.auto.commit": "true"},
        {"kafka.key.deserializer": "x"},
        {"subscribe": "missing"},
    ],
    ids=str,
)
def test_what_fails_there_fails_here(spark: Any, servers: str, options: dict[str, str]) -> None:
    for kind in (OFFICIAL, LITE):
        with pytest.raises(Exception):  # noqa: B017, PT011 - of whichever kind
            rows(spark, servers, kind, **{"subscribe": "deleted", **options})


@pytest.mark.parametrize(("first", "then"), [(OFFICIAL, LITE), (LITE, OFFICIAL)])
def test_a_checkpoint_goes_on_under_either(
    spark: Any, servers: str, tmp_path: Path, first: str, then: str
) -> None:
    topic = f"moved-from-{first}"
    asyncio.run(create_topic(servers, topic, partitions=2, configs=KEEP_OLD_RECORDS))
    options = {**TUNED, "subscribe": topic, "startingOffsets": "earliest", "topicIds": "true"}
    expected = []
    for kind in (first, then):
        asyncio.run(send_numbers(servers, topic, 10))
        expected += [str(n) for n in range(10)]
        frame = source(spark, servers, streaming=True, kind=kind, **options)
        run_to_end(frame, tmp_path)
        assert values_in(spark, tmp_path) == sorted(expected)
    written = (tmp_path / "checkpoint" / "offsets" / "0").read_text().splitlines()[-1]
    offsets = json.loads(written)
    # The other source reads nothing from the topic's id and epochs, entries without partitions.
    ids = [name for name in offsets if name.startswith((f"{topic}@", f"@{topic}@0-1:"))]
    assert [offsets.pop(name) for name in ids] == [{}, {}] * (first == LITE)
    assert offsets == {topic: {"0": 5, "1": 5}}


def test_the_same_rows_become_the_same_records(spark: Any, servers: str) -> None:
    headers = "array(named_struct('key', 'h', 'value', encode(string(id), 'utf-8')))"
    frame = spark.range(50).selectExpr(
        "if(id % 5 = 0, null, string(id % 7)) key",
        "if(id % 6 = 1, null, concat('v', id)) value",
        "if(id % 5 = 0, int(id % 3), null) partition",
        f"if(id % 4 = 0, null, {headers}) headers",
        "id * 1.5 extra",
    )
    frame = frame.repartition(1)
    found = []
    for kind in (OFFICIAL, LITE):
        topic = f"written-by-{kind}"
        asyncio.run(create_topic(servers, topic, partitions=3))
        write(frame, servers, kind=kind, topic=topic, includeHeaders="true")
        read = rows(spark, servers, LITE, subscribe=topic, includeHeaders="true")
        found.append([(row.partition, row.key, row.value, row.headers) for row in read])
    by_official, by_lite = (sorted(each, key=repr) for each in found)
    assert by_lite == by_official
    assert len(by_lite) == frame.count()


WRONG: dict[str, Callable[[Any], Any]] = {
    "no topic": lambda spark: spark.range(1).selectExpr("'v' value"),
    "null topic": lambda spark: spark.range(1).selectExpr("'v' value", "string(null) topic"),
    "no value": lambda spark: spark.range(1).selectExpr("'v' key", "'t' topic"),
    "number": lambda spark: spark.range(1).selectExpr("id value", "'t' topic"),
    "long partition": lambda spark: spark.range(1).selectExpr(
        "'v' value", "'t' topic", "id partition"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_written_there_cannot_be_here(spark: Any, servers: str, name: str) -> None:
    for kind in (OFFICIAL, LITE):
        with pytest.raises(Exception):  # noqa: B017, PT011 - of whichever kind
            write(WRONG[name](spark), servers, kind=kind)
