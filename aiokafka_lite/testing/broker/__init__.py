"""A small Kafka cluster inside the process: `async with EmbeddedBroker() as broker`."""

from aiokafka_lite.testing.broker.embedded_broker import EmbeddedBroker
from aiokafka_lite.testing.broker.embedded_broker_options import EmbeddedBrokerOptions
from aiokafka_lite.testing.broker.faults import Faults
from aiokafka_lite.testing.broker.request_log import ReceivedRequest
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.broker_listener import BrokerListener
from aiokafka_lite.testing.broker.security.certificates import ClientCertificate
from aiokafka_lite.testing.broker.security.scram_server import BrokerToken
from aiokafka_lite.testing.broker.security.scram_server import BrokerToken as DelegationToken

__all__ = [
    "Acl",
    "BrokerListener",
    "BrokerToken",
    "ClientCertificate",
    "DelegationToken",
    "EmbeddedBroker",
    "EmbeddedBrokerOptions",
    "Faults",
    "ReceivedRequest",
]
