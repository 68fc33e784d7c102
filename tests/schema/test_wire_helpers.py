import struct
from uuid import UUID

import pytest

from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.schema.wire_helpers import (
    IntegerRuns,
    integer_runs,
    labelled,
    skip_tagged_fields,
    string_length,
    uuid_of,
)


@pytest.mark.parametrize("count", [0, 1, 3, 63, 64, 1000])
def test_runs_of_integers_come_back(count: int) -> None:
    runs = IntegerRuns("i")
    values = list(range(-5, count - 5))
    raw = runs.pack(values)
    assert raw == struct.pack(f">{count}i", *values)
    assert runs.unpack(b"__" + raw, 2, count) == values


def test_only_short_runs_keep_their_layout() -> None:
    runs = integer_runs("h")
    assert runs is integer_runs("h")
    assert runs.of(5) is runs.of(5)
    assert runs.of(64) is not runs.of(64)


def test_ids_are_kept_and_the_null_id_is_the_one_object() -> None:
    raw = bytes(range(16))
    assert uuid_of(raw) == UUID(bytes=raw)
    assert uuid_of(bytes(range(16))) is uuid_of(raw)
    assert uuid_of(bytes(16)) is ZERO_UUID


def test_length_of_a_string_above_the_limit_is_refused() -> None:
    assert string_length(32768) == b"\x80\x80\x02"
    with pytest.raises(ValueError, match="32768 bytes exceeds the protocol's limit of 32767"):
        string_length(32769)


def test_tagged_fields_are_skipped_to_their_end() -> None:
    raw = bytes.fromhex("02 00 01 ff 05 00 99")
    assert skip_tagged_fields(raw, 0, len(raw)) == 6


def test_a_tagged_field_beyond_the_frame_is_refused() -> None:
    raw = bytes.fromhex("01 07 05 ff")
    with pytest.raises(ProtocolDecodeError, match="tagged field 7 announces 5 bytes at byte 3"):
        skip_tagged_fields(raw, 0, len(raw))


def test_a_label_stands_once_in_front() -> None:
    error = labelled("X v1", ProtocolDecodeError("cut off"))
    assert error.args == ("X v1: cut off",)
    assert labelled("X v1", error) is error
