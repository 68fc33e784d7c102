"""A small Kafka cluster inside the process: `async with EmbeddedBroker() as broker`."""

from aiokafka_lite.testing.broker.embedded_broker import EmbeddedBroker
from aiokafka_lite.testing.broker.embedded_broker_options import EmbeddedBrokerOptions
from aiokafka_lite.testing.broker.faults import Faults
from aiokafka_lite.testing.broker.request_log import ReceivedRequest

__all__ = ["EmbeddedBroker", "EmbeddedBrokerOptions", "Faults", "ReceivedRequest"]
