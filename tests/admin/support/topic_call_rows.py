"""The rows of calls about topics, partitions, records and configurations."""

from typing import Any

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import (
    AlterConfigOp,
    ConfigResource,
    ElectionType,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    Outcomes,
    RecordsToDelete,
)
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    KafkaError,
    TopicAuthorizationFailedError,
    for_code,
)
from aiokafka_lite.protocol.api_key import ApiKey
from tests.admin.support.call_table import CONTROLLER, LEADER, Call, Mixed, Things, row, several

Admin = AIOKafkaAdminClient
TOPIC = TopicAuthorizationFailedError
CLUSTER = ClusterAuthorizationFailedError
ABSENT = "there-is-none"
NOWHERE = TopicPartition(ABSENT, 0)


def coded(rows: list[dict[str, Any]]) -> list[int]:
    return [each["error_code"] for each in rows]


# Topics…


@row(ApiKey.CREATE_TOPICS, CONTROLLER, (TOPIC, "CREATE"))
async def create_topics(things: Things, _: Admin) -> Call:
    name = things.name()
    return lambda admin, ms: admin.create_topics([NewTopic(name, 1, 1)], ms)


@several
async def mixed_create_topics(things: Things, _: Admin) -> Mixed:
    old, new = things.topic(), things.name()

    async def call(admin: Admin) -> Outcomes[Any, Any]:
        return (await admin.create_topics([NewTopic(old, 1, 1), NewTopic(new, 1, 1)])).topics

    return call


@row(ApiKey.DELETE_TOPICS, CONTROLLER, (TOPIC, "DELETE"))
async def delete_topics(things: Things, _: Admin) -> Call:
    name = things.topic()
    return lambda admin, ms: admin.delete_topics([name], ms)


@several
async def mixed_delete_topics(things: Things, _: Admin) -> Mixed:
    name = things.topic()

    async def call(admin: Admin) -> Outcomes[Any, Any]:
        return (await admin.delete_topics([ABSENT, name])).topics

    return call


