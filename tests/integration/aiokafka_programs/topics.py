"""A program for aiokafka's admin client: topics, partitions, records, the cluster."""

import asyncio
from typing import Any

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.errors import KafkaError, for_code


async def main(servers: str, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=servers, client_id="topics")
    await admin.start()
    await admin.start()
    try:
        await create(admin, topic)
        await describe(admin, servers, topic)
        await grow(admin, topic)
        await shorten(admin, servers, topic)
        await delete(admin, topic)
    finally:
        await admin.close()
    await admin.close()


async def create(admin: Any, topic: str) -> None:
    tried = await admin.create_topics([NewTopic(topic, 2, 1)], validate_only=True)
    print(
        "validated",
        [tuple(each) for each in tried.topic_errors],
        topic in await admin.list_topics(),
    )
    configs = {"cleanup.policy": "compact"}
    response = await admin.create_topics(
        [NewTopic(name=topic, num_partitions=2, replication_factor=1, topic_configs=configs)],
        timeout_ms=20_000,
    )
    for name, error_code, error in response.topic_errors:
        print("created", name, error_code, error)
    again = await admin.create_topics([NewTopic(topic, 1, 1), NewTopic("no/topic", 1, 1)])
    for name, error_code, _ in again.topic_errors:
        print("refused", name, error_code, for_code(error_code).__name__)
    response = await admin.create_topics([NewTopic(topic + "-placed", -1, -1, {0: [1]})])
    print("placed", response.topic_errors[0][1], response.to_object()["topic_errors"][0]["topic"])
    while topic + "-placed" not in await admin.list_topics():
        await asyncio.sleep(0.01)  # the node learns of new topics a moment later
    print("listed", sorted(name for name in await admin.list_topics() if topic in name))


async def describe(admin: Any, servers: str, topic: str) -> None:
    (found,) = await admin.describe_topics([topic])
    print(found["topic"], found["error_code"], found["is_internal"])
    for partition in sorted(found["partitions"], key=lambda each: each["partition"]):
        fields = ("partition", "error_code", "leader", "replicas", "isr")
        print(*(f"{name}={partition[name]}" for name in fields))
    every = await admin.describe_topics()
    print("all", sorted(each["topic"] for each in every if topic in each["topic"]))
    cluster = await admin.describe_cluster()
    for broker in cluster["brokers"]:
        address = f"{broker['host']}:{broker['port']}"
        print("broker", broker["node_id"], address == servers, broker["rack"])
    print("controller", cluster["controller_id"], sorted(cluster), bool(cluster["cluster_id"]))


async def grow(admin: Any, topic: str) -> None:
    response = await admin.create_partitions({topic: NewPartitions(total_count=3)})
    print("grown", [tuple(each) for each in response.topic_errors])
    numbers: list[int] = []
    while len(numbers) != 3:
        (found,) = await admin.describe_topics([topic])
        numbers = sorted(each["partition"] for each in found["partitions"])
    print("partitions", numbers)
    try:
        await admin.create_partitions({topic: NewPartitions(2)})
    except KafkaError as error:
        print("not smaller", type(error).__name__, topic in str(error))


async def shorten(admin: Any, servers: str, topic: str) -> None:
    plain = f"{topic}-placed"
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(5):
            await producer.send_and_wait(plain, b"%d" % number, partition=0)
    where = TopicPartition(plain, 0)
    print("deleted records", await admin.delete_records({where: RecordsToDelete(before_offset=3)}))
    print("all records", await admin.delete_records({where: RecordsToDelete(-1)}, timeout_ms=9000))
    try:
        await admin.delete_records({where: RecordsToDelete(99)})
    except KafkaError as error:
        print("beyond the end", type(error).__name__)


async def delete(admin: Any, topic: str) -> None:
    response = await admin.delete_topics([topic, topic + "-placed"], timeout_ms=20_000)
    print("deleted", sorted(tuple(each) for each in response.topic_error_codes))
    response = await admin.delete_topics([topic])
    for name, error_code in response.topic_error_codes:
        print("not there", name, for_code(error_code).__name__)
    while any(topic in name for name in await admin.list_topics()):
        await asyncio.sleep(0.01)
