"""One setting: its type, its default, and the values that Kafka refuses, with Kafka's texts.

Does not wait. Source: ConfigDef.parseType, ConfigDef.Validator.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NoReturn, TypeAlias

from aiokafka_lite.errors import InvalidConfigurationError


class SettingType(IntEnum):
    """The type of a setting, by Kafka's number."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    LONG = 5
    DOUBLE = 6
    LIST = 7
    PASSWORD = 9


class SettingSource(IntEnum):
    """Where a value comes from, by Kafka's number."""

    TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


Check: TypeAlias = Callable[[str, Any], None]
"""Takes the name and the parsed value, and raises InvalidConfigurationError if it is bad."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as Kafka declares it."""

    name: str
    type: SettingType
    default: str | None
    check: Check | None
    documentation: str
    synonym: str | None = None
    """The broker's setting that gives the value if this one is not set."""
    is_internal: bool = False
    """Whether it is described only where it was altered."""

    def parse(self, text: str) -> Any:
        """Return the value. Raises: InvalidConfigurationError in Kafka's words."""
        value = self._read(text)
        if self.check is not None:
            self.check(self.name, value)
        return value

    def _read(self, text: str) -> Any:
        return _PARSERS[self.type](self.name, text.strip())

    def shown(self, text: str | None) -> str | None:
        """Return a stored value as Kafka shows it: without spaces, a truth in small letters.

        It is not checked again, for a synonym may take values that this setting does not.
        """
        if text is None or self.type is SettingType.STRING:
            return text if text is None else text.strip()
        value = self._read(text)
        if self.type is SettingType.LIST:
            return ",".join(value)
        return str(value).lower() if self.type is SettingType.BOOLEAN else str(value)


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A place that gives a value to a setting."""

    name: str
    value: str | None
    source: SettingSource


@dataclass(frozen=True, slots=True)
class DescribedSetting:
    """A setting with its present value, and the places where it was looked for."""

    name: str
    value: str | None
    source: SettingSource
    type: SettingType
    documentation: str | None
    places: tuple[ValuePlace, ...] = ()
    is_read_only: bool = False
    is_sensitive: bool = False


def described(setting: Setting, places: list[ValuePlace]) -> DescribedSetting:
    """Return a setting whose value is that of the first place, unless this is a default.

    A place may have another unit, such as log.retention.hours; the setting's own default has not.
    """
    shown = tuple(ValuePlace(each.name, setting.shown(each.value), each.source) for each in places)
    is_set = bool(shown) and shown[0].source is not SettingSource.DEFAULT_CONFIG
    first = shown[0] if is_set else None
    return DescribedSetting(
        setting.name,
        setting.shown(setting.default) if first is None else first.value,
        SettingSource.DEFAULT_CONFIG if first is None else first.source,
        setting.type,
        setting.documentation,
        shown,
    )


def by_name(*settings: Setting) -> Mapping[str, Setting]:
    """Return settings by their names."""
    return {each.name: each for each in settings}


def refuse(name: str, value: object, why: str) -> NoReturn:
    """Raise InvalidConfigurationError in Kafka's words."""
    raise InvalidConfigurationError(f"Invalid value {value} for configuration {name}: {why}")


# Checks…


def at_least(lowest: float) -> Check:
    """Return the check for a lowest value."""

    def check(name: str, value: Any) -> None:
        if value < lowest:
            refuse(name, value, f"Value must be at least {lowest}")

    return check


def between(lowest: float, highest: float) -> Check:
    """Return the check for a range."""

    def check(name: str, value: Any) -> None:
        if value < lowest:
            refuse(name, value, f"Value must be at least {lowest}")
        if value > highest:
            refuse(name, value, f"Value must be no more than {highest}")

    return check


def between_or(lowest: int, highest: int, other: int) -> Check:
    """Return the check for a range and one value outside."""

    def check(name: str, value: Any) -> None:
        if not lowest <= value <= highest and value != other:
            why = f"Value must be between {lowest} and {highest} or equal to {other}"
            refuse(name, value, why)

    return check


def one_of(*words: str) -> Check:
    """Return the check for words; of a list, each element must be one of them."""

    def check(name: str, value: Any) -> None:
        for each in value if isinstance(value, list) else [value]:
            if each not in words:
                refuse(name, each, f"String must be one of: {', '.join(words)}")

    return check


# Parsers…


def _number(of: str, convert: Callable[[str], float], bound: int | None) -> Callable[..., Any]:
    def parse(name: str, text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            refuse(name, text, f"Not a number of type {of}")
        if value != value or (  # noqa: PLR0124 - what is not a number
            bound is not None and not -bound <= value < bound
        ):
            refuse(name, text, f"Not a number of type {of}")
        return value

    return parse


def _boolean(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        refuse(name, text, "Expected value to be either true or false")
    return text.lower() == "true"


def _list(name: str, text: str) -> list[str]:  # noqa: ARG001
    return [each.strip() for each in text.split(",")] if text else []


def _string(name: str, text: str) -> str:  # noqa: ARG001
    return text


_PARSERS: dict[SettingType, Callable[[str, str], Any]] = {
    SettingType.BOOLEAN: _boolean,
    SettingType.STRING: _string,
    SettingType.PASSWORD: _string,
    SettingType.INT: _number("INT", int, 2**31),
    SettingType.LONG: _number("LONG", int, 2**63),
    SettingType.DOUBLE: _number("DOUBLE", float, None),
    SettingType.LIST: _list,
}


def parse_all(settings: Mapping[str, Setting], given: Mapping[str, str], of: str) -> dict[str, Any]:
    """Return the values of settings by name; `of` is the kind of what has them, for the error.

    Raises: InvalidConfigurationError for an unknown name or a bad value.
    """
    unknown: Collection[str] = given.keys() - settings.keys()
    for name in given:
        if name in unknown:
            raise InvalidConfigurationError(f"Unknown {of} config name: {name}")
    return {name: settings[name].parse(text) for name, text in given.items()}


__all__ = [
    "Check",
    "DescribedSetting",
    "Setting",
    "SettingSource",
    "SettingType",
    "ValuePlace",
    "at_least",
    "between",
    "between_or",
    "by_name",
    "described",
    "one_of",
    "parse_all",
    "refuse",
]
