"""The producer.

`from aiokafka_lite.producer import AIOKafkaProducer` is aiokafka's address. The name is
imported at its first use (PEP 562).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiokafka_lite.producer.producer import AIOKafkaProducer

__all__ = ["AIOKafkaProducer"]


def __getattr__(name: str) -> object:
    if name != "AIOKafkaProducer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aiokafka_lite.producer.producer import AIOKafkaProducer  # noqa: PLC0415 - at its first use

    return AIOKafkaProducer
