"""Owns the names and attributes of the semantic conventions of messaging, for metrics and spans.

What the conventions do not name keeps the name of the standard set, with dots:
`kafka.consumer.lag`. Does not wait. Source: OpenTelemetry semantic conventions, messaging metrics,
messaging spans, and Kafka.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aiokafka_lite.observe import standard_set
from aiokafka_lite.observe.standard_set import Metric

SCOPE: Final = "aiokafka_lite"
"""The name of the instrumentation, of meter and tracer."""
DURATIONS: Final = (
    *(0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0),
)
"""The buckets that the conventions ask for."""
OPERATION_DURATION: Final = "messaging.client.operation.duration"
OPERATION_TEXT: Final = (
    "Duration of messaging operation initiated by a producer or consumer client."
)
PROCESS_DURATION: Final = "messaging.process.duration"
PROCESS_TEXT: Final = "Duration of processing operation."
_ATTRIBUTES: Final = {
    "topic": "messaging.destination.name",
    "partition": "messaging.destination.partition.id",
    "group": "messaging.consumer.group.name",
    "error": "error.type",
    "node_id": "kafka.node.id",
    "api": "kafka.api",
    "activity": "kafka.activity",
}
"""The labels of the standard set in the words of the conventions."""
_NAMED: Final[Mapping[Metric, tuple[str, str, str]]] = {
    standard_set.SENT_RECORDS: ("messaging.client.sent.messages", "send", "send"),
    standard_set.RETURNED_RECORDS: ("messaging.client.consumed.messages", "poll", "receive"),
    standard_set.DELIVERY: (OPERATION_DURATION, "send", "send"),
    standard_set.COMMIT: (OPERATION_DURATION, "commit", "settle"),
}
"""Metrics that the conventions name: the name, the operation and its type."""

Attributes = dict[str, str]


def exported_name(metric: Metric) -> str:
    """Return the name of a metric in OpenTelemetry: "kafka.producer.batch_bytes"."""
    if metric in _NAMED:
        return _NAMED[metric][0]
    plain = metric.name.removesuffix("_total").removesuffix("_seconds")
    return ".".join(plain.split("_", 2))


def exported_unit(metric: Metric) -> str:
    """Return the unit of a metric in OpenTelemetry."""
    return "{message}" if exported_name(metric).endswith(".messages") else metric.unit


def exported_text(metric: Metric) -> str:
    """Return the description of a metric in OpenTelemetry."""
    return OPERATION_TEXT if exported_name(metric) == OPERATION_DURATION else metric.text


def exported_buckets(metric: Metric) -> Sequence[float]:
    """Return the bounds of a histogram in OpenTelemetry."""
    return DURATIONS if exported_name(metric) == OPERATION_DURATION else metric.buckets


def metric_attributes(metric: Metric, labels: Sequence[str], client_id: str) -> Attributes:
    """Return the attributes of a value. `labels` as in `Sink`; an empty label has no attribute."""
    found = {"messaging.client.id": client_id}
    if metric in _NAMED:
        found |= operation_attributes(*_NAMED[metric][1:])
    else:
        found["messaging.system"] = "kafka"
    for name, value in zip(metric.labels, labels, strict=True):
        if value:
            found[_ATTRIBUTES[name]] = value
    return found


def operation_attributes(name: str, kind: str) -> Attributes:
    """Return the attributes of an operation: its name, such as "poll", and its type."""
    return {
        "messaging.system": "kafka",
        "messaging.operation.name": name,
        "messaging.operation.type": kind,
    }


def record_attributes(topic: str, key: Any, value: Any) -> dict[str, str | bool]:
    """Return the attributes of one record. A key that is no text has no attribute."""
    found: dict[str, str | bool] = {"messaging.destination.name": topic}
    if isinstance(key, bytes | bytearray):
        try:
            key = key.decode()
        except UnicodeDecodeError:
            key = None
    if isinstance(key, str | int):
        found["messaging.kafka.message.key"] = str(key)
    if value is None:
        found["messaging.kafka.message.tombstone"] = True
    return found


__all__ = [
    "DURATIONS",
    "OPERATION_DURATION",
    "OPERATION_TEXT",
    "PROCESS_DURATION",
    "PROCESS_TEXT",
    "SCOPE",
    "Attributes",
    "exported_buckets",
    "exported_name",
    "exported_text",
    "exported_unit",
    "metric_attributes",
    "operation_attributes",
    "record_attributes",
]
