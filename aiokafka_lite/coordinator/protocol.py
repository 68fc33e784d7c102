"""The subscriptions and assignments that assignors read and write, at aiokafka's address."""

from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

__all__ = ["ConsumerProtocol", "ConsumerProtocolMemberAssignment", "ConsumerProtocolMemberMetadata"]
