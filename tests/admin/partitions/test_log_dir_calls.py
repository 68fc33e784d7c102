"""Log directories are described, and replicas move between them."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import (
    ConfigResource,
    LogDirDescription,
    NewTopic,
    OffsetSpec,
    ReplicaInfo,
    ReplicaLogDirs,
)
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    ClusterAuthorizationFailedError,
    IllegalArgumentError,
    KafkaStorageError,
    KafkaTimeoutError,
    LogDirNotFound,
    ReplicaNotAvailableError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.conftest import VERSION_BETWEEN, require_kafka, require_newer_kafka

DIRS = ("/a", "/b")


@pytest.fixture
async def two() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(nodes=2, log_dirs=DIRS) as broker:
        broker.create_topic("t", 2, replication_factor=1)
        yield broker


@pytest.fixture
async def admin(two: EmbeddedBroker) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=two.bootstrap_servers) as admin:
        yield admin


@pytest.mark.needs_kafka("3.3", "sizes of directories")
async def test_a_broker_describes_its_directories(any_kafka: str, topic_name: str) -> None:
    async with (
        AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin,
        AIOKafkaProducer(bootstrap_servers=any_kafka) as producer,
    ):
        await admin.create_topics([NewTopic(topic_name, 2, 1)])
        await producer.send_and_wait(topic_name, b"v" * 1_000, partition=0)
        other = TopicPartition(topic_name, 1)
        (await admin.list_offsets({other: OffsetSpec.LATEST})).raise_first()  # its log is made
        ((broker_id, paths),) = (await admin.describe_log_dirs()).succeeded.items()
        ((path, directory),) = paths.items()
        assert isinstance(directory, LogDirDescription)
        assert directory.error is None
        assert directory.replicas[TopicPartition(topic_name, 0)].size > 1_000
        assert directory.replicas[other] == ReplicaInfo(0, 0, False)
        assert 0 < (directory.usable_bytes or 0) <= (directory.total_bytes or 0)
        replica = (broker_id, TopicPartition(topic_name, 0))
        absent = (broker_id, TopicPartition(topic_name, 7))
        where = await admin.describe_replica_log_dirs([absent, replica])
        assert where[replica] == ReplicaLogDirs(path, 0, None, None)
        assert where[absent] == ReplicaLogDirs(None, None, None, None)
        moved = await admin.alter_replica_log_dirs({absent: path, replica: path})
        assert moved.succeeded == {replica: None}
        assert isinstance(moved[absent], UnknownTopicOrPartitionError)
        nowhere = await admin.alter_replica_log_dirs({replica: "/absent"})
        with pytest.raises(LogDirNotFound, match=f"{topic_name}-0"):
            nowhere.raise_first()


@pytest.mark.real_kafka
async def test_a_replica_moves_on_a_real_broker_and_java_sees_it(tmp_path: Path) -> None:
    require_newer_kafka(VERSION_BETWEEN, "cordoned directories")
    require_kafka(VERSION_BETWEEN)
    places = [str(tmp_path / name) for name in ("a", "b")]
    with ApacheKafka(VERSION_BETWEEN, properties={"log.dirs": ",".join(places)}) as kafka:
        async with AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
            await admin.create_topics([NewTopic("t", 1, 1)])
            replica = (1, TopicPartition("t", 0))
            (await admin.list_offsets({replica[1]: OffsetSpec.LATEST})).raise_first()
            (before,) = (await admin.describe_replica_log_dirs([replica])).succeeded.values()
            (other,) = set(places) - {before.path or ""}
            (await admin.alter_replica_log_dirs({replica: other})).raise_first()
            while True:  # a real broker has no event to wait for; the test's timeout ends it
                (now,) = (await admin.describe_replica_log_dirs([replica])).succeeded.values()
                if now.path == other and now.future_path is None:
                    break
            # A cordoned directory is described as such, and new replicas go to the other one.
            cordon = ConfigResource("BROKER", "1", {"cordoned.log.dirs": other})
            (await admin.incremental_alter_configs([cordon])).raise_first()
            async with asyncio.timeout(60):  # nothing tells when the broker has taken it over
                while not (directories := await directories_of(admin))[other].is_cordoned:
                    await asyncio.sleep(0.05)
            assert not directories[before.path or ""].is_cordoned
            await admin.create_topics([NewTopic("u", 3, 1)])
            new = [TopicPartition("u", number) for number in range(3)]
            (await admin.list_offsets(dict.fromkeys(new, OffsetSpec.LATEST))).raise_first()
            where = await admin.describe_replica_log_dirs([(1, tp) for tp in new])
            assert {each.path for each in where.succeeded.values()} == {before.path}
        shown = kafka.run_tool("org.apache.kafka.tools.LogDirsCommand", "--describe")
        (told,) = (line for line in shown.splitlines() if line.startswith("{"))
        (broker,) = json.loads(told)["brokers"]
        seen = {
            each["logDir"]: {replica["partition"] for replica in each["partitions"]}
            for each in broker["logDirs"]
        }
        assert "t-0" in seen[other]
        assert "t-0" not in seen[before.path or ""]


async def directories_of(admin: AIOKafkaAdminClient) -> dict[str, LogDirDescription]:
    return (await admin.describe_log_dirs([1])).succeeded[1]


async def test_a_move_that_is_on_its_way(two: EmbeddedBroker, admin: AIOKafkaAdminClient) -> None:
    replica = (1, TopicPartition("t", 0))
    two.hold_replica_moves()
    (await admin.alter_replica_log_dirs({replica: "/b"})).raise_first()
    assert (await admin.describe_replica_log_dirs([replica]))[replica] == ("/a", 0, "/b", 0)
    two.release_replica_moves()
    assert (await admin.describe_replica_log_dirs([replica]))[replica] == ("/b", 0, None, None)


async def test_each_broker_answers_for_itself(
    two: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    here, elsewhere = (1, TopicPartition("t", 0)), (2, TopicPartition("t", 0))
    moved = await admin.alter_replica_log_dirs({elsewhere: "/a", here: "/b"})
    assert list(moved) == [elsewhere, here]
    assert moved[here] is None
    assert isinstance(moved[elsewhere], ReplicaNotAvailableError)
    two.faults.fail(ApiKey.DESCRIBE_LOG_DIRS, KafkaStorageError, node_id=1, times=None)
    found = await admin.describe_log_dirs(timeout_ms=300)
    assert list(found.failed) == [1]
    assert list(found.succeeded[2]) == list(DIRS)


async def test_a_broker_that_is_down(two: EmbeddedBroker, admin: AIOKafkaAdminClient) -> None:
    two.stop_node(2)
    found = await admin.describe_log_dirs([1, 2], timeout_ms=300)
    assert list(found.failed) == [2]
    where = await admin.describe_replica_log_dirs(
        [(2, TopicPartition("t", 1)), (1, TopicPartition("t", 0))], timeout_ms=300
    )
    assert [key[0] for key in where.failed] == [2]
    assert list(await admin.describe_log_dirs()) == [1]  # those that run
    with pytest.raises(BrokerNotAvailableError, match="broker 9 is not in the cluster"):
        (await admin.describe_log_dirs([9], timeout_ms=200)).raise_first()


async def test_a_broker_that_never_answers(two: EmbeddedBroker, admin: AIOKafkaAdminClient) -> None:
    two.faults.drop(ApiKey.ALTER_REPLICA_LOG_DIRS, times=None)
    moves = {(1, TopicPartition("t", 0)): "/b"}
    with pytest.raises(
        KafkaTimeoutError, match=r"alter_replica_log_dirs\(\): no result within 0.2"
    ):
        (await admin.alter_replica_log_dirs(moves, timeout_ms=200)).raise_first()


async def test_what_means_nothing_is_refused(admin: AIOKafkaAdminClient) -> None:
    with pytest.raises(IllegalArgumentError, match="broker -1 is no int from 0 on"):
        await admin.describe_log_dirs([-1])
    with pytest.raises(IllegalArgumentError, match="partition is not an int"):
        await admin.alter_replica_log_dirs({(1, TopicPartition("t", -1)): "/a"})


@pytest.mark.parametrize("version", [1, 5])
async def test_a_right_that_is_missing(version: int) -> None:
    async with (
        EmbeddedBroker(acls=[], max_versions={ApiKey.DESCRIBE_LOG_DIRS: version}) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        with pytest.raises(ClusterAuthorizationFailedError):
            (await admin.describe_log_dirs()).raise_first()
        replica = (1, TopicPartition("t", 0))
        refused = await admin.alter_replica_log_dirs({replica: "/kafka-logs"})
        assert isinstance(refused[replica], ClusterAuthorizationFailedError)
