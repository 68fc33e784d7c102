"""aiokafka's partitioner and its hash of keys, at the address where its users import them."""

from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.producer.partition.partitioner import DefaultPartitioner

__all__ = ["DefaultPartitioner", "murmur2"]
