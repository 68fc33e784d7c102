"""All brokers are fenced: they answer, but no metadata names them, and no partition is led."""

from collections.abc import AsyncIterator

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import ReplicaLogDirs
from aiokafka_lite.errors import KafkaTimeoutError
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock

PARTITION = TopicPartition("t", 0)
PATH = "/kafka-logs"


def fence(broker: EmbeddedBroker, *, is_fenced: bool) -> None:
    """Let the controller take both nodes for dead while they run, or end that."""
    for node_id in (1, 2):
        broker.cluster.set_alive(node_id, is_alive=not is_fenced)


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(nodes=2) as broker:
        broker.create_topic("t", 1, replication_factor=2)
        yield broker


@pytest.fixture
async def admin(broker: EmbeddedBroker) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(
        bootstrap_servers=broker.bootstrap_servers, clock=FakeClock(autojump_threshold_s=0.01)
    ) as admin:
        fence(broker, is_fenced=True)
        yield admin


@pytest.mark.parametrize("name", ["describe_log_dirs", "list_groups", "list_transactions"])
async def test_a_call_to_all_brokers_is_no_empty_answer(
    broker: EmbeddedBroker, admin: AIOKafkaAdminClient, name: str
) -> None:
    call = getattr(admin, name)
    told = r"within \d.*names no broker: .* or all are fenced"
    with pytest.raises(KafkaTimeoutError, match=told):
        await call(timeout_ms=2_000)
    fence(broker, is_fenced=False)
    assert len(await call(timeout_ms=2_000)) == (2 if name == "describe_log_dirs" else 0)


async def test_a_broker_that_is_named_is_asked(admin: AIOKafkaAdminClient) -> None:
    (directories,) = (await admin.describe_log_dirs([1])).succeeded.values()
    assert PARTITION in directories[PATH].replicas
    replicas = [(node_id, PARTITION) for node_id in (1, 2)]
    found = await admin.describe_replica_log_dirs(replicas)
    assert found == dict.fromkeys(replicas, ReplicaLogDirs(PATH, 0, None, None))
    moved = await admin.alter_replica_log_dirs(dict.fromkeys(replicas, PATH))
    assert not moved.failed


async def test_the_cluster_and_its_topics_are_described(admin: AIOKafkaAdminClient) -> None:
    assert (await admin.describe_cluster())["brokers"] == []
    (row,) = await admin.describe_topics(["t"])
    (partition,) = row["partitions"]
    assert (partition["error_code"], partition["leader"]) == (5, -1)
    assert (partition["replicas"], partition["offline_replicas"]) == ([1, 2], [1, 2])
    described = (await admin.describe_topic_partitions(["t"])).succeeded["t"].partitions[0]
    assert (described.leader, described.replicas, described.offline) == (None, (1, 2), (1, 2))


async def test_a_call_to_leaders_says_that_there_is_none(admin: AIOKafkaAdminClient) -> None:
    found = await admin.list_offsets({PARTITION: -1}, timeout_ms=2_000)
    with pytest.raises(KafkaTimeoutError, match=r"t-0 has no leader now"):
        found.raise_first()
