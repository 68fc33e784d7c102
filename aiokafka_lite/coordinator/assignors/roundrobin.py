"""The round-robin assignor, at its address in aiokafka."""

from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor

__all__ = ["RoundRobinPartitionAssignor"]
