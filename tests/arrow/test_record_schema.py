"""Tests of `arrow/record_schema.py`."""

import subprocess
import sys

import pyarrow as pa
import pytest

from aiokafka_lite.arrow.record_schema import ALL_FIELDS, FIELDS, field_mask, record_schema


def test_schema_is_what_the_documentation_says():
    header = pa.struct([pa.field("key", pa.string(), nullable=False), ("value", pa.binary())])
    assert record_schema() == pa.schema(
        [
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("ms", "UTC")),
            ("timestamp_type", pa.int32()),
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("headers", pa.list_(header)),
        ]
    )
    assert tuple(record_schema().names) == FIELDS


def test_columns_are_named_in_any_order_and_come_in_one():
    assert field_mask(None) == field_mask(reversed(FIELDS)) == ALL_FIELDS
    assert record_schema(field_mask(["value", "offset"])).names == ["offset", "value"]
    assert field_mask("value") == field_mask(["value"])


def test_what_is_no_column_is_refused_by_name():
    with pytest.raises(
        ValueError, match=r"'valu' is not a column of a record; the columns are topic, "
    ):
        field_mask(["key", "valu"])
    with pytest.raises(ValueError, match="no column is named"):
        field_mask([])


def test_pyarrow_is_imported_by_nobody_who_does_not_ask():
    program = "import sys, aiokafka_lite; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_want_of_pyarrow_is_said_with_the_remedy():
    program = """
import sys
sys.modules["pyarrow"] = None
from aiokafka_lite.arrow.record_schema import require_pyarrow
try:
    require_pyarrow()
except ImportError as error:
    assert "pip install 'aiokafka-lite[arrow]'" in str(error), error
else:
    sys.exit(1)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
