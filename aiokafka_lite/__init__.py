"""The public module of aiokafka_lite: offers every name that users import.

A name is imported from its own module at its first use (PEP 562). So the pytest plugin and the
command line start quickly.

The clients, too, import some modules only at their first use. These are the parts of a group and
of transactions, the codecs, columns, errors of rare codes, and the messages that only brokers read.
The rest costs 279 million instructions more than `import asyncio` (261 million, interpreter
included). An empty module costs 0.3 million, and a class 0.1. A standard enumeration costs 0.4
million, a named tuple 0.6, and a standard dataclass a million and more. So the dataclasses and
named tuples of the clients are those of `light_dataclass` and `light_named_tuple`.
`tests/project/test_import_time.py` keeps it so.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from aiokafka_lite.version import __version__

if TYPE_CHECKING:
    from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
    from aiokafka_lite.admin.admin_options import AdminOptions
    from aiokafka_lite.client import AIOKafkaClient
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
        AcknowledgeType,
        ConsumerGroupMetadata,
        ConsumerRecord,
        OffsetAndMetadata,
        OffsetAndTimestamp,
        OffsetSpec,
        RecordMetadata,
        SubscriptionPattern,
        TopicPartition,
    )
    from aiokafka_lite.net.sasl.credentials import SaslCredentials
    from aiokafka_lite.net.sasl.mechanism import SaslExchange, SaslMechanism
    from aiokafka_lite.net.sasl.tokens.jwt_bearer import JwtBearerTokenProvider
    from aiokafka_lite.net.sasl.tokens.msk_iam import MskIamTokenProvider
    from aiokafka_lite.net.sasl.tokens.oidc import OidcTokenProvider
    from aiokafka_lite.net.sasl.tokens.signed_assertion import SignedAssertion
    from aiokafka_lite.net.sasl.tokens.token_file import FileTokenProvider
    from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider
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
    from aiokafka_lite.secret import Secret
    from aiokafka_lite.share.share_consumer import AIOKafkaShareConsumer
    from aiokafka_lite.share.share_options import ShareConsumerOptions
    from aiokafka_lite.workers.dead_letter_topic import DeadLetters
    from aiokafka_lite.workers.keyed_workers import KeyedWorkers
    from aiokafka_lite.workers.share.share_workers import ShareWorkers

__all__ = [
    "AIOKafkaAdminClient",
    "AIOKafkaClient",
    "AIOKafkaConsumer",
    "AIOKafkaProducer",
    "AIOKafkaShareConsumer",
    "AbstractPartitionAssignor",
    "AbstractTokenProvider",
    "AcknowledgeType",
    "AdminOptions",
    "ConsumerGroupMetadata",
    "ConsumerOptions",
    "ConsumerProtocol",
    "ConsumerProtocolMemberAssignment",
    "ConsumerProtocolMemberMetadata",
    "ConsumerRebalanceListener",
    "ConsumerRecord",
    "ConsumerStoppedError",
    "CooperativeStickyAssignor",
    "DeadLetters",
    "DefaultPartitioner",
    "ExactlyOnceSession",
    "FileTokenProvider",
    "IllegalOperation",
    "JwtBearerTokenProvider",
    "KeyedWorkers",
    "MskIamTokenProvider",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "OffsetSpec",
    "OidcTokenProvider",
    "ProducerOptions",
    "ProducerRecord",
    "RangePartitionAssignor",
    "RebalanceProtocol",
    "RecordMetadata",
    "RoundRobinPartitionAssignor",
    "RoundRobinPartitioner",
    "SaslCredentials",
    "SaslExchange",
    "SaslMechanism",
    "Secret",
    "ShareConsumerOptions",
    "ShareWorkers",
    "SignedAssertion",
    "StickyPartitionAssignor",
    "SubscriptionPattern",
    "TopicPartition",
    "__version__",
    "murmur2",
]

_HOMES = {
    "AIOKafkaAdminClient": "admin.admin_client",
    "AIOKafkaClient": "client",
    "AIOKafkaConsumer": "consumer",
    "AIOKafkaProducer": "producer.producer",
    "AIOKafkaShareConsumer": "share.share_consumer",
    "AcknowledgeType": "model",
    "AbstractTokenProvider": "net.sasl.tokens.token_provider",
    "AbstractPartitionAssignor": "consumer.assignors.assignor",
    "AdminOptions": "admin.admin_options",
    "ConsumerGroupMetadata": "model",
    "ConsumerOptions": "consumer.consumer_options",
    "ConsumerProtocol": "protocol.consumer_protocol",
    "ConsumerProtocolMemberAssignment": "protocol.consumer_protocol",
    "ConsumerProtocolMemberMetadata": "protocol.consumer_protocol",
    "ConsumerRebalanceListener": "consumer.group.rebalance_listener",
    "ConsumerRecord": "model",
    "ConsumerStoppedError": "errors",
    "CooperativeStickyAssignor": "consumer.assignors.cooperative_sticky",
    "DeadLetters": "workers.dead_letter_topic",
    "DefaultPartitioner": "producer.partition.partitioner",
    "ExactlyOnceSession": "exactly_once",
    "IllegalOperation": "errors",
    "KeyedWorkers": "workers.keyed_workers",
    "OffsetAndMetadata": "model",
    "OffsetAndTimestamp": "model",
    "OffsetSpec": "model",
    "SubscriptionPattern": "model",
    "ProducerOptions": "producer.producer_options",
    "ProducerRecord": "producer.append.producer_interceptors",
    "RangePartitionAssignor": "consumer.assignors.range",
    "RebalanceProtocol": "consumer.assignors.assignor",
    "RecordMetadata": "model",
    "RoundRobinPartitionAssignor": "consumer.assignors.round_robin",
    "RoundRobinPartitioner": "producer.partition.partitioner",
    "FileTokenProvider": "net.sasl.tokens.token_file",
    "JwtBearerTokenProvider": "net.sasl.tokens.jwt_bearer",
    "MskIamTokenProvider": "net.sasl.tokens.msk_iam",
    "OidcTokenProvider": "net.sasl.tokens.oidc",
    "SaslCredentials": "net.sasl.credentials",
    "SaslExchange": "net.sasl.mechanism",
    "SaslMechanism": "net.sasl.mechanism",
    "Secret": "secret",
    "ShareConsumerOptions": "share.share_options",
    "ShareWorkers": "workers.share.share_workers",
    "SignedAssertion": "net.sasl.tokens.signed_assertion",
    "StickyPartitionAssignor": "consumer.assignors.sticky",
    "TopicPartition": "model",
    "murmur2": "producer.key_hash.murmur2",
}

# Before anything else of the package is imported.
import_module("aiokafka_lite.native").import_sources_if_pure()


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
