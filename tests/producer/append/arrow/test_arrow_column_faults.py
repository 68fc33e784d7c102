"""Tests of `producer/append/arrow/arrow_column_faults.py`; `test_arrow_rows` sees them raised."""

import pytest

from aiokafka_lite.arrow.record_schema import FIELDS
from aiokafka_lite.errors import SerializationError
from aiokafka_lite.producer.append.arrow.arrow_column_faults import (
    PASSED_OVER,
    SENT,
    TAKEN,
    check_columns,
)


def test_what_getmany_arrow_returns_can_be_sent_as_it_is() -> None:
    check_columns(FIELDS)
    assert {*SENT, *PASSED_OVER} == set(FIELDS)
    assert set(TAKEN) == set(SENT)


def test_a_key_alone_is_enough_and_nothing_is_not() -> None:
    check_columns(["key"])
    with pytest.raises(SerializationError, match="'value'"):
        check_columns(["headers", "offset"])
