"""The lines of `consume --json` become records again."""

import json
from typing import Any

import pytest

from aiokafka_lite.cli.json_records import JsonRecord, record_of
from aiokafka_lite.cli.record_format import to_json
from aiokafka_lite.model import ConsumerRecord


@pytest.mark.parametrize(
    ("key", "value"), [(b"k", b"v"), (None, b"\xff\x00"), (b"\xfe", None), (b"", "é".encode())]
)
def test_a_record_makes_the_round_trip(key: bytes | None, value: bytes | None) -> None:
    headers = (("a", b"1"), ("a", None), ("b", b"\xff"))
    written = to_json(ConsumerRecord("t", 3, 42, 1_700, 0, key, value, None, 1, 1, headers))
    assert record_of(written, 1) == JsonRecord(key, value, list(headers), 1_700, 3)


def test_what_is_left_out_is_none() -> None:
    assert record_of(b'{"value": "v"}', 1) == JsonRecord(None, b"v", [], None, None)
    assert record_of(b'{"value": "v", "timestamp": -1}', 1).timestamp_ms == -1, "it has none"
    assert record_of(b'{"value": "v", "partition": -1}', 1).partition is None


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ("{", "Expecting"),
        ([1], "of type list"),
        ({"valeu": "v"}, "valeu is unknown"),
        ({"offset": 1}, "neither key nor value"),
        ({"key": None}, "neither key nor value"),
        ({"value": 3}, "value is of type int"),
        ({"value": "v", "value_base64": "dg=="}, "both given"),
        ({"value_base64": "?"}, "base64"),
        ({"value": "v", "headers": {"a": "b"}}, "headers are no list"),
        ({"value": "v", "timestamp": "soon"}, "timestamp is of type str"),
        ({"value": "v", "partition": True}, "partition is of type bool"),
    ],
)
def test_a_line_that_is_no_record_is_named(told: Any, reason: str) -> None:
    line = told.encode() if isinstance(told, str) else json.dumps(told).encode()
    with pytest.raises(ValueError, match="line 7 is no record") as caught:
        record_of(line, 7)
    assert reason in str(caught.value)
