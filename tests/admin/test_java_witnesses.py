"""Java's command-line tools see what our calls describe and change, on a real Kafka."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import (
    AlterConfigOp,
    ConfigResource,
    ConfigResourceType,
    NewTopic,
    StreamsMemberDescription,
    StreamsTask,
)
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.admin.support.streams_member import streams_member
from tests.conftest import MAIN_VERSION, require_newer_kafka
from tests.support.patience import eventually_equals

# Java does not know which event loop asks: one is enough here.
pytestmark = [pytest.mark.real_kafka, pytest.mark.asyncio(loop_factories=["asyncio"])]

TOOLS = "org.apache.kafka.tools"
RECORDS = 5


@pytest.fixture
def kafka(running_kafka: Callable[[str], ApacheKafka]) -> ApacheKafka:
    return running_kafka(MAIN_VERSION)


@pytest.fixture
async def admin(kafka: ApacheKafka) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        yield admin


@pytest.fixture
async def topic(admin: AIOKafkaAdminClient, kafka: ApacheKafka, topic_name: str) -> str:
    """Two partitions; partition 0 has records."""
    (await admin.create_topics([NewTopic(topic_name, 2, 1)])).topics.raise_first()
    async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap_servers) as producer:
        for _ in range(RECORDS):
            await producer.send_and_wait(topic_name, b"v", partition=0)
    return topic_name


async def shown(kafka: ApacheKafka, tool: str, *arguments: str) -> list[list[str]]:
    """The words of each line that one of Java's tools prints."""
    printed = await asyncio.to_thread(kafka.run_tool, f"{TOOLS}.{tool}", *arguments)
    return [line.split() for line in printed.splitlines() if line.strip()]


async def test_the_quorum(kafka: ApacheKafka, admin: AIOKafkaAdminClient) -> None:
    before = await admin.describe_metadata_quorum()
    rows = await shown(kafka, "MetadataQuorumCommand", "describe", "--replication")
    after = await admin.describe_metadata_quorum()
    (voter,) = before.voters
    ((node_id, _, end_offset, lag, *_, status),) = rows[1:]
    assert (int(node_id), lag, status) == (voter.replica_id, "0", "Leader")
    assert before.leader_id == voter.replica_id
    assert voter.log_end_offset <= int(end_offset) <= after.voters[0].log_end_offset


async def test_log_directories(kafka: ApacheKafka, admin: AIOKafkaAdminClient, topic: str) -> None:
    async def ours() -> list[tuple[str, int, int, bool]]:
        (directory,) = (await admin.describe_log_dirs()).succeeded[1].values()
        replicas = directory.replicas.items()
        mine = [(f"{tp.topic}-{tp.partition}", *replica) for tp, replica in replicas]
        return sorted(each for each in mine if each[0].startswith(topic))

    async def sizes() -> list[bool]:
        return [size > 0 for _, size, _, _ in await ours()]

    await eventually_equals(sizes, [True, False])  # a broker makes a log after its topic
    lines = await shown(kafka, "LogDirsCommand", "--describe", "--topic-list", topic)
    (told,) = [json.loads(" ".join(line)) for line in lines if line[0].startswith("{")]
    ((broker_id, (directory,)),) = [(each["broker"], each["logDirs"]) for each in told["brokers"]]
    assert broker_id == 1
    assert directory["logDir"] in (await admin.describe_log_dirs()).succeeded[1]
    theirs = [
        (each["partition"], each["size"], each["offsetLag"], each["isFuture"])
        for each in directory["partitions"]
    ]
    assert sorted(theirs) == await ours()


async def test_the_lag_of_a_group(
    kafka: ApacheKafka, admin: AIOKafkaAdminClient, topic: str
) -> None:
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    (await admin.alter_consumer_group_offsets(topic, {zero: 2, one: 0})).raise_first()
    lags = (await admin.group_lag(topic)).succeeded
    describe = ("--describe", "--group", topic, "--offsets")
    rows = await shown(kafka, "consumer.group.ConsumerGroupCommand", *describe)
    seen = {
        TopicPartition(row[1], int(row[2])): tuple(map(int, row[3:6]))
        for row in rows
        if row[0] == topic
    }
    assert seen == lags == {zero: (2, RECORDS, RECORDS - 2), one: (0, 0, 0)}


