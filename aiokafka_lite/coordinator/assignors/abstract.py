"""The base class of assignors, at its address in aiokafka."""

from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor

__all__ = ["AbstractPartitionAssignor"]
