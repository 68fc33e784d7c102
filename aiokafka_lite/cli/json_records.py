"""Reads the lines that `consume --json` writes, for `produce --json`. Does not wait."""

import base64
import json
from dataclasses import dataclass
from typing import Any, Final

KNOWN: Final = (
    *("key", "key_base64", "value", "value_base64", "headers", "timestamp"),
    *("partition", "topic", "offset"),
)


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """What one line says; None is what it leaves out."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    timestamp_ms: int | None
    """-1: the record has none, as Kafka stores it."""
    partition: int | None


def record_of(line: bytes, number: int) -> JsonRecord:
    """Return the record of a line. Its topic and offset are left out.

    Raises: ValueError naming the line by its number, and what is wrong in it.
    """
    try:
        return _record(json.loads(line))
    except ValueError as error:  # JSON, base64 and UTF-8 raise one, too
        raise ValueError(f"line {number} is no record of consume --json: {error}") from error


def _record(told: Any) -> JsonRecord:
    if not isinstance(told, dict):
        raise ValueError(  # noqa: TRY004  what the line says is wrong, not the call
            f"it is of type {type(told).__name__}, not an object"
        )
    if unknown := told.keys() - set(KNOWN):
        raise ValueError(f"{', '.join(sorted(unknown))} is unknown; write {', '.join(KNOWN)}")
    key, value = _bytes(told, "key"), _bytes(told, "value")
    if key is None and value is None and not {"key", "value"} <= told.keys():
        raise ValueError("it has neither key nor value; a record without both says null for each")
    partition = _number(told, "partition")
    headers = told.get("headers") or []
    if not isinstance(headers, list) or not all(
        isinstance(each, dict) and isinstance(each.get("name"), str) for each in headers
    ):
        raise ValueError('headers are no list of {"name": …, "value": …}')
    return JsonRecord(
        key,
        value,
        [(each["name"], _bytes(each, "value")) for each in headers],
        _number(told, "timestamp"),
        partition if partition is None or partition >= 0 else None,
    )


def _bytes(told: dict[str, Any], name: str) -> bytes | None:
    plain, coded = told.get(name), told.get(f"{name}_base64")
    for text in (plain, coded):
        if text is not None and not isinstance(text, str):
            raise ValueError(f"{name} is of type {type(text).__name__}, not a text or null")
    if coded is None:
        return None if plain is None else plain.encode()
    if plain is not None:
        raise ValueError(f"{name} and {name}_base64 are both given; write one")
    return base64.b64decode(coded, validate=True)


def _number(told: dict[str, Any], name: str) -> int | None:
    number: object = told.get(name)
    if number is None or (isinstance(number, int) and not isinstance(number, bool)):
        return number
    raise ValueError(f"{name} is of type {type(number).__name__}, not a whole number or null")


__all__ = ["JsonRecord", "record_of"]
