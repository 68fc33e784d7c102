"""Reading from Kafka; each module says what it owns.

`from aiokafka_lite.consumer import AIOKafkaConsumer` is aiokafka's address. The name is
imported at its first use (PEP 562). The modules of a group come with it, so that no `start()`
has to load them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiokafka_lite.consumer.consumer import AIOKafkaConsumer

__all__ = ["AIOKafkaConsumer"]


def __getattr__(name: str) -> object:
    if name != "AIOKafkaConsumer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aiokafka_lite.consumer.consumer import AIOKafkaConsumer  # noqa: PLC0415 - at its first use

    import_module(f"{__name__}.group.consumer_group")
    return AIOKafkaConsumer
