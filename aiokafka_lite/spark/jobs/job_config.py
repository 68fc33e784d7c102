"""Turns a job's configuration, from TOML or a program, into a frozen dataclass.

A config class declares its keys as fields with types and defaults. This file checks values against
the types. It refuses unknown keys with the nearest known name, and reports all faults in one error.
Does not wait.
"""

import dataclasses
import json
import re
import tomllib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Self

from aiokafka_lite.checks.value_checks import text_of_faults
from aiokafka_lite.errors import KafkaConfigurationError

_TABLES: Final = ("kafka", "source", "sink", "spark")
_JSON_OPTIONS: Final = frozenset(
    {
        *("assign", "startingoffsets", "endingoffsets"),
        *("startingoffsetsbytimestamp", "endingoffsetsbytimestamp"),
    }
)
"""Options whose text is JSON. Given as TOML tables, they are converted to JSON."""


class JobConfigError(KafkaConfigurationError):
    """A job's configuration has faults; each is a sentence of `faults`."""

    def __init__(self, what: str, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__(text_of_faults(what, self.faults))


@dataclass(frozen=True, kw_only=True)
class JobConfig:
    """The keys of every job.

    A subclass adds fields and overrides `_faults`, starting with `yield from super()._faults()`.
    A field with `repr=False` may have secrets, so no error shows its value.

    Raises: JobConfigError, a KafkaConfigurationError and a ValueError, with every fault.
    """

    kafka: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options of source and sink without their prefix `kafka.`, such as security.protocol.

    [source] and [sink] override them.
    """
    source: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options passed to the source unchanged, such as kafka.isolation.level."""
    sink: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options passed to the sink unchanged, such as kafka.compression.type."""
    spark: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Settings of a session that is made for the job.

    `master` is local[*] by default. It has no effect with an existing session, or under
    spark-submit.
    """

    by_value: bool = False
    """Bring the package to executors that do not have it, as `register(spark, by_value=True)`."""

    def with_kafka(self, table: Mapping[str, str]) -> dict[str, str]:
        """Return the options of a table and those of [kafka], which the table may override."""
        own = {name.lower() for name in table}
        common = {f"kafka.{name}": value for name, value in self.kafka.items()}
        return {**{name: common[name] for name in common if name.lower() not in own}, **table}

    def __post_init__(self) -> None:
        wrong = {}
        for key in dataclasses.fields(self):
            kind = field_types(type(self))[key.name]
            try:
                value = _convert(getattr(self, key.name), kind)
            except ValueError as error:
                given = getattr(self, key.name)
                is_secret = not key.repr or isinstance(given, Mapping)
                shown = "" if is_secret else f"={given!r}"
                wrong[key.name] = f"{key.name}{shown} {error}"
                # A valid replacement, so that the other keys can be checked, too.
                value = key.default_factory() if callable(key.default_factory) else key.default
            object.__setattr__(self, key.name, value)
        more = [fault for fault in self._faults() if not fault.startswith(tuple(wrong))]
        if wrong or more:
            raise JobConfigError(type(self).__name__, [*wrong.values(), *more])

    def _faults(self) -> Iterator[str]:
        """Yield a sentence per wrong key: name, value, limit, remedy."""
        yield from ()

    @classmethod
    def from_toml(cls, text: str, settings: Iterable[str] = ()) -> Self:
        """Read a TOML document. Each setting, `key=value`, overrides the document.

        Raises: JobConfigError with every fault.
        """
        return cls.from_table(read_toml(text, settings))

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Self:
        """Make a config from the content of a TOML document.

        Raises: JobConfigError with every fault.
        """
        known = field_types(cls)
        faults = list(_unknown(table, known))
        given = {name: value for name, value in table.items() if name in known}
        try:
            made = cls(**given)
        except JobConfigError as error:
            raise JobConfigError(cls.__name__, [*faults, *error.faults]) from None
        if faults:
            raise JobConfigError(cls.__name__, faults)
        return made


def _unknown(table: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    for name in table:
        if name not in known:
            close = get_close_matches(name, known, n=2, cutoff=0.5)
            meant = f"did you mean {' or '.join(close)}?" if close else ""
            yield (
                f"{name} is not known to this job; {meant or 'leave it out.'} Keys are"
                f" {', '.join(sorted(known))}"
            )


# Documents and settings…


def read_toml(text: str, settings: Iterable[str] = ()) -> dict[str, Any]:
    """Return a TOML document as a table, with settings such as `sink.topic=x` merged in.

    A setting's value is read as TOML if possible, otherwise as text. Raises: JobConfigError.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise JobConfigError("the configuration", [f"it is not TOML: {error}"]) from None
    table = {name: _flat(name, value) for name, value in table.items()}
    faults = []
    for setting in settings:
        try:
            given = _setting(setting)
        except ValueError as error:
            faults.append(str(error))
            continue
        for name, value in given.items():
            new = _flat(name, value)
            before = table.get(name)
            if isinstance(new, dict) and isinstance(before, dict):
                new = {**before, **new}
            table[name] = new
    if faults:
        raise JobConfigError("--set", faults)
    return table


def read_file(path: Path | None, settings: Iterable[str] = ()) -> dict[str, Any]:
    """Do the same as `read_toml` for a file; without one, for the settings.

    Raises: JobConfigError.
    """
    if path is None:
        return read_toml("", settings)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise JobConfigError("the configuration", [f"--config {path}: {error}"]) from error
    return read_toml(text, settings)


def _setting(text: str) -> dict[str, Any]:
    """Read `a.b=value`. Raises: ValueError."""
    key, equals, value = text.partition("=")
    if not equals:
        # The rest may be a secret.
        name = re.split(r"[\s:]", text, maxsplit=1)[0]
        raise ValueError(f"--set {name!r} is not of the form key=value")
    try:
        return tomllib.loads(f"{key} = {value}")
    except tomllib.TOMLDecodeError:
        pass
    try:
        return tomllib.loads(f"{key} = {json.dumps(value.strip())}")
    except tomllib.TOMLDecodeError:
        raise ValueError(f"--set: {key!r} is not a TOML key, such as sink.topic") from None


def _flat(name: str, value: Any) -> Any:
    """Return a table of options as texts by dotted names; other values stay unchanged.

    `kafka.isolation.level = "x"` is a table in a table to TOML, but one option to Spark.
    """
    if name not in _TABLES or not isinstance(value, dict):
        return value
    return dict(_options(value))


def _options(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        path = f"{prefix}{name}"
        if not isinstance(value, Mapping):
            yield path, value
        elif path.lower() in _JSON_OPTIONS:
            yield path, json.dumps(value, separators=(",", ":"))
        else:
            yield from _options(value, f"{path}.")


# Values and types…


def field_types(config: type[JobConfig]) -> Mapping[str, Any]:
    """Return the keys of a config class, with their types."""
    hints = typing.get_type_hints(config)
    return {each.name: hints[each.name] for each in dataclasses.fields(config)}


def _convert(value: Any, kind: Any) -> Any:
    """Return a value converted to a field's type. Raises: ValueError with the end of a sentence."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in arguments:
            return None
        (kind,) = [each for each in arguments if each is not type(None)]
        return _convert(value, kind)
    if origin is typing.Literal:
        if value not in arguments:
            raise ValueError(f"is not one of {', '.join(map(repr, arguments))}")
        return value
    if origin is tuple:
        return tuple(_convert(each, arguments[0]) for each in _listed(value))
    if kind == Mapping[str, str]:
        return _texts(value)
    if kind is float and type(value) is int:
        return float(value)
    if kind is str and not isinstance(value, str | Mapping | Sequence) and value is not None:
        return _text(value)
    if kind in _WORDS and type(value) is not kind:
        raise ValueError(f"is not {_WORDS[kind]}")
    return value


_WORDS: Final = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def _listed(value: Any) -> Sequence[Any]:
    if isinstance(value, str):
        return [each.strip() for each in value.split(",") if each.strip()]
    if not isinstance(value, list | tuple):
        raise ValueError('is not a list, such as ["a", "b"]')  # noqa: TRY004 - one kind for all that is wrong
    return value


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("is not a table, such as [source]")  # noqa: TRY004 - as above
    flat = dict(_options(value))
    wrong = [name for name, each in flat.items() if isinstance(each, list | tuple)]
    if wrong:
        raise ValueError(f"has a list for {', '.join(wrong)}; write it as text")
    return {name: _text(each) for name, each in flat.items()}


def _text(value: Any) -> str:
    """Return an option's text. Options are texts, but TOML also has numbers and dates."""
    return str(value).lower() if isinstance(value, bool) else str(value)


__all__ = ["JobConfig", "JobConfigError", "field_types", "read_file", "read_toml"]
