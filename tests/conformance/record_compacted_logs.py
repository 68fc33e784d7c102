"""Writes compacted_logs.json: what real Kafkas keep of logs that their cleaner has compacted.

`python -m tests.conformance.record_compacted_logs` records all of `RECORDED` anew, in some minutes.
Each log is what Fetch returned, byte for byte, with the aborted transactions that came along, and
what Java's console consumer has read of it.
"""

import asyncio
import base64
import json
import re
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import (
    AIOKafkaAdminClient,
    FeatureUpdate,
    NewTopic,
    RecordsToDelete,
    UpgradeType,
)
from aiokafka_lite.errors import ProducerFenced
from aiokafka_lite.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from aiokafka_lite.record.memory_records import iter_batches
from aiokafka_lite.testing.apache_kafka import ApacheKafka

TARGET: Final = Path(__file__).with_name("compacted_logs.json")
CONSOLE_CONSUMER: Final = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CLEANER: Final = {"log.cleaner.backoff.ms": "100"}
SEGMENT_MS: Final = 300
ROUNDS: Final = 8
"""How many times a log is closed and cleaned. Markers go in a later round than their records."""
DAY_MS: Final = 86_400_000


class Wanted(NamedTuple):
    """One log to record."""

    release: str
    transactions: int
    """The version of the transaction protocol."""
    codec: str | None
    delete_retention_ms: int
    is_cut: bool = False
    """Whether records are deleted up to the middle of an aborted transaction."""

    @property
    def topic(self) -> str:
        """The name of its topic."""
        cut = "-cut" if self.is_cut else ""
        return f"v{self.transactions}-{self.codec}-{self.delete_retention_ms}{cut}"


RECORDED: Final = (
    Wanted("4.4.0", 2, None, 0),
    Wanted("4.4.0", 2, None, DAY_MS),
    Wanted("4.4.0", 2, "gzip", 0),
    Wanted("4.4.0", 2, "zstd", DAY_MS),
    Wanted("4.4.0", 2, None, 0, is_cut=True),
    Wanted("4.4.0", 1, None, 0),
    Wanted("4.4.0", 1, "lz4", DAY_MS),
    Wanted("3.9.2", 1, None, 0),
    Wanted("3.9.2", 1, None, DAY_MS),
    Wanted("3.9.2", 1, "snappy", 0),
)


class Log:
    """The writers of one topic."""

    def __init__(self, servers: str, wanted: Wanted) -> None:
        self.servers = servers
        self.topic = wanted.topic
        self.codec = wanted.codec

    def producer(self, **options: Any) -> AIOKafkaProducer:
        """Return a producer of this log."""
        options = {"compression_type": self.codec, "linger_ms": 5, **options}
        return AIOKafkaProducer(bootstrap_servers=self.servers, **options)

    def plain(self) -> AIOKafkaProducer:
        """Return a producer without an id."""
        return self.producer(enable_idempotence=False)

    def transactional(self, name: str) -> AIOKafkaProducer:
        """Return a producer with transactions."""
        return self.producer(transactional_id=f"{self.topic}-{name}")

    async def batch(self, producer: AIOKafkaProducer, keys: str, **options: Any) -> int:
        """Write one batch with a record for each key; return the offset of the last one.

        "!" at the end of a key makes it a tombstone.
        """
        acks = []
        for key in keys.split():
            value = None if key.endswith("!") else f"value of {key}".encode()
            headers = [("h", b"1"), ("h", None)] if key == "headers" else None
            named = key.rstrip("!").encode()
            acks.append(await producer.send(self.topic, value, named, headers=headers, **options))
        await producer.flush()
        return (await acks[-1]).offset

    async def transaction(
        self, producer: AIOKafkaProducer, *batches: str, commit: bool = False
    ) -> list[int]:
        """Write batches in a transaction; return the offset of each one's last record."""
        await producer.begin_transaction()
        offsets = [await self.batch(producer, keys) for keys in batches]
        await (producer.commit_transaction() if commit else producer.abort_transaction())
        return offsets

    async def fill(self) -> None:
        """Write what the cleaner will thin out."""
        async with AsyncExitStack() as stack:
            enter = stack.enter_async_context
            plain = await enter(self.plain())
            await self.batch(plain, "kept-1 gone kept-2 headers gone")  # holes, also at its end
            await self.batch(plain, "gone gone")  # nothing is left of it
            await self.batch(plain, "without", timestamp_ms=-1)
            await self.batch(plain, "gone without-2 gone", timestamp_ms=-1)
            once = await enter(self.producer(enable_idempotence=True))
            await self.batch(once, "gone gone")
            await self.batch(once, "gone")  # the last batch of its producer id
            mixed = await enter(self.transactional("mixed"))
            await self.transaction(mixed, "gone gone", commit=True)
            await self.transaction(mixed, "gone")
            await self.transaction(mixed, "gone", "gone gone")
            await self.transaction(mixed, "mixed-1 gone mixed-2", "gone", commit=True)
            await self.transaction(mixed, "aborted")
            await self.transaction(mixed, "mixed-3", commit=True)
            gone = await enter(self.transactional("gone"))
            await self.transaction(gone, "gone gone", commit=True)
            aborted = await enter(self.transactional("aborted"))
            for _ in range(3):
                await self.transaction(aborted, "aborted-1 aborted-2")
            await (await self.fence("fenced")).stop()
            second = await self.fence("fenced-and-used")
            await self.transaction(second, "aborted")
            await second.stop()
            await self.batch(plain, "deleted deleted! kept-3")

    async def fence(self, name: str) -> AIOKafkaProducer:
        """Leave a transaction open, which the next producer of that id ends, and return that one.

        The marker has a later epoch than the records, also with the older protocol.
        """
        first, second = self.transactional(name), self.transactional(name)
        await first.start()
        await first.begin_transaction()
        await self.batch(first, "fenced")
        await second.start()
        with suppress(ProducerFenced):
            await first.stop()
        return second

    async def roll(self) -> None:
        """Close the newest segment, so that the cleaner may clean it."""
        await asyncio.sleep(SEGMENT_MS * 2 / 1000)
        async with self.plain() as plain:
            await self.batch(plain, "newest gone")

    async def end(self) -> tuple[int, AIOKafkaProducer]:
        """Write what the cleaner does not reach; return an offset in the middle of an aborted
        transaction, and the producer of an open one.
        """
        async with self.transactional("aborted") as again, self.plain() as plain:
            middle, _ = await self.transaction(again, "late-1", "late-2")
            await self.transaction(again, "late-3", commit=True)
            unfinished = self.transactional("open")
            await unfinished.start()
            await unfinished.begin_transaction()
            await self.batch(unfinished, "open open")
            await self.batch(plain, "behind")
        return middle + 1, unfinished


