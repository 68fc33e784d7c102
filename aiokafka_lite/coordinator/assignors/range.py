"""The range assignor, at its address in aiokafka."""

from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor

__all__ = ["RangePartitionAssignor"]
