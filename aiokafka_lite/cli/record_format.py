"""How `consume` prints a record: the `-f` patterns of kcat and rpk, or one JSON object a line."""

import base64
import json
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.model import ConsumerRecord

Record = ConsumerRecord[bytes, bytes]
Formatter = Callable[[Record], bytes]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DEFAULT_FORMAT = "%v\\n"
ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "\\": b"\\", "0": b"\0"}
LETTERS = (
    "%t topic, %p partition, %o offset, %k key, %s or %v value, %h headers, %T timestamp in ms, "
    "%d the same in ISO 8601, %K and %S bytes of key and value (-1: null), %R bytes of the value "
    "as a big-endian int32, %% percent sign; \\n \\t \\r \\\\ \\0 as usual"
)


def parse_format(pattern: str) -> Formatter:
    r"""Return a function from record to bytes for a pattern such as `%t[%p]@%o %k=%v\n`.

    The letters are in LETTERS. A null key or value prints nothing.

    Raises: ValueError naming the unknown letter and the known ones.
    """
    parts: list[bytes | Formatter] = []
    letters = iter(pattern)
    for letter in letters:
        if letter == "\\":
            following = next(letters, "\\")
            parts.append(ESCAPES.get(following, f"\\{following}".encode()))
        elif letter == "%":
            parts.append(_field(next(letters, ""), pattern))
        else:
            parts.append(letter.encode())
    return lambda record: b"".join(
        part if isinstance(part, bytes) else part(record) for part in parts
    )


def to_json(record: Record) -> bytes:
    """Return one line of JSON. Key and value are text if they are UTF-8, else base64 under
    `key_base64`.
    """
    line: dict[str, Any] = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        **_text_or_base64("key", record.key),
        **_text_or_base64("value", record.value),
        "headers": [
            {"name": name, **_text_or_base64("value", value)} for name, value in record.headers
        ],
    }
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _text_or_base64(name: str, data: bytes | None) -> dict[str, str | None]:
    if data is None:
        return {name: None}
    try:
        return {name: data.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(data).decode()}


def _field(letter: str, pattern: str) -> bytes | Formatter:
    if letter == "%":
        return b"%"
    if letter not in _FIELDS:
        known = " ".join(f"%{name}" for name in _FIELDS)
        raise ValueError(f"%{letter} in the format {quoted(pattern)} is unknown; use {known} or %%")
    return _FIELDS[letter]


def _headers(record: Record) -> bytes:
    return b",".join(name.encode() + b"=" + (value or b"") for name, value in record.headers)


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _date(record: Record) -> bytes:
    """Return the time of a record, or its number where no calendar of Python has it."""
    try:
        when = _EPOCH + timedelta(milliseconds=record.timestamp)
    except OverflowError:
        return b"%d" % record.timestamp
    return when.isoformat(timespec="milliseconds").encode()


_FIELDS: dict[str, Formatter] = {
    "t": lambda record: record.topic.encode(),
    "p": lambda record: b"%d" % record.partition,
    "o": lambda record: b"%d" % record.offset,
    "k": lambda record: record.key or b"",
    "v": lambda record: record.value or b"",
    "s": lambda record: record.value or b"",
    "K": lambda record: b"%d" % _size(record.key),
    "S": lambda record: b"%d" % _size(record.value),
    "R": lambda record: struct.pack(">i", _size(record.value)),
    "h": _headers,
    "d": _date,
    "T": lambda record: b"%d" % record.timestamp,
}


__all__ = ["DEFAULT_FORMAT", "LETTERS", "Formatter", "Record", "parse_format", "to_json"]
