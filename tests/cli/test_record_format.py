"""Patterns and JSON for one record."""

import json
from typing import Any

import pytest

from aiokafka_lite.cli.record_format import LETTERS, Record, parse_format, to_json
from aiokafka_lite.model import ConsumerRecord


def record(**changes: Any) -> Record:
    fields: dict[str, Any] = {
        "topic": "t",
        "partition": 1,
        "offset": 42,
        "timestamp": 1_700_000_000_123,
        "timestamp_type": 0,
        "key": b"k",
        "value": b"v",
        "checksum": None,
        "serialized_key_size": 1,
        "serialized_value_size": 1,
        "headers": (("a", b"1"), ("b", None)),
    }
    return ConsumerRecord(**{**fields, **changes})


@pytest.mark.parametrize(
    ("pattern", "printed"),
    [
        ("%t[%p]@%o %k=%v\\n", b"t[1]@42 k=v\n"),
        ("%d %T", b"2023-11-14T22:13:20.123+00:00 1700000000123"),
        ("%h\\t100%%", b"a=1,b=\t100%"),
        ("%K %S %R", b"1 1 \0\0\0\1"),
        ("plain \\\\ \\q", b"plain \\ \\q"),
    ],
)
def test_patterns(pattern: str, printed: bytes) -> None:
    assert parse_format(pattern)(record()) == printed


def test_nulls_print_nothing() -> None:
    nothing = record(key=None, value=None)
    assert parse_format("<%k|%v>")(nothing) == b"<|>"
    assert parse_format("%K %S %R")(nothing) == b"-1 -1 \xff\xff\xff\xff"


def test_help_explains_every_letter() -> None:
    for letter in "tpoksvhdTKSR":
        assert f"%{letter} " in LETTERS
        parse_format(f"%{letter}")


def test_an_unknown_letter_names_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"%z .*%t %p %o"):
        parse_format("%z")


def test_json_shows_bytes_that_are_no_text_as_base64() -> None:
    line = json.loads(to_json(record(value=b"\xff\x00", key=None)))
    assert line["value_base64"] == "/wA="
    assert line["key"] is None
