"""The sticky assignor, at its address in aiokafka."""

from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor

__all__ = ["StickyPartitionAssignor"]
