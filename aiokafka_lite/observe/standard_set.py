"""Owns the names, units, labels and buckets of the metrics that are exported. Does not wait.

The names follow Prometheus: the unit stands at the end, and a counter ends with `_total`. Exporters
and the table in docs/observability.md are made from these declarations.
"""

from dataclasses import dataclass
from typing import Final, Literal

MetricKind = Literal["counter", "gauge", "histogram"]

SECONDS: Final = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
)
BYTES: Final = tuple(float(4**power) for power in range(3, 14))  # 64 bytes to 64 MiB
RECORDS: Final = (1.0, 5.0, 25.0, 100.0, 500.0, 2500.0, 10_000.0, 50_000.0)
RATIO: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """One exported metric. Each has the label `client_id` besides its own."""

    name: str
    kind: MetricKind
    unit: str
    """s, By, {record}, … as OpenTelemetry writes units; "1" for a ratio."""
    text: str
    """What it tells, in one sentence."""
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """The upper bounds of a histogram, without the last one, which is infinite."""


def _counter(name: str, unit: str, text: str, *labels: str) -> Metric:
    return Metric(name, "counter", unit, text, labels)


def _gauge(name: str, unit: str, text: str, *labels: str) -> Metric:
    return Metric(name, "gauge", unit, text, labels)


def _histogram(name: str, unit: str, text: str, buckets: tuple[float, ...], *labels: str) -> Metric:
    return Metric(name, "histogram", unit, text, labels, buckets)


# Every client…

CONNECT: Final = _histogram(
    "kafka_client_connect_seconds",
    "s",
    "Time until a new connection takes requests: TCP, TLS, versions and authentication.",
    SECONDS,
    "node_id",
)
DISCONNECTS: Final = _counter(
    "kafka_client_disconnects_total",
    "{connection}",
    "Connections that were lost. Those that the client closes do not count.",
    "node_id",
)
REQUEST: Final = _histogram(
    "kafka_client_request_seconds",
    "s",
    "Time between a request and its response.",
    SECONDS,
    "node_id",
    "api",
)
RESPONSE_BYTES: Final = _counter(
    "kafka_client_response_bytes_total", "By", "Bytes of all responses.", "node_id", "api"
)
THROTTLE: Final = _counter(
    "kafka_client_throttle_seconds_total",
    "s",
    "Time for which brokers told the client to be silent.",
    "node_id",
)
ERRORS: Final = _counter(
    "kafka_client_errors_total",
    "{error}",
    "Failures by activity (connect, request, produce, fetch, commit, join) and class of error.",
    "activity",
    "error",
)
CONNECTIONS: Final = _gauge(
    "kafka_client_connections", "{connection}", "Connections that are open now."
)
IN_FLIGHT: Final = _gauge(
    "kafka_client_requests_in_flight", "{request}", "Requests that have no response yet."
)

# A producer…

SENT_RECORDS: Final = _counter(
    "kafka_producer_records_total", "{record}", "Records that were written.", "topic"
)
SENT_BYTES: Final = _counter(
    "kafka_producer_bytes_total",
    "By",
    "Bytes of the batches that were written, compressed and with their headers.",
    "topic",
)
BATCH_BYTES: Final = _histogram(
    "kafka_producer_batch_bytes", "By", "Size of a batch that was written.", BYTES, "topic"
)
BATCH_RECORDS: Final = _histogram(
    "kafka_producer_batch_records",
    "{record}",
    "Records of a batch that was written.",
    RECORDS,
    "topic",
)
COMPRESSION: Final = _histogram(
    "kafka_producer_compression_ratio",
    "1",
    "Size of a batch as it was sent, divided by its size before compression.",
    RATIO,
    "topic",
)
QUEUE: Final = _histogram(
    "kafka_producer_queue_seconds",
    "s",
    "Time between the first record of a batch and the request with it; for each attempt.",
    SECONDS,
    "topic",
)
DELIVERY: Final = _histogram(
    "kafka_producer_delivery_seconds",
    "s",
    "Time between the first record of a batch and its acknowledgement.",
    SECONDS,
    "topic",
)
RETRIED_RECORDS: Final = _counter(
    "kafka_producer_retried_records_total",
    "{record}",
    "Records of batches that were sent again.",
    "topic",
)
FAILED_RECORDS: Final = _counter(
    "kafka_producer_failed_records_total",
    "{record}",
    "Records of batches that were given up.",
    "topic",
)
BUFFER: Final = _gauge("kafka_producer_buffer_bytes", "By", "The limit buffer_memory.")
USED_BUFFER: Final = _gauge(
    "kafka_producer_buffer_used_bytes", "By", "Memory that batches without outcome take."
)
WAITING_CALLS: Final = _gauge(
    "kafka_producer_waiting_calls", "{call}", "Calls of send() that wait for memory."
)
UNACKNOWLEDGED: Final = _gauge(
    "kafka_producer_unacknowledged_batches", "{batch}", "Batches without an outcome."
)

