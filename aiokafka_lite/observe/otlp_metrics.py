"""Writes metrics as a MetricsData message of OpenTelemetry's protocol (OTLP), version 1.

It knows the few fields that are needed. Does not wait.
Source: opentelemetry/proto/metrics/v1/metrics.proto.
"""

import struct
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from aiokafka_lite.codec.writer import base128_bytes

_VARINT: Final = 0
_FIXED64: Final = 1
_BYTES: Final = 2
_DELTA: Final = 1
_CUMULATIVE: Final = 2
_TIME: Final = struct.Struct("<Q")
_DOUBLE: Final = struct.Struct("<d")


class MetricPoint(NamedTuple):
    """The value of one metric with its labels."""

    name: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()
    since_s: float | None = None
    """When a sum began to count, in seconds since 1970; None for a gauge."""


def encode_metrics(
    points: Iterable[MetricPoint],
    *,
    resource: Mapping[str, str],
    scope: tuple[str, str],
    now_s: float,
    is_delta: bool,
) -> bytes:
    """Return the message. `resource`: the labels of all points. `scope`: name and version of the
    library. `is_delta`: sums count from the push before, otherwise from the start.
    """
    at = _field(3, _FIXED64) + _TIME.pack(_nanoseconds(now_s))
    by_name: dict[str, list[MetricPoint]] = {}
    for point in points:
        by_name.setdefault(point.name, []).append(point)
    if not by_name:
        return b""
    metrics = b"".join(
        _message(2, _metric(name, same, at, is_delta=is_delta)) for name, same in by_name.items()
    )
    library = _text(1, scope[0]) + _text(2, scope[1])
    labels = b"".join(_message(1, _key_value(*label)) for label in resource.items())
    scoped = _message(1, library) + metrics
    return _message(1, _message(1, labels) + _message(2, scoped))


def _metric(name: str, points: list[MetricPoint], at: bytes, *, is_delta: bool) -> bytes:
    """Return a Metric: its name, and a Sum or a Gauge."""
    data = b"".join(_message(1, _number(point, at)) for point in points)
    if points[0].since_s is None:
        return _text(1, name) + _message(5, data)
    temporality = _field(2, _VARINT) + base128_bytes(_DELTA if is_delta else _CUMULATIVE)
    is_monotonic = _field(3, _VARINT) + b"\x01"
    return _text(1, name) + _message(7, data + temporality + is_monotonic)


def _number(point: MetricPoint, at: bytes) -> bytes:
    """Return a NumberDataPoint."""
    since = b""
    if point.since_s is not None:
        since = _field(2, _FIXED64) + _TIME.pack(_nanoseconds(point.since_s))
    value = _field(4, _FIXED64) + _DOUBLE.pack(point.value)
    labels = b"".join(_message(7, _key_value(*label)) for label in point.labels)
    return since + at + value + labels


def _key_value(key: str, value: str) -> bytes:
    return _text(1, key) + _message(2, _text(1, value))


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode())


def _message(number: int, content: bytes) -> bytes:
    return _field(number, _BYTES) + base128_bytes(len(content)) + content


def _field(number: int, wire_type: int) -> bytes:
    return bytes((number << 3 | wire_type,))


def _nanoseconds(time_s: float) -> int:
    return max(round(time_s * 1_000_000_000), 0)


__all__ = ["MetricPoint", "encode_metrics"]
