"""Shows how the two-fetch pipeline serves partitions, by running it and printing two tables.

`python examples/walkthrough_tables.py [BOOTSTRAP]`; without an address it uses an embedded broker.
The tables are exact on a broker of one node. Table 1 drains ten partitions that are already
buffered, a hundred records a poll. In table 2 each response has one batch of four records, and a
poll returns two.
"""

import asyncio
import sys
import uuid
from collections.abc import Iterable, Mapping, Sequence

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka_lite.admin import AIOKafkaAdminClient, NewTopic
from aiokafka_lite.testing.broker import EmbeddedBroker

Row = tuple[str, ...]
Polled = Mapping[TopicPartition, Sequence[ConsumerRecord[bytes, bytes]]]
NOTHING = "\N{EN DASH}"
TABLE_1_HEAD = ("poll", "returned", "buffered afterwards", "free to fetch before the poll")
TABLE_2_HEAD = ("poll", "free to fetch", "the broker answers with", "returned", "queue afterwards")
BATCH = 4  # records per batch, and so per response, in table 2


async def table_1(bootstrap_servers: str, topic: str) -> list[Row]:
    """Ten partitions with 1000 records each already fetched, max_poll_records=100."""
    await create(bootstrap_servers, NewTopic(topic, 10))
    await write(bootstrap_servers, topic, dict.fromkeys(range(10), 1000))
    rows: list[Row] = []
    async with AIOKafkaConsumer(
        bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest", max_poll_records=100
    ) as consumer:
        consumer.assign([TopicPartition(topic, partition) for partition in range(10)])
        await consumer.seek_to_beginning()
        await consumer.getmany()  # nothing is buffered yet: this only starts the fetch
        await answer_is_there(consumer)
        await write(bootstrap_servers, topic, {0: 1000})  # for P0's second fetch to find
        free = consumer.statistics().free
        for poll in range(1, 12):
            returned = await consumer.getmany(timeout_ms=10_000)
            now = consumer.statistics()
            buffered = [fetch.topic_partition for fetch in now.buffered]
            rows.append((str(poll), intervals(returned), names(buffered), names(free)))
            free = now.free
            await answer_is_there(consumer)
    await delete(bootstrap_servers, topic)
    return rows


async def table_2(bootstrap_servers: str, topic: str) -> list[Row]:
    """Three partitions; fetch_max_bytes=1, so that a response is one batch of one partition."""
    await create(bootstrap_servers, NewTopic(topic, 3))
    for _ in range(3):
        await write(bootstrap_servers, topic, dict.fromkeys(range(3), BATCH))
    rows: list[Row] = []
    async with AIOKafkaConsumer(
        bootstrap_servers=bootstrap_servers,
        auto_offset_reset="earliest",
        fetch_max_bytes=1,
        max_poll_records=2,
    ) as consumer:
        consumer.assign([TopicPartition(topic, partition) for partition in range(3)])
        await consumer.seek_to_beginning()
        free, answered = consumer.statistics().free, ""
        for poll in range(1, 9):
            returned = await consumer.getmany(timeout_ms=10_000)
            now = consumer.statistics()
            # Row 1's fetch was started and answered in the poll itself, the others before it.
            answer = answered or batches((tp, part[0].offset) for tp, part in returned.items())
            free_set = names(sorted(free))
            rows.append((str(poll), free_set, answer, numbers(returned), names(now.queue)))
            free = now.free
            known = {fetch.topic_partition for fetch in now.buffered}
            await answer_is_there(consumer)
            answered = batches(
                (fetch.topic_partition, fetch.next_offset)
                for fetch in consumer.statistics().buffered
                if fetch.topic_partition not in known
            )
    await delete(bootstrap_servers, topic)
    return rows


async def create(bootstrap_servers: str, topic: NewTopic) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        (await admin.create_topics([topic])).topics.raise_first()


async def delete(bootstrap_servers: str, topic: str) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        (await admin.delete_topics([topic])).topics.raise_first()


async def write(bootstrap_servers: str, topic: str, counts: Mapping[int, int]) -> None:
    """Write records to each partition, all of a partition in one batch."""
    async with AIOKafkaProducer(
        bootstrap_servers=bootstrap_servers, linger_ms=60_000, max_batch_size=1_000_000
    ) as producer:
        for partition, count in counts.items():
            for number in range(count):
                await producer.send(topic, b"%d" % number, partition=partition)
        await producer.flush()


async def answer_is_there(consumer: AIOKafkaConsumer[bytes, bytes]) -> None:
    """Wait until no fetch is in flight."""
    async with asyncio.timeout(30):
        while consumer.statistics().fetching_nodes:  # noqa: ASYNC110 - a picture, no event
            await asyncio.sleep(0.001)


def names(partitions: Iterable[TopicPartition]) -> str:
    return " ".join(f"P{tp.partition}" for tp in partitions) or "none"


def intervals(records: Polled) -> str:
    """`P0 [0,100)`."""
    return ", ".join(
        f"P{tp.partition} [{part[0].offset},{part[-1].offset + 1})" for tp, part in records.items()
    )


def numbers(records: Polled) -> str:
    """`P0: 0,1`."""
    return " ".join(
        f"P{tp.partition}: {','.join(str(record.offset) for record in part)}"
        for tp, part in records.items()
    )


def batches(answers: Iterable[tuple[TopicPartition, int]]) -> str:
    """The batch that begins at each offset, as `P0: 0-3`; a dash without any."""
    return " ".join(f"P{tp.partition}: {at}-{at + BATCH - 1}" for tp, at in answers) or NOTHING


def show(title: str, head: Row, rows: Sequence[Row]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    print(f"\n{title}\n")
    for row in (head, tuple("-" * width for width in widths), *rows):
        print(
            " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


async def show_both(bootstrap_servers: str) -> None:
    run = uuid.uuid4().hex[:8]
    rows = await table_1(bootstrap_servers, f"walkthrough-1-{run}")
    show("Table 1: ten partitions, 1000 records each, 100 per poll", TABLE_1_HEAD, rows)
    rows = await table_2(bootstrap_servers, f"walkthrough-2-{run}")
    show("Table 2: three partitions, 4 records per answer, 2 per poll", TABLE_2_HEAD, rows)


async def main() -> None:
    if len(sys.argv) > 1:
        await show_both(sys.argv[1])
        return
    async with EmbeddedBroker() as broker:
        await show_both(broker.bootstrap_servers)


if __name__ == "__main__":
    asyncio.run(main())