@row(ApiKey.METADATA, None, lambda answer: answer == [])
async def list_topics(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.list_topics(ms)


@row(ApiKey.METADATA, LEADER, lambda answer: coded(answer) == [TOPIC.errno])
async def describe_topics(things: Things, _: Admin) -> Call:
    name = things.topic()
    return lambda admin, ms: admin.describe_topics([name], ms)


@several
async def mixed_describe_topics(things: Things, _: Admin) -> Mixed:
    name = things.topic()

    async def call(admin: Admin) -> Outcomes[Any, Any]:
        rows = await admin.describe_topics([ABSENT, name])
        return Outcomes(
            (each["topic"], for_code(each["error_code"])() if each["error_code"] else each)
            for each in rows
        )

    return call


@row(ApiKey.DESCRIBE_TOPIC_PARTITIONS, None, (TOPIC, "DESCRIBE"))
async def describe_topic_partitions(things: Things, _: Admin) -> Call:
    name = things.topic()
    return lambda admin, ms: admin.describe_topic_partitions([name], ms)


@several
async def mixed_describe_topic_partitions(things: Things, _: Admin) -> Mixed:
    name = things.topic()
    return lambda admin: admin.describe_topic_partitions([ABSENT, name])


@row(ApiKey.CREATE_PARTITIONS, CONTROLLER, (TOPIC, "ALTER"))
async def create_partitions(things: Things, _: Admin) -> Call:
    name = things.topic(replication_factor=2)
    return lambda admin, ms: admin.create_partitions({name: NewPartitions(3)}, ms)


@several
async def mixed_create_partitions(things: Things, _: Admin) -> Mixed:
    name = things.topic()

    async def call(admin: Admin) -> Outcomes[Any, Any]:
        wanted = {ABSENT: NewPartitions(3), name: NewPartitions(3)}
        bad = await raised(admin.create_partitions(wanted))
        assert len(things.broker.cluster.topics[name].partitions) == 3
        return Outcomes({ABSENT: bad, name: None})

    return call


# Records…


@row(ApiKey.DELETE_RECORDS, LEADER, (TOPIC, "DELETE"))
async def delete_records(things: Things, _: Admin) -> Call:
    where = things.partition()
    return lambda admin, ms: admin.delete_records({where: RecordsToDelete(1)}, ms)


@several
async def mixed_delete_records(things: Things, _: Admin) -> Mixed:
    where = things.partition()

    async def call(admin: Admin) -> Outcomes[Any, Any]:
        wanted = {NOWHERE: RecordsToDelete(1), where: RecordsToDelete(1)}
        bad = await raised(admin.delete_records(wanted))
        assert things.broker.log(where).log_start_offset == 1
        return Outcomes({NOWHERE: bad, where: None})

    return call


@row(ApiKey.LIST_OFFSETS, LEADER, (TOPIC, "DESCRIBE"))
async def list_offsets(things: Things, _: Admin) -> Call:
    where = things.partition()
    return lambda admin, ms: admin.list_offsets({where: OffsetSpec.LATEST}, timeout_ms=ms)


@several
async def mixed_list_offsets(things: Things, _: Admin) -> Mixed:
    where = things.partition()
    return lambda admin: admin.list_offsets({NOWHERE: OffsetSpec.LATEST, where: OffsetSpec.LATEST})


@row(ApiKey.DESCRIBE_PRODUCERS, LEADER, (TOPIC, "READ"))
async def describe_producers(things: Things, _: Admin) -> Call:
    where = things.partition()
    return lambda admin, ms: admin.describe_producers([where], timeout_ms=ms)


@several
async def mixed_describe_producers(things: Things, _: Admin) -> Mixed:
    where = things.partition()
    return lambda admin: admin.describe_producers([NOWHERE, where])


# Replicas…


@row(ApiKey.ELECT_LEADERS, CONTROLLER, (CLUSTER, "ALTER"))
async def elect_leaders(things: Things, _: Admin) -> Call:
    where = led_by_another(things)
    return lambda admin, ms: admin.elect_leaders(ElectionType.PREFERRED, [where], ms)


@several
async def mixed_elect_leaders(things: Things, _: Admin) -> Mixed:
    where = led_by_another(things)
    return lambda admin: admin.elect_leaders(ElectionType.PREFERRED, [NOWHERE, where])


@row(ApiKey.ALTER_PARTITION_REASSIGNMENTS, CONTROLLER, (CLUSTER, "ALTER"))
async def alter_partition_reassignments(things: Things, _: Admin) -> Call:
    where = things.partition()
    return lambda admin, ms: admin.alter_partition_reassignments({where: [3, 2, 1]}, ms)


@several
async def mixed_alter_partition_reassignments(things: Things, _: Admin) -> Mixed:
    where = things.partition()
    return lambda admin: admin.alter_partition_reassignments({NOWHERE: [1], where: [3, 2, 1]})


@row(ApiKey.LIST_PARTITION_REASSIGNMENTS, CONTROLLER, (CLUSTER, "DESCRIBE"))
async def list_partition_reassignments(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.list_partition_reassignments(timeout_ms=ms)


@row(ApiKey.LIST_PARTITION_REASSIGNMENTS, CONTROLLER, (CLUSTER, "DESCRIBE"))
async def watch_partition_reassignments(things: Things, _: Admin) -> Call:
    where = things.partition()

    async def call(admin: Admin, ms: int | None) -> Any:
        return [each async for each in admin.watch_partition_reassignments([where], timeout_ms=ms)]

    return call


@row(ApiKey.DESCRIBE_LOG_DIRS, None, (CLUSTER, "DESCRIBE"), one_broker="broker 2")
async def describe_log_dirs(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.describe_log_dirs([2], ms)


@several
async def mixed_describe_log_dirs(_: Things, __: Admin) -> Mixed:
    return lambda admin: admin.describe_log_dirs([9, 2])


@row(ApiKey.DESCRIBE_LOG_DIRS, None, (CLUSTER, "DESCRIBE"), one_broker="broker 2")
async def describe_replica_log_dirs(things: Things, _: Admin) -> Call:
    where = things.partition()
    return lambda admin, ms: admin.describe_replica_log_dirs([(2, where)], ms)


@several
async def mixed_describe_replica_log_dirs(things: Things, _: Admin) -> Mixed:
    where = things.partition()
    return lambda admin: admin.describe_replica_log_dirs([(9, where), (2, where)])


@row(ApiKey.ALTER_REPLICA_LOG_DIRS, None, (CLUSTER, "ALTER"), one_broker="broker 2")
async def alter_replica_log_dirs(things: Things, _: Admin) -> Call:
    where = things.partition()
    return lambda admin, ms: admin.alter_replica_log_dirs({(2, where): "/b"}, ms)


@several
async def mixed_alter_replica_log_dirs(things: Things, _: Admin) -> Mixed:
    where = things.partition()
    return lambda admin: admin.alter_replica_log_dirs({(2, NOWHERE): "/b", (2, where): "/b"})


# Configurations…


@row(ApiKey.DESCRIBE_CONFIGS, None, lambda answer: answer[0].resources[0][0] == TOPIC.errno)
async def describe_configs(things: Things, _: Admin) -> Call:
    name = things.topic()
    return lambda admin, ms: admin.describe_configs([ConfigResource("topic", name)], timeout_ms=ms)


@several
async def mixed_describe_configs(things: Things, _: Admin) -> Mixed:
    name = things.topic()

    async def call(admin: Admin) -> Outcomes[Any, Any]:
        asked = [ConfigResource("topic", ABSENT), ConfigResource("topic", name)]
        (answer,) = await admin.describe_configs(asked)
        return Outcomes(
            (each.resource_name, for_code(each.error_code)() if each.error_code else each)
            for each in answer.resources
        )

    return call


@row(ApiKey.DESCRIBE_CONFIGS, None, (TOPIC, "DESCRIBE_CONFIGS"))
async def get_configs(things: Things, _: Admin) -> Call:
    name = things.topic()
    return lambda admin, ms: admin.get_configs([ConfigResource("topic", name)], timeout_ms=ms)


@several
async def mixed_get_configs(things: Things, _: Admin) -> Mixed:
    name = things.topic()
    return lambda admin: admin.get_configs(
        [ConfigResource("topic", ABSENT), ConfigResource("topic", name)]
    )


@row(ApiKey.INCREMENTAL_ALTER_CONFIGS, CONTROLLER, (TOPIC, "ALTER_CONFIGS"))
async def incremental_alter_configs(things: Things, _: Admin) -> Call:
    change = retention(things.topic())
    return lambda admin, ms: admin.incremental_alter_configs([change], timeout_ms=ms)


@several
async def mixed_incremental_alter_configs(things: Things, _: Admin) -> Mixed:
    changes = [retention(ABSENT), retention(things.topic())]
    return lambda admin: admin.incremental_alter_configs(changes)


@row(ApiKey.ALTER_CONFIGS, CONTROLLER, (TOPIC, "ALTER_CONFIGS"))
async def alter_configs(things: Things, _: Admin) -> Call:
    change = ConfigResource("topic", things.topic(), {"retention.ms": "5"})
    return lambda admin, ms: admin.alter_configs([change], ms)


@several
async def mixed_alter_configs(things: Things, _: Admin) -> Mixed:
    names = (ABSENT, things.topic())
    changes = [ConfigResource("topic", name, {"retention.ms": "5"}) for name in names]

    async def call(admin: Admin) -> Outcomes[Any, Any]:
        return (await admin.alter_configs(changes))[0].configs

    return call


@row(ApiKey.LIST_CONFIG_RESOURCES, None, (CLUSTER, "DESCRIBE_CONFIGS"))
async def list_config_resources(_: Things, __: Admin) -> Call:
    return lambda admin, ms: admin.list_config_resources(timeout_ms=ms)


def led_by_another(things: Things) -> TopicPartition:
    """A partition that neither its preferred leader nor the controller leads, which are two."""
    name, controller = things.topic(), things.broker.cluster.controller_id
    parts = (TopicPartition(name, 0), TopicPartition(name, 1))
    found = next(each for each in parts if things.broker.leader(each) != controller)
    things.broker.move_leader(found, 6 - controller - things.broker.leader(found))
    return found


def retention(topic: str) -> ConfigResource:
    return ConfigResource("topic", topic, {"retention.ms": (AlterConfigOp.SET, "5")})


async def raised(call: Any) -> KafkaError | None:
    """Return the error of a call about several things that raises the first one."""
    try:
        await call
    except KafkaError as error:
        return error
    return None
