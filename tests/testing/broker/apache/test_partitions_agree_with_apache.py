"""Elections, reassignments and log directories: the same requests get the same answers from the
embedded broker and from a real cluster of three nodes.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from aiokafka_lite.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from aiokafka_lite.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from aiokafka_lite.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from aiokafka_lite.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from aiokafka_lite.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.conftest import VERSION_BETWEEN, require_kafka
from tests.testing.broker.bench import WireClient

PLACES = {0: [1, 2], 1: [2, 1], 2: [3, 1], 3: [1, 2]}
"""The replicas of each partition of the topic, the preferred leader first."""
Switch = Callable[[int], object]


class Peer:
    """A cluster of three nodes, asked through node 1."""

    def __init__(self, client: WireClient, stop: Switch, start: Switch) -> None:
        self.client = client
        self.stop = stop
        self.start = start
        self.told: list[Any] = []

    async def create(self) -> None:
        assignments = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in PLACES.items()
        ]
        topic = CreatableTopic(
            name="t", num_partitions=-1, replication_factor=-1, assignments=assignments
        )
        made = await self.client.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))
        assert made.topics[0].error_code == 0
        await self.until(lambda parts: len(parts) == 4 and all(led for led, *_ in parts.values()))

    async def refused(
        self, *assignments: tuple[int, list[int]], partitions: int = -1, factor: int = -1
    ) -> None:
        """Note what a topic with these assignments is answered, which is not made."""
        topic = CreatableTopic(
            name="u",
            num_partitions=partitions,
            replication_factor=factor,
            assignments=[
                CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
                for index, brokers in assignments
            ],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=60_000, validate_only=True)
        (answer,) = (await self.client.ask(request)).topics
        self.told.append((answer.error_code, answer.error_message))

    async def extended(self, count: int, *assignments: list[int]) -> None:
        """Note what more partitions are answered, which are not made."""
        placed = [CreatePartitionsAssignment(broker_ids=brokers) for brokers in assignments]
        topic = CreatePartitionsTopic(name="t", count=count, assignments=placed or None)
        request = CreatePartitionsRequest(topics=[topic], timeout_ms=60_000, validate_only=True)
        (answer,) = (await self.client.ask(request)).results
        self.told.append((answer.error_code, answer.error_message))

    async def partitions(self) -> dict[int, tuple[int, list[int], list[int]]]:
        """(leader, replicas, in sync)"""
        answer = await self.client.ask(
            MetadataRequest(
                topics=[MetadataRequestTopic(name="t")], allow_auto_topic_creation=False
            )
        )
        return {
            each.partition_index: (each.leader_id, each.replica_nodes, sorted(each.isr_nodes))
            for each in answer.topics[0].partitions
            if each.leader_id > 0
        }

    async def until(self, condition: Callable[[dict[int, Any]], bool]) -> None:
        # A real cluster has no event to wait for.
        seen: dict[int, Any] = {}
        try:
            async with asyncio.timeout(40):
                while not condition(seen := await self.partitions()):
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"after {self.told} the partitions stay {seen}") from None

    async def elect(self, election_type: int, *partitions: int, name: str = "t") -> None:
        asked = [TopicPartitions(topic=name, partitions=list(partitions))]
        answer = await self.client.ask(
            ElectLeadersRequest(
                election_type=election_type, topic_partitions=asked if partitions else None
            )
        )
        self.told.append(
            (
                answer.error_code,
                [
                    (each.partition_id, each.error_code, each.error_message is None)
                    for topic in answer.replica_election_results
                    if topic.topic in ("t", name)
                    for each in topic.partition_result
                ],
            )
        )

    async def reassign(self, targets: dict[int, list[int] | None], name: str = "t") -> None:
        asked = [
            ReassignablePartition(partition_index=index, replicas=replicas)
            for index, replicas in targets.items()
        ]
        answer = await self.client.ask(
            AlterPartitionReassignmentsRequest(
                topics=[ReassignableTopic(name=name, partitions=asked)]
            )
        )
        self.told.append(
            (
                answer.error_code,
                answer.error_message,
                [
                    (each.partition_index, each.error_code, each.error_message is None)
                    for topic in answer.responses
                    for each in topic.partitions
                ],
            )
        )

    async def reassignments(self, *partitions: int) -> None:
        asked = [
            ListPartitionReassignmentsTopics(name="t", partition_indexes=list(partitions)),
            ListPartitionReassignmentsTopics(name="absent", partition_indexes=[0]),
        ]
        answer = await self.client.ask(
            ListPartitionReassignmentsRequest(topics=asked if partitions else None)
        )
        self.told.append((answer.error_code, answer.error_message, answer.topics))

    async def move(self, path: str, *partitions: int, name: str = "t") -> None:
        topic = AlterReplicaLogDirTopic(name=name, partitions=list(partitions))
        answer = await self.client.ask(
            AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[topic])])
        )
        self.told.append(
            sorted(
                (each.partition_index, each.error_code)
                for topic in answer.results
                for each in topic.partitions
            )
        )

    async def log_dirs(self) -> str:
        """Note what node 1 has of the topic, and return the path of its directory."""
        asked = [DescribableLogDirTopic(topic="t", partitions=[0, 2, 7])]
        replicas: list[Any] = []
        async with asyncio.timeout(40):
            while len(replicas) < 2:  # a real broker makes a log some time after the topic
                answer = await self.client.ask(DescribeLogDirsRequest(topics=asked))
                (directory,) = answer.results
                found = [each for topic in directory.topics for each in topic.partitions]
                replicas = sorted(
                    (each.partition_index, each.partition_size, each.offset_lag)
                    for each in found
                    if not each.is_future_key
                )
        has_room = 0 < directory.usable_bytes <= directory.total_bytes
        self.told.append((answer.error_code, directory.error_code, replicas, has_room))
        return directory.log_dir


async def assignments(peer: Peer) -> None:
    """Ask for replicas that a client has chosen, mostly badly."""
    await peer.refused((0, [1, 2]), (1, [3]))
    await peer.refused((0, [1, 2]), (1, [3, 1]), (2, [2, 3, 1]))
    await peer.refused((0, [3, 9]))
    await peer.refused((0, [3, 1, 3]))
    await peer.refused((0, []))
    await peer.refused((0, [1]), (2, [1]))
    await peer.refused((0, [1]), (0, [2]))
    await peer.refused((0, [1]), partitions=1)
    await peer.refused((0, [1]), factor=1)
    await peer.extended(4)
    await peer.extended(3)
    await peer.extended(6, [1, 2])
    await peer.extended(5, [1])
    await peer.extended(5, [1, 2, 3])
    await peer.extended(6, [3, 2], [1])
    await peer.extended(5, [1, 9])
    await peer.extended(5, [3, 2])


async def answers(peer: Peer) -> list[Any]:
    await peer.create()
    await assignments(peer)
    path = await peer.log_dirs()
    await peer.move(path, 0, 1, 7)
    await peer.move("/absent", 0)
    await peer.move(path, 0, name="absent")
    await peer.elect(0, 0, 9)
    await peer.elect(0, 0, name="absent")
    await peer.elect(1, 0)
    await peer.elect(5, 0)
    await peer.reassign({0: [], 1: [1, 1], 2: [9], 3: None, 7: [1]})
    await peer.reassign({0: [1]}, name="absent")
    await peer.reassign({0: [2, 1]})
    await peer.until(lambda parts: parts[0] == (1, [2, 1], [1, 2]))
    await peer.elect(0, 0)
    await peer.until(lambda parts: parts[0][0] == 2)
    await peer.reassign({3: [1]})
    await peer.until(lambda parts: parts[3] == (1, [1], [1]))
    await peer.reassign({3: [2]})
    await peer.until(lambda parts: parts[3] == (2, [2], [2]))
    await peer.reassignments()
    # A node that is down: its new replicas stay behind, and what it preferred to lead is led.
    await asyncio.to_thread(peer.stop, 3)
    await peer.until(lambda parts: parts[2] == (1, [3, 1], [1]))
    await peer.elect(0, 2)
    await peer.reassign({0: [2, 3], 3: [3]})
    await peer.until(lambda parts: parts[0][1] == [2, 3, 1])
    await peer.reassignments()
    await peer.reassignments(0, 1, 7)
    await peer.reassign({0: [3, 2]})
    await peer.reassignments(0)
    await peer.reassign({0: None, 1: None})
    await peer.until(lambda parts: parts[0] == (2, [2, 1], [1, 2]))
    await asyncio.to_thread(peer.start, 3)
    await peer.until(lambda parts: parts[3] == (3, [3], [3]) and parts[2][2] == [1, 3])
    await peer.reassignments()
    return peer.told


async def answers_here() -> list[Any]:
    async with EmbeddedBroker(nodes=3) as broker:
        loop = asyncio.get_running_loop()

        def switched(method: Switch) -> Switch:
            async def run(node_id: int) -> None:
                method(node_id)

            return lambda node_id: asyncio.run_coroutine_threadsafe(run(node_id), loop).result(30)

        servers = broker.bootstrap_servers.split(",")[0]
        async with await WireClient.connect(servers) as client:
            return await answers(
                Peer(client, switched(broker.stop_node), switched(broker.start_node))
            )


async def answers_of(kafka: ApacheKafka) -> list[Any]:
    def start(node_id: int) -> None:
        node = kafka.nodes[node_id - 1]
        node.spawn()
        node.wait_ready(3)

    servers = kafka.bootstrap_servers.split(",")[0]
    async with await WireClient.connect(servers) as client:
        return await answers(Peer(client, lambda node_id: kafka.nodes[node_id - 1].stop(), start))


@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_what_a_cluster_answers() -> None:
    told = await answers_here()
    code, text = told[0]
    assert code == 39
    assert text.endswith("not consistent with previous partitions, which have 2 replica(s).")
    assert (0, 0, [(0, 0, 0), (2, 0, 0)], True) in told


@pytest.mark.real_kafka
def test_a_real_cluster_answers_the_same() -> None:
    require_kafka(VERSION_BETWEEN)
    here = asyncio.run(answers_here())
    with ApacheKafka(VERSION_BETWEEN, nodes=3) as kafka:
        there = asyncio.run(answers_of(kafka))
    assert here == there
