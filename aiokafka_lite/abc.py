"""The classes that users derive from, at the address where aiokafka's users import them."""

from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider

__all__ = ["AbstractTokenProvider", "ConsumerRebalanceListener"]
