"""The admin client on a real three-node Kafka: the controller moves, and a broker is silent."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import pytest

from aiokafka_lite import AIOKafkaAdminClient, OffsetSpec, TopicPartition
from aiokafka_lite.admin import ConfigResource, GroupListing, NewPartitions, NewTopic
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidPartitionsError,
    KafkaConnectionError,
    KafkaTimeoutError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.testing.kafka_node import KafkaNode
from tests.faults.group_faults import LOOK_EVERY_S, Cluster, frozen
from tests.support.unreliable_network import ProxiedKafka

# Which event loop asks makes no difference to Kafka.
pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.timeout(600),
    pytest.mark.asyncio(loop_factories=["asyncio"]),
]

REQUEST_TIMEOUT_MS = 3_000
PATIENCE_MS = 120_000
"""The cluster takes some ten seconds to replace a node, and longer on a busy machine."""
SLACK_S = 10.0


async def controller_of(admin: AIOKafkaAdminClient) -> int:
    return (await admin.describe_metadata_quorum(PATIENCE_MS)).leader_id


async def group_of(admin: AIOKafkaAdminClient, node: KafkaNode, prefix: str) -> str:
    """The name of a group that the node coordinates."""
    for number in itertools.count():
        name = f"{prefix}-{number}"
        if await admin.find_coordinator(name, timeout_ms=PATIENCE_MS) == node.node_id:
            return name
    raise AssertionError


@contextmanager
def carried_out_before(error_class: type[BrokerResponseError]) -> Iterator[None]:
    """Allow the error of a change that was made already, if the error says that it may have been.

    A node that waits for the next controller may hand on a change whose client has given it up.
    """
    try:
        yield
    except error_class as error:
        (note,) = error.__notes__
        assert "may have been carried out" in note


def client_of(nodes: Sequence[KafkaNode]) -> AIOKafkaAdminClient:
    """A client that begins with one of these nodes."""
    return AIOKafkaAdminClient(
        bootstrap_servers=[f"127.0.0.1:{each.port}" for each in nodes],
        request_timeout_ms=REQUEST_TIMEOUT_MS,
        retry_backoff_ms=50,
    )


async def test_changes_follow_a_controller_that_moves(
    cluster: ProxiedKafka, topic_name: str
) -> None:
    async with client_of(cluster.nodes) as admin:
        created = await admin.create_topics([NewTopic(topic_name, 1, 3)], timeout_ms=PATIENCE_MS)
        created.topics.raise_first()
        before = await controller_of(admin)
        node = Cluster(cluster).node(before)
        await asyncio.to_thread(node.kill)
        try:
            more = {topic_name: NewPartitions(2)}
            with carried_out_before(InvalidPartitionsError):
                await admin.create_partitions(more, timeout_ms=PATIENCE_MS)
            resource = ConfigResource("TOPIC", topic_name, {"retention.ms": "60000"})
            changed = await admin.incremental_alter_configs([resource], timeout_ms=PATIENCE_MS)
            changed.raise_first()
            assert await controller_of(admin) != before
            deleted = await admin.delete_topics([topic_name], timeout_ms=PATIENCE_MS)
            with carried_out_before(UnknownTopicOrPartitionError):
                deleted.topics.raise_first()
            # A node that has not heard of it from the controller still lists the topic.
            async with asyncio.timeout(PATIENCE_MS / 1000):
                while topic_name in await admin.list_topics():
                    await asyncio.sleep(LOOK_EVERY_S)
        finally:
            node.spawn()
            await asyncio.to_thread(node.wait_ready, 3)


async def test_a_silent_leader_and_coordinator_is_left(
    cluster: ProxiedKafka, topic_name: str
) -> None:
    mine = TopicPartition(topic_name, 0)
    async with client_of(cluster.nodes) as first:
        controller = await controller_of(first)
        # A broker hands changes to a controller that is frozen for 30 s: so another node is.
        node, *_ = silent = [each for each in cluster.nodes if each.node_id != controller][:1]
        others = [each for each in cluster.nodes if each is not node]
        replicas = [each.node_id for each in (node, *others)]
        topic = NewTopic(topic_name, replica_assignments={0: replicas})
        (await first.create_topics([topic])).topics.raise_first()
        group = await group_of(first, node, topic_name)
        (await first.alter_consumer_group_offsets(group, {mine: 0})).raise_first()
    async with client_of(others) as admin:
        with frozen(silent):
            # What only this node can answer has an error that names it, in time.
            began_s = SYSTEM_CLOCK.monotonic()
            broker = ConfigResource("BROKER", str(node.node_id))
            with pytest.raises(KafkaTimeoutError, match=f"node {node.node_id} has not answered"):
                await admin.get_configs([broker], timeout_ms=REQUEST_TIMEOUT_MS - 500)
            assert SYSTEM_CLOCK.monotonic() - began_s < REQUEST_TIMEOUT_MS / 1000 + SLACK_S
            # What others can do, others do: any node, the controller, the leader, the coordinator.
            assert topic_name in await admin.list_topics()
            await admin.create_partitions({topic_name: NewPartitions(2)}, timeout_ms=PATIENCE_MS)
            ends = await admin.list_offsets({mine: OffsetSpec.LATEST}, timeout_ms=PATIENCE_MS)
            assert ends.succeeded[mine].offset == 0
            groups = await admin.describe_groups([group], timeout_ms=PATIENCE_MS)
            assert groups.succeeded[group].coordinator != node.node_id
            lag = await admin.group_lag(group, timeout_ms=PATIENCE_MS)
            assert lag.succeeded[mine].lag == 0
            assert group in {each.group_id for each in await running_groups(admin)}
        (await admin.delete_topics([topic_name], timeout_ms=PATIENCE_MS)).topics.raise_first()


async def running_groups(admin: AIOKafkaAdminClient) -> list[GroupListing]:
    """The groups, once the cluster has given up the silent node."""
    while True:
        with suppress(KafkaConnectionError):
            return await admin.list_groups(timeout_ms=PATIENCE_MS)
