"""Replicas move to other brokers, on the embedded broker and on a real cluster."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from confluent_kafka.admin import AdminClient

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import (
    ElectionType,
    NewTopic,
    PartitionReassignment,
    ReassignmentProgress,
)
from aiokafka_lite.errors import (
    BrokerIdNotRegisteredError,
    ClusterAuthorizationFailedError,
    IllegalArgumentError,
    InvalidReplicationAssignmentError,
    InvalidReplicationFactorError,
    KafkaTimeoutError,
    NoReassignmentInProgressError,
    NotControllerError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from aiokafka_lite.testing.kafka_node import run_java
from tests.conftest import VERSION_BETWEEN, require_kafka, require_newer_kafka

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
async def three() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(nodes=3) as broker:
        broker.create_topic("t", 2, replication_factor=1)
        yield broker


@pytest.fixture
async def admin(three: EmbeddedBroker) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=three.bootstrap_servers) as admin:
        yield admin


@pytest.mark.real_kafka
async def test_a_real_cluster_moves_replicas_and_others_see_it() -> None:
    require_newer_kafka(VERSION_BETWEEN, "tool that lists unregistered brokers")
    require_kafka(VERSION_BETWEEN)
    with ApacheKafka(VERSION_BETWEEN, nodes=3) as kafka:
        servers = kafka.bootstrap_servers
        async with AIOKafkaAdminClient(bootstrap_servers=servers) as admin:
            await admin.create_topics([NewTopic("t", replica_assignments={0: [1], 1: [2]})])
            async with AIOKafkaProducer(bootstrap_servers=servers) as producer:
                await producer.send_and_wait("t", b"v" * 100_000, partition=0)
            (await admin.alter_partition_reassignments({FIRST: [2, 3]})).raise_first()
            looks = await looks_of(admin, [FIRST], 60_000, 50)
            assert looks[-1].ongoing == {}
            async with asyncio.timeout(60):  # brokers learn of it later, and nothing tells when
                while placed(servers) != {0: (2, [2, 3]), 1: (2, [2])}:
                    await asyncio.sleep(0.05)
            # A new order moves the leader only by an election.
            (await admin.alter_partition_reassignments({FIRST: [3, 2]})).raise_first()
            (await admin.elect_leaders(ElectionType.PREFERRED, [FIRST])).raise_first()
            async with asyncio.timeout(60):
                while placed(servers)[0] != (3, [3, 2]):
                    await asyncio.sleep(0.05)
            # Java's tool sees what waits for a broker that is down, and what was cancelled.
            await asyncio.to_thread(kafka.nodes[2].stop)
            (await admin.alter_partition_reassignments({SECOND: [3]})).raise_first()
            assert await admin.list_partition_reassignments() == {
                SECOND: PartitionReassignment((3, 2), (3,), (2,))
            }
            assert "replicas: 3,2. adding: 3. removing: 2" in shown_by_java(kafka)
            with pytest.raises(KafkaTimeoutError, match="t-1 did not end within 300 ms"):
                await looks_of(admin, None, 300, 50)
            (await admin.alter_partition_reassignments({SECOND: None})).raise_first()
            assert "No partition reassignments found" in shown_by_java(kafka)
            # A node that is gone stays in the cluster until it is unregistered.
            assert brokers_shown_by_java(kafka) == ["1", "2", "3"]
            await admin.unregister_broker(3)
            with pytest.raises(BrokerIdNotRegisteredError):
                await admin.unregister_broker(3)
            async with asyncio.timeout(60):  # the other brokers learn of it later
                while brokers_shown_by_java(kafka) != ["1", "2"]:
                    await asyncio.sleep(0.05)


async def looks_of(
    admin: AIOKafkaAdminClient,
    partitions: list[TopicPartition] | None,
    timeout_ms: int | None,
    interval_ms: int,
) -> list[ReassignmentProgress]:
    watch = admin.watch_partition_reassignments(partitions, timeout_ms, interval_ms=interval_ms)
    return [look async for look in watch]


def placed(servers: str) -> dict[int, tuple[int, list[int]]]:
    """The leader and the replicas of each partition, as another client sees them."""
    topics = AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_topics("t", 60).topics
    return {index: (each.leader, each.replicas) for index, each in topics["t"].partitions.items()}


def shown_by_java(kafka: ApacheKafka) -> str:
    tool = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
    return kafka.run_tool(tool, "--list")


def brokers_shown_by_java(kafka: ApacheKafka) -> list[str]:
    """The brokers that the cluster knows, also those that do not run."""
    tool = "org.apache.kafka.tools.ClusterTool"
    server = ("--bootstrap-server", kafka.bootstrap_servers)
    shown = run_java(kafka.version, tool, "list-endpoints", *server, "--include-fenced-brokers")
    return sorted(line.split()[0] for line in shown.splitlines() if "broker" in line)


async def test_a_bad_partition_among_good_ones(any_kafka: str, topic_name: str) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        await admin.create_topics([NewTopic(topic_name, 3, 1)])
        keys = [TopicPartition(topic_name, number) for number in range(3)]
        absent = TopicPartition(topic_name, 7)
        done = await admin.alter_partition_reassignments(
            {keys[0]: [99], absent: [1], keys[1]: [1], keys[2]: None}
        )
        assert list(done) == [keys[0], absent, keys[1], keys[2]]
        assert done.succeeded == {keys[1]: None}
        assert isinstance(done[keys[0]], InvalidReplicationAssignmentError)
        assert isinstance(done[absent], UnknownTopicOrPartitionError)
        assert isinstance(done[keys[2]], NoReassignmentInProgressError)
        assert topic_name in str(done[keys[0]])
        assert await admin.list_partition_reassignments([*keys, absent]) == {}


async def test_a_watch_follows_each_partition_to_its_end(
    three: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    async with AIOKafkaProducer(bootstrap_servers=three.bootstrap_servers) as producer:
        await producer.send_and_wait("t", b"v" * 100, partition=0)
    three.hold_replica_moves()
    (await admin.alter_partition_reassignments({FIRST: [2, 3], SECOND: [3]})).raise_first()
    looks: list[ReassignmentProgress] = []
    async for look in admin.watch_partition_reassignments(interval_ms=1):
        looks.append(look)
        if len(looks) == 2:
            (await admin.alter_partition_reassignments({SECOND: None})).raise_first()
        if len(looks) == 3:
            three.release_replica_moves()
    assert looks[0].ongoing[FIRST] == PartitionReassignment((2, 3, 1), (2, 3), (1,))
    assert [sorted(look.ongoing) for look in looks] == [[FIRST, SECOND]] * 2 + [[FIRST], []]
    assert [sorted(look.ended) for look in looks] == [[], [], [SECOND], [FIRST, SECOND]]
    size = three.log(FIRST).size_in_bytes
    assert looks[2].total_bytes == 2 * size > 200
    assert (looks[3].copied_bytes, looks[3].total_bytes) == (0, 0)
    assert three.leader(FIRST) == 2


async def test_a_watch_of_nothing_ends_at_once(admin: AIOKafkaAdminClient) -> None:
    looks = await looks_of(admin, [FIRST], None, 1_000)
    assert looks == [ReassignmentProgress({}, frozenset(), 0, 0)]


async def test_a_broker_that_is_down_keeps_a_reassignment_open(
    three: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    three.stop_node(3)
    (await admin.alter_partition_reassignments({FIRST: [3]})).raise_first()
    assert await admin.list_partition_reassignments() == {
        FIRST: PartitionReassignment((3, 1), (3,), (1,))
    }
    with pytest.raises(KafkaTimeoutError, match=r"t-0 did not end within 100 ms; .*brokers"):
        await looks_of(admin, [FIRST], 100, 10)
    three.start_node(3)
    assert await admin.list_partition_reassignments() == {}
    assert three.leader(FIRST) == 3


async def test_the_number_of_replicas_may_be_fixed(admin: AIOKafkaAdminClient) -> None:
    done = await admin.alter_partition_reassignments(
        {FIRST: [1, 2], SECOND: [1]}, allow_replication_factor_change=False
    )
    assert isinstance(done[FIRST], InvalidReplicationFactorError)
    assert done[SECOND] is None


async def test_brokers_that_cannot_check_the_number() -> None:
    async with (
        EmbeddedBroker(max_versions={ApiKey.ALTER_PARTITION_REASSIGNMENTS: 0}) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        (await admin.alter_partition_reassignments({FIRST: [1]})).raise_first()
        with pytest.raises(UnsupportedVersionError):
            await admin.alter_partition_reassignments(
                {FIRST: [1]}, allow_replication_factor_change=False
            )


async def test_a_controller_that_moves_is_followed(
    three: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    for key in (ApiKey.ALTER_PARTITION_REASSIGNMENTS, ApiKey.LIST_PARTITION_REASSIGNMENTS):
        three.faults.fail(key, NotControllerError)
        three.faults.cut(key)
    (await admin.alter_partition_reassignments({FIRST: [2]})).raise_first()
    assert await admin.list_partition_reassignments() == {}
    assert three.leader(FIRST) == 2


async def test_a_controller_that_never_answers(
    three: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    for key in (ApiKey.ALTER_PARTITION_REASSIGNMENTS, ApiKey.LIST_PARTITION_REASSIGNMENTS):
        three.faults.drop(key, times=None)
    with pytest.raises(KafkaTimeoutError, match=r"list_partition_reassignments\(\)"):
        await admin.list_partition_reassignments(timeout_ms=200)
    with pytest.raises(KafkaTimeoutError, match=r"alter_partition_reassignments\(\)"):
        (await admin.alter_partition_reassignments({FIRST: [2]}, 200)).raise_first()


async def test_what_means_nothing_is_refused(admin: AIOKafkaAdminClient) -> None:
    bad = TopicPartition("t", -1)
    with pytest.raises(IllegalArgumentError, match="partition is not an int"):
        await admin.alter_partition_reassignments({bad: [1]})
    with pytest.raises(IllegalArgumentError, match="partition is not an int"):
        await admin.list_partition_reassignments([bad])
    with pytest.raises(IllegalArgumentError, match="partition is not an int"):
        await anext(admin.watch_partition_reassignments([bad]))


async def test_a_right_that_is_missing() -> None:
    async with (
        EmbeddedBroker(acls=[Acl.allow("ANONYMOUS", "DESCRIBE", topic="t")]) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        with pytest.raises(ClusterAuthorizationFailedError):
            await admin.alter_partition_reassignments({FIRST: [1]})
        with pytest.raises(ClusterAuthorizationFailedError):
            await admin.list_partition_reassignments()
