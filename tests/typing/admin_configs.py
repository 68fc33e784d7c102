"""A program that describes and alters configurations and the cluster, as users write them."""

from typing import assert_type

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import (
    AlterConfigOp,
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigType,
    FeatureMetadata,
    FeatureUpdate,
    QuorumInfo,
    UpgradeType,
)
from aiokafka_lite.errors import KafkaError

SOURCES = (
    ConfigSource.TOPIC_CONFIG,
    ConfigSource.DYNAMIC_BROKER_CONFIG,
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG,
    ConfigSource.STATIC_BROKER_CONFIG,
    ConfigSource.DYNAMIC_BROKER_LOGGER_CONFIG,
    ConfigSource.CLIENT_METRICS_CONFIG,
    ConfigSource.GROUP_CONFIG,
)
NUMBERS = (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG, ConfigType.DOUBLE)
TEXTS = (ConfigType.STRING, ConfigType.LIST, ConfigType.CLASS, ConfigType.PASSWORD)
KINDS = (
    ConfigResourceType.TOPIC,
    ConfigResourceType.GROUP,
    ConfigResourceType.CLIENT_METRICS,
)


async def configs(admin: AIOKafkaAdminClient) -> None:
    topic = ConfigResource(ConfigResourceType.TOPIC, "orders")
    described = await admin.get_configs([topic], include_synonyms=True, include_documentation=True)
    for entry in described.succeeded[topic].values():
        assert_type(entry, ConfigEntry)
        if not entry.is_default and not entry.is_sensitive and not entry.is_read_only:
            print(entry.name, entry.value, entry.source in SOURCES, entry.documentation)
        if entry.type is not ConfigType.BOOLEAN and entry.type in (*NUMBERS, *TEXTS):
            print([(each.name, each.value, each.source) for each in entry.synonyms])
    changes = {
        "retention.ms": (AlterConfigOp.SET, "60000"),
        "cleanup.policy": (AlterConfigOp.APPEND, "compact"),
        "preallocate": (AlterConfigOp.DELETE, None),
        "segment.ms": "1000",
        "leader.replication.throttled.replicas": (AlterConfigOp.SUBTRACT, "0:1"),
    }
    outcomes = await admin.incremental_alter_configs(
        [ConfigResource("topic", "orders", changes)], validate_only=True
    )
    assert_type(outcomes[topic], KafkaError | None)
    outcomes.raise_first()


async def rows(admin: AIOKafkaAdminClient) -> None:
    for resource in await admin.list_config_resources(KINDS):
        for answer in await admin.describe_configs([resource], include_synonyms=True):
            for code, text, kind, name, entries in answer.resources:
                print(code, text, kind, name, answer.resources[0].config_entries, entries)
                for row in entries:
                    print(row.config_names, row.config_value, row.read_only, row.config_source)
                    print(row.is_sensitive, row.config_synonyms[0].config_name)
    for altered in await admin.alter_configs([ConfigResource(2, "orders", {"segment.ms": 1})]):
        altered.configs.raise_first()
        print([(row.error_code, row.resource_type) for row in altered.resources])


async def cluster(admin: AIOKafkaAdminClient) -> None:
    features = await admin.describe_features()
    assert_type(features, FeatureMetadata)
    print(features.epoch, features.supported["transaction.version"].min_level)
    updates = {
        "transaction.version": FeatureUpdate(1, UpgradeType.SAFE_DOWNGRADE),
        "group.version": FeatureUpdate(0, UpgradeType.UNSAFE_DOWNGRADE),
        "share.version": FeatureUpdate(features.finalized["share.version"].max_level),
    }
    (await admin.update_features(updates, validate_only=True)).raise_first()
    quorum = await admin.describe_metadata_quorum()
    assert_type(quorum, QuorumInfo)
    print(quorum.leader_id, quorum.leader_epoch, quorum.high_watermark)
    for replica in (*quorum.voters, *quorum.observers):
        print(replica.replica_id, replica.log_end_offset, replica.directory_id)
        print(replica.last_fetch_timestamp, replica.last_caught_up_timestamp)
    for node_id, endpoints in quorum.nodes.items():
        print(node_id, [(each.listener, each.host, each.port) for each in endpoints])
    await admin.unregister_broker(9)
