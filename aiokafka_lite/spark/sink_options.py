"""Owns the options of a write with `kafka-lite`, named as those of Spark's own Kafka connector.

Plain. The parsed options travel to executors, so they hold values only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiokafka_lite.spark.given_options import GivenOptions
from aiokafka_lite.spark.kafka_keys import SINK_KEYS, boolean
from aiokafka_lite.spark.source_options import SOURCE_OPTIONS

_SINK_OPTIONS: Final = ("topic", "includeHeaders", "delivery", *SOURCE_OPTIONS)
"""One set of options may serve both, so those of a source are no surprise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkOptions:
    """The options of a write."""

    client: dict[str, object]
    """Arguments of AIOKafkaProducer."""
    topic: str | None = None
    """Where all records go; None: where the column of that name says."""

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "SinkOptions":
        """Read the options. Raises KafkaConfigurationError with all faults, a ValueError."""
        reader = GivenOptions(options, "sink")
        client, faults = SINK_KEYS.arguments(reader.given)
        reader.faults += faults
        delivery = reader.text("delivery")
        if delivery == "transactional":
            reader.fault(
                "option delivery='transactional' is not there yet: transactions come with a later"
                " version; leave it out, and records come at least once"
            )
        elif delivery not in (None, "at-least-once"):
            reader.fault(f"option delivery={delivery!r} is not known; it is 'at-least-once'")
        reader.optional("includeHeaders", boolean, "true or false")
        topic = reader.text("topic")
        reader.check_client(_producer_config, client)
        reader.warn_of_unknown(_SINK_OPTIONS)
        reader.raise_faults()
        return cls(client=client, topic=topic)


def _producer_config(client: dict[str, Any]) -> object:
    # Executors have options, too, and never check them: they do without this import.
    from aiokafka_lite.producer.producer_config import ProducerConfig  # noqa: PLC0415 - see above

    return ProducerConfig(**client)


__all__ = ["SinkOptions"]
