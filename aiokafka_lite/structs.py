"""The values of the public API, at the address where aiokafka's users import them.

A program moves by changing `aiokafka` to `aiokafka_lite` in its imports. So each documented module
of aiokafka is a module at the same path here: `abc`, `admin`, `client`, `cluster`, `consumer`,
`coordinator`, `errors`, `helpers`, `partitioner`, `producer`, `util` and this one. They are files,
and no finder makes them at import, because type checkers and editors read files.
"""

from aiokafka_lite.cluster.cluster_metadata import BrokerMetadata, PartitionMetadata
from aiokafka_lite.model import (
    KT,
    VT,
    ConsumerRecord,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    RecordMetadata,
    TopicPartition,
)

__all__ = [
    "KT",
    "VT",
    "BrokerMetadata",
    "ConsumerRecord",
    "OffsetAndMetadata",
    "OffsetAndTimestamp",
    "PartitionMetadata",
    "RecordMetadata",
    "TopicPartition",
]
