"""Which modules `install()` shows below the name `aiokafka`, and the modules that stand for them.

Programs of one's own change their imports instead: `structs.py` says how. So this list also has
addresses that aiokafka does not document, where libraries such as FastStream read them. A module of
aiokafka shows the public names that it imports from others, and programs import them from there:
`from aiokafka.admin.client import NewTopic`. Does not wait.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Final

API_VERSION: Final = "0.14.0"
"""The release of aiokafka whose names these are."""

CLIENTS: Final[Mapping[str, str]] = {
    "AIOKafkaAdminClient": "compat.admin",
    "AIOKafkaClient": "compat.client",
    "AIOKafkaConsumer": "compat.consumer",
    "AIOKafkaProducer": "compat.producer",
}
"""Name of a client, in any module of aiokafka -> the module below this package that has it."""

_ASSIGNOR: Final = ("coordinator.assignors.abstract", "coordinator.protocol", "cluster", "structs")

_RECORDS: Final = ("compat.records", "compat.codecs", "compat.small_parts")

STANDS_FOR: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("",),
    "abc": ("abc", "structs"),
    "admin": ("admin",),
    "admin.client": ("admin", "abc", "client", "errors", "structs"),
    "admin.config_resource": ("admin.config_resource",),
    "admin.new_partitions": ("admin.topics.new_partitions",),
    "admin.new_topic": ("admin.topics.new_topic",),
    "admin.records_to_delete": ("admin.topics.records_to_delete",),
    "client": ("client", "abc", "cluster", "errors", "util"),
    "cluster": ("cluster", "structs"),
    "codec": ("compat.codecs",),
    "conn": ("compat.views", "abc", "util", "compat.small_parts"),
    "consumer": ("consumer",),
    "consumer.consumer": (
        "consumer",
        "abc",
        "client",
        "errors",
        "structs",
        "coordinator.assignors.roundrobin",
        "util",
    ),
    "consumer.fetcher": ("compat.views", "compat.records"),
    "consumer.group_coordinator": ("compat.views",),
    "consumer.subscription_state": (
        "compat.views",
        "consumer.position.subscription_state",
        "abc",
        "errors",
        "structs",
        "util",
    ),
    "coordinator": ("coordinator",),
    "coordinator.assignors": ("coordinator.assignors",),
    "coordinator.assignors.abstract": _ASSIGNOR,
    "coordinator.assignors.range": ("coordinator.assignors.range", *_ASSIGNOR),
    "coordinator.assignors.roundrobin": ("coordinator.assignors.roundrobin", *_ASSIGNOR),
    "coordinator.assignors.sticky": ("coordinator.assignors.sticky",),
    "coordinator.assignors.sticky.sticky_assignor": (
        "coordinator.assignors.sticky.sticky_assignor",
        *_ASSIGNOR,
    ),
    "coordinator.protocol": ("coordinator.protocol", "structs"),
    "errors": ("errors",),
    "helpers": ("helpers",),
    "partitioner": ("partitioner",),
    "producer": ("producer",),
    "producer.message_accumulator": (
        "compat.views",
        "producer.append.manual_batch",
        "errors",
        "structs",
        "util",
    ),
    "producer.producer": (
        "producer",
        "client",
        "errors",
        "partitioner",
        "structs",
        "util",
        "compat.defaults",
    ),
    "producer.sender": ("compat.views",),
    "producer.transaction_manager": ("compat.views",),
    "protocol.abstract": ("compat.wire",),
    "protocol.api": ("compat.wire",),
    "protocol.struct": ("compat.wire",),
    "protocol.types": ("compat.wire",),
    "record": ("compat.records",),
    "record._crc32c": ("compat.records",),
    "record._crecords": ("compat.records",),
    "record._crecords.cutil": ("compat.records",),
    "record._crecords.default_records": ("compat.records",),
    "record._crecords.memory_records": ("compat.records",),
    "record.control_record": ("compat.records",),
    "record.default_records": _RECORDS,
    "record.legacy_records": _RECORDS,
    "record.memory_records": _RECORDS,
    "record.util": _RECORDS,
    "structs": ("structs", "errors"),
    "util": ("util", "structs", "compat.small_parts"),
}
"""Module below `aiokafka` -> the modules below this package that are searched for its names. What
they do not have is in `inside_names`."""

_INSIDE: Final = ("aiokafka_lite.protocol", "aiokafka_lite.schema")
"""Where requests of this package have the names of aiokafka's."""


def offers(module: ModuleType, name: str) -> bool:
    """Return whether a module of this package has what aiokafka has under the name."""
    if name in getattr(module, "__all__", ()):
        return True
    home = getattr(vars(module).get(name), "__module__", None) or ""
    return name in vars(module) and not home.startswith(_INSIDE)


__all__ = ["API_VERSION", "CLIENTS", "STANDS_FOR", "offers"]
