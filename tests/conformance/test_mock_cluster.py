"""librdkafka's mock cluster, with which Confluent's users test, as a server for ours.

It refuses versions in a layout of its own, and reads tagged versions as others. No option is set
for it.
"""

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

RECORDS = 20


@pytest.fixture
def mock_cluster() -> Iterator[str]:
    """The address of a mock cluster. It lives as long as the producer that made it."""
    owner = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    brokers = owner.list_topics(timeout=10).brokers.values()
    yield ",".join(f"{each.host}:{each.port}" for each in brokers)
    owner.flush(1)


async def write(servers: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(RECORDS):
            await producer.send_and_wait("t", b"%d" % number, headers=[("h", b"v")])


async def test_records_go_out_and_come_back(mock_cluster: str) -> None:
    await write(mock_cluster)
    async with AIOKafkaConsumer(
        "t", bootstrap_servers=mock_cluster, auto_offset_reset="earliest"
    ) as consumer:
        read = [(await consumer.getone()).value for _ in range(RECORDS)]
    assert sorted(map(int, filter(None, read))) == list(range(RECORDS))


async def test_a_classic_group_reads_and_commits(mock_cluster: str) -> None:
    """With one member: of two, the mock mostly refuses the one that syncs after its leader."""
    await write(mock_cluster)
    places = [TopicPartition("t", index) for index in range(4)]
    async with AIOKafkaConsumer(
        "t", bootstrap_servers=mock_cluster, group_id="g", auto_offset_reset="earliest"
    ) as member:
        assert member.assignment() == set(places)
        read = [await member.getone() for _ in range(RECORDS)]
        assert len({(each.partition, each.offset) for each in read}) == RECORDS
        await member.commit()
        committed = [await member.committed(each) for each in places]
        assert sum(each or 0 for each in committed) == RECORDS
