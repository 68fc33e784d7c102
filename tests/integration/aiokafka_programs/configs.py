"""A program for aiokafka's admin client: configurations of topics and brokers."""

from typing import Any

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType


async def main(servers: str, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=servers)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, 1, 1, topic_configs={"retention.ms": "60000"})])
        await describe(admin, topic)
        await alter(admin, topic)
        await of_brokers(admin)
        await admin.delete_topics([topic])
    finally:
        await admin.close()


async def describe(admin: Any, topic: str) -> None:
    (response,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    (resource,) = response.resources
    error_code, error_message, resource_type, name, entries = resource
    print(error_code, error_message or "", resource_type == ConfigResourceType.TOPIC, name)
    values = {entry[0]: entry[1] for entry in entries}
    for config in ("retention.ms", "cleanup.policy", "max.message.bytes", "compression.type"):
        print(config, "=", values[config])
    print(len(values) > 20, len(entries[0]))
    for asked in ({"retention.ms": None}, {"retention.ms": None, "nonsense": None}):
        chosen = ConfigResource(ConfigResourceType.TOPIC, topic, asked)
        (response,) = await admin.describe_configs([chosen], include_synonyms=True)
        for config, value, read_only, source, is_sensitive, synonyms, *_ in response.resources[0][
            4
        ]:
            print("chosen", config, value, read_only, source, is_sensitive, *map(tuple, synonyms))
    nowhere = ConfigResource(ConfigResourceType.TOPIC, topic + "-missing")
    (response,) = await admin.describe_configs([nowhere])
    print("missing", response.resources[0][0], response.resources[0][3])


async def alter(admin: Any, topic: str) -> None:
    configs = {"cleanup.policy": "compact", "segment.bytes": "1048576"}
    changed = ConfigResource(ConfigResourceType.TOPIC, topic, configs)
    (response,) = await admin.alter_configs([changed])
    for error_code, error_message, resource_type, name, *_ in response.resources:
        print("altered", error_code, error_message, int(resource_type), name)
    (response,) = await admin.describe_configs([changed])
    print(sorted((entry[0], entry[1]) for entry in response.resources[0][4]))
    # What is not named has its default again.
    gone = ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": None})
    (response,) = await admin.describe_configs([gone])
    print([(entry[0], entry[1]) for entry in response.resources[0][4]])
    bad = ConfigResource(ConfigResourceType.TOPIC, topic, {"cleanup.policy": "never"})
    (response,) = await admin.alter_configs([bad])
    print("refused", response.resources[0][0], response.resources[0][3])


async def of_brokers(admin: Any) -> None:
    for broker in (await admin.describe_cluster())["brokers"]:
        asked = ConfigResource(ConfigResourceType.BROKER, broker["node_id"])
        (response,) = await admin.describe_configs([asked])
        error_code, _, resource_type, name, entries = response.resources[0]
        print("broker", error_code, resource_type == ConfigResourceType.BROKER, name)
        values = {entry[0]: entry[1] for entry in entries}
        print(*(f"{config}={values.get(config)}" for config in ("broker.id", "num.partitions")))
