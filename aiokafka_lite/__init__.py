"""The public module of aiokafka_lite: offers every name that users import.

A name is imported from its own module at its first use (PEP 562). So the pytest plugin and the
command line start quickly.

The clients, too, import some modules only at their first use. These are the parts of a group, the
codecs, and the messages that only brokers read: a sixth of the import of the clients. The rest
costs 404 million instructions more than `import asyncio` (259 million, interpreter included). A
quarter of that is `dataclasses`, which generates methods; the rest are 170 modules and their
classes.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from aiokafka_lite.version import __version__

if TYPE_CHECKING:
    from aiokafka_lite.consumer.assignors.assignor import (
        AbstractPartitionAssignor,
        RebalanceProtocol,
    )
    from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
    from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
    from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
    from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
    from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
    from aiokafka_lite.consumer.consumer_options import ConsumerOptions
    from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
    from aiokafka_lite.errors import ConsumerStoppedError, IllegalOperation
    from aiokafka_lite.exactly_once import ExactlyOnceSession
    from aiokafka_lite.model import (
        ConsumerGroupMetadata,
        ConsumerRecord,
        OffsetAndMetadata,
        OffsetAndTimestamp,
        RecordMetadata,
        TopicPartition,
    )
    from aiokafka_lite.producer.append.producer_interceptors import ProducerRecord
    from aiokafka_lite.producer.key_hash.murmur2 import murmur2
    from aiokafka_lite.producer.partition.partitioner import (
        DefaultPartitioner,
        RoundRobinPartitioner,
    )
    from aiokafka_lite.producer.producer import AIOKafkaProducer
    from aiokafka_lite.producer.producer_options import ProducerOptions
    from aiokafka_lite.protocol.consumer_protocol import (
        ConsumerProtocol,
        ConsumerProtocolMemberAssignment,
        ConsumerProtocolMemberMetadata,
    )

__all__ = [
    "AIOKafkaConsumer",
    "AIOKafkaProducer",
    "AbstractPartitionAssignor",
    "ConsumerGroupMetadata",
    "ConsumerOptions",
    "ConsumerProtocol",
    "ConsumerProtocolMemberAssignment",
    "ConsumerProtocolMemberMetadata",
    "ConsumerRebalanceListener",
    "ConsumerRecord",
    "ConsumerStoppedError",
    "CooperativeStickyAssignor",
    "DefaultPartitioner",
    "ExactlyOnceSession",
    "IllegalOperation",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "ProducerOptions",
    "ProducerRecord",
    "RangePartitionAssignor",
    "RebalanceProtocol",
    "RecordMetadata",
    "RoundRobinPartitionAssignor",
    "RoundRobinPartitioner",
    "StickyPartitionAssignor",
    "TopicPartition",
    "__version__",
    "murmur2",
]

_HOMES = {
    "AIOKafkaConsumer": "consumer.consumer",
    "AIOKafkaProducer": "producer.producer",
    "AbstractPartitionAssignor": "consumer.assignors.assignor",
    "ConsumerGroupMetadata": "model",
    "ConsumerOptions": "consumer.consumer_options",
    "ConsumerProtocol": "protocol.consumer_protocol",
    "ConsumerProtocolMemberAssignment": "protocol.consumer_protocol",
    "ConsumerProtocolMemberMetadata": "protocol.consumer_protocol",
    "ConsumerRebalanceListener": "consumer.group.rebalance_listener",
    "ConsumerRecord": "model",
    "ConsumerStoppedError": "errors",
    "CooperativeStickyAssignor": "consumer.assignors.cooperative_sticky",
    "DefaultPartitioner": "producer.partition.partitioner",
    "ExactlyOnceSession": "exactly_once",
    "IllegalOperation": "errors",
    "OffsetAndMetadata": "model",
    "OffsetAndTimestamp": "model",
    "ProducerOptions": "producer.producer_options",
    "ProducerRecord": "producer.append.producer_interceptors",
    "RangePartitionAssignor": "consumer.assignors.range",
    "RebalanceProtocol": "consumer.assignors.assignor",
    "RecordMetadata": "model",
    "RoundRobinPartitionAssignor": "consumer.assignors.round_robin",
    "RoundRobinPartitioner": "producer.partition.partitioner",
    "StickyPartitionAssignor": "consumer.assignors.sticky",
    "TopicPartition": "model",
    "murmur2": "producer.key_hash.murmur2",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
