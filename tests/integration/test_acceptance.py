"""The release between the newest and the oldest: one round out and back, in a group, and in a
transaction. All other tests against a real Kafka run on those two.
"""

from collections.abc import Callable

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.conftest import VERSION_BETWEEN
from tests.support.topics import create_topic

RECORDS = 300

pytestmark = pytest.mark.real_kafka


async def test_out_and_back_in_a_group_and_in_a_transaction(
    running_kafka: Callable[[str], ApacheKafka], topic_name: str
) -> None:
    """A member reads what was sent, copies half of it by transactions and aborts the other half;
    what was committed is read, and the group stands there.
    """
    address = running_kafka(VERSION_BETWEEN).bootstrap_servers
    source, copy, group = topic_name, f"{topic_name}-copy", f"{topic_name}-group"
    for topic in (source, copy):
        await create_topic(address, topic, partitions=1)
    async with AIOKafkaProducer(bootstrap_servers=address) as producer:
        for number in range(RECORDS):
            await producer.send(source, b"%d" % number, b"key", headers=[("n", b"%d" % number)])
    async with (
        AIOKafkaConsumer(
            source,
            bootstrap_servers=address,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        ) as member,
        AIOKafkaProducer(bootstrap_servers=address, transactional_id=copy) as producer,
    ):
        for number in range(RECORDS):
            record = await member.getone()
            assert (record.offset, record.value) == (number, b"%d" % number)
            assert record.headers == (("n", b"%d" % number),)
            if number % 50 == 0:
                await producer.begin_transaction()
            await producer.send(copy, record.value)
            if number % 50 == 49:
                at = {TopicPartition(source, 0): number + 1}
                await producer.send_offsets_to_transaction(at, member.group_metadata())
                end = producer.abort_transaction if number % 100 == 99 else None
                await (end or producer.commit_transaction)()
        assert await member.committed(TopicPartition(source, 0)) == RECORDS - 50
    async with AIOKafkaConsumer(
        copy,
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as reader:
        kept = [number for number in range(RECORDS) if number % 100 < 50]
        assert [int((await reader.getone()).value or b"") for _ in kept] == kept
