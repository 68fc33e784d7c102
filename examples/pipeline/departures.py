"""The flights in the order of a year, and their daily departures, computed in plain Python.

Uses neither Kafka nor Spark, so that it can check their result.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from aiokafka_lite.cli import flights_dataset

DAY_BEGINS = timedelta(hours=5)
"""After midnight in UTC: midnight in New York's winter."""


@dataclass(frozen=True, slots=True)
class Flight:
    """One flight, and its record's key and value.

    `hour` is that of its scheduled departure, as 2013-02-09T03:00:00Z. `delay_min` None means that
    it was cancelled.
    """

    hour: str
    origin: str
    carrier: str
    delay_min: int | None
    key: bytes
    value: bytes


@dataclass(frozen=True, slots=True, order=True)
class Route:
    """The group of a count: the departures of a day, an airport, an airline."""

    day: str
    origin: str
    carrier: str


@dataclass(frozen=True, slots=True)
class Departures:
    """`mean_delay_min` is the mean of the flights that left, in minutes; None if none did."""

    flights: int
    cancelled: int
    mean_delay_min: float | None


def flights_in_order(limit: int | None = None) -> list[Flight]:
    """Return the flights of 2013 by scheduled hour; with a limit only the first ones of the file.

    Raises: DatasetError, naming the command that installs them, if they are missing.
    """
    records = flights_dataset.flights("flight").records(limit)
    return sorted((_flight(*each) for each in records), key=lambda flight: flight.hour)


@cache
def day_of(time_hour: str) -> str:
    """Return the day, as 2013-02-08, of an hour such as 2013-02-09T03:00:00Z."""
    return (datetime.fromisoformat(time_hour) - DAY_BEGINS).date().isoformat()


def closing_time(flights: Iterable[Flight], delay: timedelta) -> datetime:
    """Return a time that ends every day of the flights for a watermark of `delay`."""
    last = datetime.fromisoformat(day_of(max(flight.hour for flight in flights)))
    return last.replace(tzinfo=UTC) + timedelta(days=1) + DAY_BEGINS + delay


def counted(flights: Iterable[Flight]) -> dict[Route, Departures]:
    """Return the expected result of the pipeline for these flights."""
    delays: dict[Route, list[int | None]] = {}
    for flight in flights:
        route = Route(day_of(flight.hour), flight.origin, flight.carrier)
        delays.setdefault(route, []).append(flight.delay_min)
    return {route: _departures(each) for route, each in delays.items()}


def read_back(value: bytes) -> tuple[Route, Departures]:
    """Return the route and its departures from a record of the pipeline's result."""
    told: dict[str, Any] = json.loads(value)
    route = Route(told["day"], told["origin"], told["carrier"])
    # Spark leaves out nulls.
    return route, Departures(told["flights"], told["cancelled"], told.get("mean_delay_min"))


def differences(expected: dict[Route, Departures], received: dict[Route, Departures]) -> list[str]:
    """Return one sentence for each route that is missing, unexpected, or different."""
    found = []
    for route in sorted(expected.keys() | received.keys()):
        ours, theirs = expected.get(route), received.get(route)
        if ours != theirs:
            found.append(f"{route}: the file has {ours}, the pipeline says {theirs}")
    return found


def _flight(key: bytes, value: bytes) -> Flight:
    row = json.loads(value)
    delay = row["dep_delay"]
    delay_min = None if delay == "NA" else int(delay)
    return Flight(row["time_hour"], row["origin"], row["carrier"], delay_min, key, value)


def _departures(delays: list[int | None]) -> Departures:
    left = [delay for delay in delays if delay is not None]
    mean = sum(left) / len(left) if left else None
    return Departures(len(delays), len(delays) - len(left), mean)
