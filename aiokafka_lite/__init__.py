"""The one public door of aiokafka_lite: every name users import, found in its own module at first
use.

Nothing is imported until it is asked for, so that the pytest plugin and the command line start
quickly.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from aiokafka_lite.version import __version__

if TYPE_CHECKING:
    from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
    from aiokafka_lite.errors import ConsumerStoppedError, IllegalOperation
    from aiokafka_lite.model import (
        ConsumerRecord,
        OffsetAndMetadata,
        OffsetAndTimestamp,
        RecordMetadata,
        TopicPartition,
    )
    from aiokafka_lite.producer.partitioner import (
        DefaultPartitioner,
        RoundRobinPartitioner,
        murmur2,
    )
    from aiokafka_lite.producer.producer import AIOKafkaProducer

__all__ = [
    "AIOKafkaConsumer",
    "AIOKafkaProducer",
    "ConsumerRecord",
    "ConsumerStoppedError",
    "DefaultPartitioner",
    "IllegalOperation",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "RecordMetadata",
    "RoundRobinPartitioner",
    "TopicPartition",
    "__version__",
    "murmur2",
]

_HOMES = {
    "AIOKafkaConsumer": "consumer.consumer",
    "AIOKafkaProducer": "producer.producer",
    "ConsumerRecord": "model",
    "ConsumerStoppedError": "errors",
    "DefaultPartitioner": "producer.partitioner",
    "IllegalOperation": "errors",
    "OffsetAndMetadata": "model",
    "OffsetAndTimestamp": "model",
    "RecordMetadata": "model",
    "RoundRobinPartitioner": "producer.partitioner",
    "TopicPartition": "model",
    "murmur2": "producer.partitioner",
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
