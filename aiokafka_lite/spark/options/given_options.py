"""Reads options of a source or a sink: in any case of letters, reporting all faults at once.

Asks nothing of a broker. Does not wait.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeVar

from aiokafka_lite.checks.value_checks import text_of_faults
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.options.kafka_keys import PREFIX, warn_once
from aiokafka_lite.spark.options.user_words import with_options

_T = TypeVar("_T")

_OF_SPARK: Final = ("path", "checkpointlocation", "queryname")
"""Spark passes its own options to the source together with the others."""

_LONG: Final = 2**63 - 1
_UNITS_MS: Final = {
    "us": 0.001,
    "ms": 1,
    "s": 1000,
    "m": 60_000,
    "min": 60_000,
    "h": 3_600_000,
    "d": 86_400_000,
}


class GivenOptions:
    """The given options, case-insensitive, and their faults."""

    def __init__(self, options: Mapping[str, str], what: str) -> None:
        self.given = {name.lower(): str(text) for name, text in options.items()}
        self.faults: list[str] = []
        self._what = what

    def __contains__(self, name: str) -> bool:
        return name.lower() in self.given

    def fault(self, text: str) -> None:
        self.faults.append(text)

    def text(self, name: str) -> str | None:
        found = self.given.get(name.lower())
        return None if found is None else found.strip()

    def optional(self, name: str, convert: Callable[[str], _T], kind: str) -> _T | None:
        """Return the option; None if it is absent, or wrong, which is noted as a fault."""
        text = self.text(name)
        if text is None:
            return None
        try:
            return convert(text)
        except ValueError:
            self.fault(f"option {name}={text!r} is not {kind}")
            return None

    def number(self, name: str, minimum: int, maximum: int = _LONG) -> int | None:
        value = self.optional(name, int, "a whole number")
        if value is not None and not minimum <= value <= maximum:
            bound = f"at least {minimum}" if value < minimum else f"at most {maximum}"
            self.fault(f"option {name}={value} must be {bound}")
            return None
        return value

    def check_client(
        self, config: Callable[[dict[str, Any]], object], client: dict[str, Any]
    ) -> None:
        """Note the faults that the client itself finds, unless its options are faulty already."""
        if self.faults:
            return
        try:
            config(client)
        except KafkaConfigurationError as error:
            self.fault(f"the options {PREFIX}* do not work: {with_options(str(error.args[0]))}")

    def warn_of_unknown(self, known: tuple[str, ...]) -> None:
        lower = {name.lower() for name in known} | set(_OF_SPARK)
        unknown = sorted(
            name for name in self.given if not name.startswith(PREFIX) and name not in lower
        )
        if unknown:
            warn_once(f"options not known to the {self._what}: {', '.join(unknown)}")

    def raise_faults(self) -> None:
        if self.faults:
            _refuse(text_of_faults(f"the Kafka {self._what}", self.faults))


def _refuse(text: str) -> NoReturn:
    raise KafkaConfigurationError(text)


def duration_ms(text: str) -> int:
    """Read a time in Spark's form: `15m`, `30s`, `500ms`, or a bare number of ms.

    Raises: ValueError.
    """
    found = re.fullmatch(r"(\d+)\s*([a-z]*)", text.strip().lower())
    if found is None or (found[2] and found[2] not in _UNITS_MS):
        raise ValueError(f"{text!r} is not a time")
    return int(int(found[1]) * _UNITS_MS[found[2] or "ms"])


_INTERVAL: Final = re.compile(r"(?:interval\s+)?(?:\+?\d+(?:\.\d+)?\s+[a-z]+(?:\s+|$))+")
_INTERVAL_UNITS: Final = frozenset(
    {
        *("microsecond", "millisecond", "second", "minute", "hour"),
        *("day", "week", "month", "year"),
    }
)


def interval_faults(name: str, text: str) -> Iterator[str]:
    """Yield a fault for an interval that Spark would not understand, such as `1 hou`.

    An SQL literal (`INTERVAL '1' HOUR`) is left to Spark.
    """
    lower = text.strip().lower()
    if "'" in lower:
        return
    words = re.findall(r"\d\s+([a-z]+)", lower)
    if _INTERVAL.fullmatch(lower) and {each.removesuffix("s") for each in words} <= _INTERVAL_UNITS:
        return
    yield f"{name}={text!r} is not an interval such as 10 minutes, or 1 hour 30 minutes"


__all__ = ["GivenOptions", "duration_ms", "interval_faults"]