async def fetched(consumer: AIOKafkaConsumer, topic: str, offset: int) -> dict[str, Any]:
    """Return what Fetch returns of the whole log: as read_committed does, then what is open."""
    client = consumer.kafka_client
    assert client is not None
    fetches: list[dict[str, Any]] = []
    isolation_level = 1
    while True:
        topic_id = client.metadata.snapshot.topic_id(topic)
        asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=100,
            min_bytes=1,
            isolation_level=isolation_level,
            topics=[FetchTopic(topic=topic, topic_id=topic_id, partitions=[asked])],
        )
        answer = await client.network.request(1, request)
        told = answer.responses[0].partitions[0]
        assert told.error_code == 0, told.error_code
        if isolation_level and offset >= told.last_stable_offset:
            isolation_level = 0
        elif not told.records:
            break
        else:
            aborted = [
                (each.producer_id, each.first_offset) for each in told.aborted_transactions or ()
            ]
            records = bytes(told.records)
            coded = base64.b64encode(records).decode()
            fetches.append({"offset": offset, "aborted": aborted, "records": coded})
            offset = max(batch.last_offset for batch in iter_batches(records)) + 1
    return {
        "log_start": told.log_start_offset,
        "last_stable": told.last_stable_offset,
        "high_watermark": told.high_watermark,
        "fetches": fetches,
    }


async def record(kafka: ApacheKafka, wanted: Wanted) -> dict[str, Any]:
    """Fill one topic, let it be cleaned, and return its log."""
    servers, topic = kafka.bootstrap_servers, wanted.topic
    tp = TopicPartition(topic, 0)
    configs = {
        "cleanup.policy": "compact,delete" if wanted.is_cut else "compact",
        "min.cleanable.dirty.ratio": "0.01",
        "delete.retention.ms": str(wanted.delete_retention_ms),
        "segment.ms": str(SEGMENT_MS),
    }
    async with (
        AIOKafkaAdminClient(bootstrap_servers=servers) as admin,
        AIOKafkaConsumer(bootstrap_servers=servers) as consumer,
    ):
        if wanted.release >= "4":
            kind = UpgradeType.UPGRADE if wanted.transactions == 2 else UpgradeType.SAFE_DOWNGRADE
            update = FeatureUpdate(wanted.transactions, kind)
            await admin.update_features({"transaction.version": update})
        await admin.create_topics([NewTopic(topic, 1, 1, topic_configs=configs)])
        consumer.assign([tp])
        await consumer.position(tp)
        log = Log(servers, wanted)
        await log.fill()
        for _ in range(ROUNDS):
            await log.roll()
        middle, unfinished = await log.end()
        if wanted.is_cut:
            await admin.delete_records({tp: RecordsToDelete(middle)})
        start = middle if wanted.is_cut else 0
        found: dict[str, Any] = {}
        told: list[list[list[Any]]] = []
        while found != (found := await fetched(consumer, topic, start)):  # the cleaner still works
            levels = ("read_uncommitted", "read_committed")
            reads = (asyncio.to_thread(read_by_java, kafka, topic, level) for level in levels)
            told = await asyncio.gather(*reads)
        await unfinished.stop()
    return {
        **wanted._asdict(),
        **found,
        "java": {"read_uncommitted": told[0], "read_committed": told[1]},
    }


def read_by_java(kafka: ApacheKafka, topic: str, level: str) -> list[list[Any]]:
    """Return offset, time, key and value of each record that Java's consumer returns."""
    printed = kafka.run_tool(
        CONSOLE_CONSUMER,
        *("--topic", topic, "--from-beginning", "--timeout-ms", "20000"),
        *("--isolation-level", level),
        *("--property", "print.offset=true", "--property", "print.timestamp=true"),
        *("--property", "print.key=true", "--property", "key.separator=|"),
    )
    lines = re.findall(r"^CreateTime:(.*)\|Offset:(\d+)\|(.*)\|(.*)$", printed, re.MULTILINE)
    return [[int(offset), int(time), key, value] for time, offset, key, value in lines]


def main() -> None:
    """Record all logs. Blocks for some minutes."""
    logs = []
    for release in dict.fromkeys(wanted.release for wanted in RECORDED):
        with ApacheKafka(release, properties=CLEANER) as kafka:
            for wanted in RECORDED:
                if wanted.release == release:
                    logs.append(asyncio.run(record(kafka, wanted)))
                    print(wanted, *(len(lines) for lines in logs[-1]["java"].values()))
    TARGET.write_text(json.dumps(logs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
