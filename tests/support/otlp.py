"""Reads a MetricsData message of OpenTelemetry's protocol, field by field."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Point:
    """One data point."""

    value: float
    at_s: float
    labels: dict[str, str]
    kind: str
    """gauge, delta or cumulative"""
    since_s: float | None = None


@dataclass
class Pushed:
    """The content of a push."""

    resource: dict[str, str] = field(default_factory=dict)
    scope: tuple[str, str] = ("", "")
    points: dict[str, list[Point]] = field(default_factory=dict)

    def value(self, name: str, **labels: str) -> float:
        """The value of the only point of that name with these labels."""
        (found,) = [each for each in self.points[name] if each.labels == labels]
        return found.value


def read_metrics(message: bytes, *, is_javas: bool = False) -> Pushed:
    """Return what the message says. Java's client has each point in a message of its own."""
    pushed = Pushed()
    for resource_metrics in _all(message, 1):
        (resource,) = _all(resource_metrics, 1)
        pushed.resource.update(_labels(_all(resource, 1)))
        for scope_metrics in _all(resource_metrics, 2):
            for scope in _all(scope_metrics, 1):
                pushed.scope = (_one(scope, 1).decode(), _one(scope, 2).decode())
            for metric in _all(scope_metrics, 2):
                name, points = _metric(metric)
                assert is_javas or name not in pushed.points, f"{name} stands there twice"
                pushed.points.setdefault(name, []).extend(points)
    return pushed


def _metric(metric: bytes) -> tuple[str, list[Point]]:
    name = _one(metric, 1).decode()
    for gauge in _all(metric, 5):
        return name, [_point(each, "gauge") for each in _all(gauge, 1)]
    total = _one(metric, 7)
    assert _all(total, 3) == [1], "a sum that only grows"
    kind = {1: "delta", 2: "cumulative"}[_one(total, 2)]
    return name, [_point(each, kind) for each in _all(total, 1)]


def _point(point: bytes, kind: str) -> Point:
    (value,) = (
        struct.unpack(form, each)[0]
        for form, number in (("<d", 4), ("<q", 6))
        for each in _all(point, number)
    )
    at_s = _seconds(_one(point, 3))
    since = [_seconds(each) for each in _all(point, 2)]
    return Point(value, at_s, _labels(_all(point, 7)), kind, since[0] if since else None)


def _seconds(time: bytes) -> float:
    return round(int.from_bytes(time, "little") / 1e9, 6)


def _labels(pairs: list[Any]) -> dict[str, str]:
    return {_one(pair, 1).decode(): _one(_one(pair, 2), 1).decode() for pair in pairs}


def _one(message: bytes, number: int) -> Any:
    (value,) = _all(message, number)
    return value


def _all(message: bytes, number: int) -> list[Any]:
    return [value for found, value in _fields(message) if found == number]


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == 0:
            value, place = _varint(message, place)
            yield number, value
        else:
            size, place = (8, place) if wire_type == 1 else _varint(message, place)
            assert place + size <= len(message), "the message is cut off"
            yield number, message[place : place + size]
            place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place
