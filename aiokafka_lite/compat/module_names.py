"""Which modules `install()` shows below the name `aiokafka`, and the modules that stand for them.

Programs of one's own change their imports instead: `structs.py` says how. So this list also has
addresses that aiokafka does not document, where libraries such as FastStream read them. Does not
wait.
"""

from collections.abc import Mapping
from typing import Final

API_VERSION: Final = "0.14.0"
"""The release of aiokafka whose names these are."""

STANDS_FOR: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("",),
    "abc": ("abc",),
    "admin": ("admin",),
    "admin.client": ("admin.admin_client",),
    "admin.config_resource": ("admin.config_resource",),
    "admin.new_partitions": ("admin.topics.new_partitions",),
    "admin.new_topic": ("admin.topics.new_topic",),
    "admin.records_to_delete": ("admin.topics.records_to_delete",),
    "client": ("client",),
    "cluster": ("cluster",),
    "consumer": ("consumer",),
    "consumer.consumer": ("consumer.consumer",),
    "coordinator": ("coordinator",),
    "coordinator.assignors": ("coordinator.assignors",),
    "coordinator.assignors.abstract": ("coordinator.assignors.abstract",),
    "coordinator.assignors.range": ("coordinator.assignors.range",),
    "coordinator.assignors.roundrobin": ("coordinator.assignors.roundrobin",),
    "coordinator.assignors.sticky": ("coordinator.assignors.sticky",),
    "coordinator.assignors.sticky.sticky_assignor": (
        "coordinator.assignors.sticky.sticky_assignor",
    ),
    "coordinator.protocol": ("coordinator.protocol",),
    "errors": ("errors",),
    "helpers": ("helpers",),
    "partitioner": ("partitioner",),
    "producer": ("producer",),
    "producer.message_accumulator": ("producer.append.manual_batch",),
    "producer.producer": ("producer.producer", "compat.inner_names"),
    "structs": ("structs",),
    "util": ("compat.inner_names",),
}
"""Module below `aiokafka` -> the modules below this package that are searched for its names."""

__all__ = ["API_VERSION", "STANDS_FOR"]