# A consumer…

RETURNED_RECORDS: Final = _counter(
    "kafka_consumer_records_total", "{record}", "Records that polls returned.", "group", "topic"
)
FETCHED_BYTES: Final = _counter(
    "kafka_consumer_bytes_total",
    "By",
    "Bytes of the batches that were fetched.",
    "group",
    "node_id",
)
FETCH_BYTES: Final = _histogram(
    "kafka_consumer_fetch_bytes",
    "By",
    "Bytes of the batches in one Fetch response.",
    (0.0, *BYTES),
    "group",
)
LAG: Final = _gauge(
    "kafka_consumer_lag",
    "{record}",
    "How many offsets the end of the log is ahead of the position; negative: it is behind it.",
    *("group", "topic", "partition"),
)
LEAD: Final = _gauge(
    "kafka_consumer_lead",
    "{record}",
    "How many offsets the position is ahead of the start of the log.",
    *("group", "topic", "partition"),
)
ASSIGNED: Final = _gauge(
    "kafka_consumer_assigned_partitions", "{partition}", "Partitions that are assigned.", "group"
)
UNREAD: Final = _gauge(
    "kafka_consumer_buffered_bytes", "By", "Fetched bytes that no poll returned yet.", "group"
)
SINCE_POLL: Final = _gauge(
    "kafka_consumer_since_poll_seconds",
    "s",
    "Time since the last poll of a member that owns partitions.",
    "group",
)
REBALANCE: Final = _histogram(
    "kafka_consumer_rebalance_seconds",
    "s",
    "Time from the preparation of a rebalance until the assignment was taken over.",
    SECONDS,
    "group",
)
COMMIT: Final = _histogram(
    "kafka_consumer_commit_seconds",
    "s",
    "Time until the coordinator had stored offsets.",
    SECONDS,
    "group",
)

CLIENT_METRICS: Final = (
    *(CONNECT, DISCONNECTS, REQUEST, RESPONSE_BYTES, THROTTLE, ERRORS, CONNECTIONS, IN_FLIGHT),
)
PRODUCER_METRICS: Final = (
    *(SENT_RECORDS, SENT_BYTES, BATCH_BYTES, BATCH_RECORDS, COMPRESSION, QUEUE, DELIVERY),
    *(RETRIED_RECORDS, FAILED_RECORDS, BUFFER, USED_BUFFER, WAITING_CALLS, UNACKNOWLEDGED),
)
CONSUMER_METRICS: Final = (
    *(RETURNED_RECORDS, FETCHED_BYTES, FETCH_BYTES, LAG, LEAD, ASSIGNED, UNREAD, SINCE_POLL),
    *(REBALANCE, COMMIT),
)
STANDARD_SET: Final = (*CLIENT_METRICS, *PRODUCER_METRICS, *CONSUMER_METRICS)


__all__ = [
    "CLIENT_METRICS",
    "CONSUMER_METRICS",
    "PRODUCER_METRICS",
    "SENT_RECORDS",
    "STANDARD_SET",
    "Metric",
]