async def test_offsets_of_a_share_group(
    kafka: ApacheKafka, admin: AIOKafkaAdminClient, topic: str
) -> None:
    require_newer_kafka(kafka.version, "share groups")
    group, zero = f"{topic}-share", TopicPartition(topic, 0)

    async def rows() -> list[list[str]]:
        describe = ("--describe", "--group", group, "--offsets")
        lines = await shown(kafka, "consumer.group.ShareGroupCommand", *describe)
        return [line for line in lines if line[0] == group]

    async with asyncio.timeout(60):  # the first coordinator hears of a new topic a moment later
        while (await admin.alter_share_group_offsets(group, {zero: 2})).failed:
            await asyncio.sleep(0.05)
    listed = (await admin.list_share_group_offsets(group)).succeeded
    assert await rows() == [[group, topic, "0", "2", str(RECORDS - 2)]]
    assert {tp: each[0] for tp, each in listed.items()} == {zero: 2}
    assert listed[zero].lag == RECORDS - 2
    (await admin.delete_share_group_offsets(group, [topic])).raise_first()
    assert await rows() == []


@pytest.mark.needs_kafka("3.7", "subscriptions of client metrics")
async def test_subscriptions_of_client_metrics(
    kafka: ApacheKafka, admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    mine = ConfigResource("CLIENT_METRICS", topic_name)

    async def is_listed() -> bool:
        return mine in await admin.list_config_resources([ConfigResourceType.CLIENT_METRICS])

    for operation in (AlterConfigOp.SET, AlterConfigOp.DELETE):
        change = ConfigResource("CLIENT_METRICS", topic_name, {"interval.ms": (operation, "1000")})
        (await admin.incremental_alter_configs([change])).raise_first()
        is_set = operation is AlterConfigOp.SET
        await eventually_equals(is_listed, is_set)
        assert ([topic_name] in await shown(kafka, "ClientMetricsCommand", "--list")) == is_set


async def test_a_streams_group(kafka: ApacheKafka, admin: AIOKafkaAdminClient, topic: str) -> None:
    require_newer_kafka(kafka.version, "streams groups")
    group_id = f"{topic}-streams"
    await admin.find_coordinator(group_id)  # for which a new broker makes its topic of offsets
    async with streams_member(kafka.bootstrap_servers, topic, group_id, 2) as member_id:
        found = await admin.describe_streams_groups([f"{topic}-2", group_id])
        assert list(found.succeeded) == [group_id]
        group = found.succeeded[group_id]
        whole = await admin.describe_streams_groups([group_id], include_topology_description=True)
        describe = ("--describe", "--group", group_id, "--members", "--verbose")
        rows = await shown(kafka, "streams.StreamsGroupCommand", *describe)
    (row,) = [line for line in rows if line[0] == group_id]
    (member,) = group.members
    assert isinstance(member, StreamsMemberDescription)
    assert (group.type, group.state, member.member_id) == ("streams", "Stable", member_id)
    tasks = frozenset({StreamsTask("0", 0), StreamsTask("0", 1)})
    assert member.tasks.active == member.target_tasks.active == tasks
    assert member.assignment == {TopicPartition(topic, 0), TopicPartition(topic, 1)}
    described = (group.group_id, group.assignment_epoch, group.topology_epoch, member.member_id)
    assert row[:4] == [str(each) for each in described]
    told = (member.member_epoch, member.process_id, member.client_id)
    assert row[5:8] == [str(each) for each in told]
    with_topology = whole.succeeded[group_id]
    assert (group.topology_status, with_topology.topology_status, with_topology.topology) == (
        *("not_requested", "not_stored"),  # the broker has no plugin that stores it
        None,
    )
    assert row[8:] == ["ACTIVE:", "0:[0,1];", "TARGET-ACTIVE:", "0:[0,1];"]
