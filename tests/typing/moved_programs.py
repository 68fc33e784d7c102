"""A program that was moved from aiokafka by its imports: type checkers know each of them."""

from aiokafka_lite import AIOKafkaClient
from aiokafka_lite.abc import ConsumerRebalanceListener
from aiokafka_lite.client import ConnectionGroup
from aiokafka_lite.cluster import ClusterMetadata
from aiokafka_lite.compat import install
from aiokafka_lite.consumer import AIOKafkaConsumer
from aiokafka_lite.coordinator.assignors.abstract import AbstractPartitionAssignor
from aiokafka_lite.coordinator.assignors.range import RangePartitionAssignor
from aiokafka_lite.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka_lite.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka_lite.coordinator.protocol import ConsumerProtocolMemberMetadata
from aiokafka_lite.helpers import create_ssl_context
from aiokafka_lite.partitioner import DefaultPartitioner, murmur2
from aiokafka_lite.producer import AIOKafkaProducer
from aiokafka_lite.structs import BrokerMetadata, ConsumerRecord, TopicPartition

STRATEGY: list[type[AbstractPartitionAssignor]] = [
    RangePartitionAssignor,
    RoundRobinPartitionAssignor,
    StickyPartitionAssignor,
]
SUBSCRIPTION = ConsumerProtocolMemberMetadata(0, ["orders"], None)
HASH: int = murmur2(b"key")


class Listener(ConsumerRebalanceListener):
    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None: ...

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None: ...


async def moved() -> set[BrokerMetadata]:
    install()
    client = AIOKafkaClient(bootstrap_servers="localhost:9092", request_timeout_ms=1000)
    await client.bootstrap()
    updated: bool = await client.force_metadata_update()
    cluster: ClusterMetadata = await client.fetch_all_metadata()
    leader: int | None = cluster.leader_for_partition(TopicPartition("orders", 0))
    if updated and leader is not None:
        ready: bool = await client.ready(leader, group=ConnectionGroup.COORDINATION)
        assert ready
    context = create_ssl_context(cafile="ca.pem")
    producer = AIOKafkaProducer(
        ssl_context=context, security_protocol="SSL", partitioner=DefaultPartitioner()
    )
    batch = producer.create_batch()
    await producer.send_batch(batch, "orders", partition=None)
    consumer = AIOKafkaConsumer("orders", partition_assignment_strategy=STRATEGY)
    record: ConsumerRecord[bytes, bytes] = await consumer.getone()
    assert record.offset >= 0
    return producer.client.cluster.brokers() | consumer.client.cluster.brokers()
