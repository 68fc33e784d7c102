"""A program for aiokafka's admin client: groups and their offsets."""

from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic


async def main(servers: str, topic: str) -> None:
    group = f"{topic}-group"
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 2, 1)])
        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=servers,
            group_id=group,
            client_id="reader",
            enable_auto_commit=False,
            auto_offset_reset="earliest",
        )
        await consumer.start()
        try:
            await read_and_commit(consumer, servers, topic)
            await groups_of(admin, group)
            await offsets_of(admin, group, topic)
        finally:
            await consumer.stop()
        await describe(admin, group)
        await admin.delete_topics([topic])
    finally:
        await admin.close()


async def read_and_commit(consumer: Any, servers: str, topic: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
        for number in range(3):
            await producer.send_and_wait(topic, b"%d" % number, partition=0)
    for _ in range(3):
        await consumer.getone()
    await consumer.commit({TopicPartition(topic, 0): (3, "done")})


async def groups_of(admin: Any, group: str) -> None:
    print([each for each in await admin.list_consumer_groups() if each[0] == group])
    coordinator = await admin.find_coordinator(group)
    print("coordinator", coordinator)
    print([each[1] for each in await admin.list_consumer_groups([coordinator]) if each[0] == group])
    await describe(admin, group)
    (response,) = await admin.describe_consumer_groups([group], group_coordinator_id=coordinator)
    print(len(response.groups))


async def describe(admin: Any, group: str) -> None:
    (response,) = await admin.describe_consumer_groups([group])
    error_code, name, state, protocol_type, _, members, *_ = response.groups[0]
    print(error_code, name, state, protocol_type)
    for member in members:
        member_id, client_id, client_host, metadata, assignment, *_ = member
        partitions = assignment[:-4]  # without what the assignor adds
        print(member_id.startswith("reader-"), client_id, client_host, bool(metadata), partitions)


async def offsets_of(admin: Any, group: str, topic: str) -> None:
    found = await admin.list_consumer_group_offsets(group)
    for partition, committed in sorted(found.items()):
        print(partition, committed.offset, repr(committed.metadata))
    asked = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    found = await admin.list_consumer_group_offsets(group, partitions=asked)
    for partition in asked:
        print(partition, tuple(found[partition]))
    print(await admin.list_consumer_group_offsets(group + "-2"))
