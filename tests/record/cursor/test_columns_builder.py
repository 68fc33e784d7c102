"""Tests of `record/cursor/columns_builder.py`: both twins have what a cursor asks for."""

import pytest

from aiokafka_lite.arrow import _record_columns_py
from aiokafka_lite.record.cursor.columns_builder import ColumnsBuilder
from tests.support.twins import native_twin

ASKED_FOR = {
    name
    for name in vars(ColumnsBuilder)
    if name == "__len__" or not name.startswith("_")
}  # fmt: skip


@pytest.mark.parametrize("native", [False, True], ids=["pure", "native"])
def test_twin_has_everything_a_cursor_asks_for(native):
    twin = native_twin("aiokafka_lite.arrow._record_columns") if native else _record_columns_py
    assert {"is_full", "decode", "append", "begin", "next_offset", "__len__"} <= ASKED_FOR
    assert set(dir(twin.RecordColumnsBuilder(1))) >= ASKED_FOR
