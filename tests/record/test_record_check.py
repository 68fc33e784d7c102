"""What a broker finds out about the records of a batch, with both twins."""

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record import _record_check_py
from tests.conformance.broker_corpus.steps import record
from tests.support.twins import native_twin

THREE = (
    record(0, b"a", time=5),
    record(1, b"bb", None, time=-3),
    record(2, None, headers=[(b"h", None), (b"", b"x")]),
)


@pytest.fixture(params=["native", "pure"])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "pure":
        return _record_check_py
    return native_twin("aiokafka_lite.record._record_check")


def test_times_missing_keys_and_the_largest_size(twin: ModuleType) -> None:
    assert twin.check_records(b"".join(THREE), 3) == (-3, 5, 1, max(map(len, THREE)))


@pytest.mark.parametrize(
    ("payload", "count", "why"),
    [
        (b"".join(THREE)[:-1], 3, "record 2 at byte"),
        (b"".join(THREE), 4, "record 3 at byte"),
        (b"".join(THREE), 2, "bytes follow the last record"),
        (THREE[0] + b"x", 1, "1 bytes follow the last record"),
        (record(0, tail=b"x"), 1, "record 0 at byte 0"),
        (record(0, headers=[(None, b"x")]), 1, "record 0 at byte 0"),
        (record(0, count=1), 1, "record 0 at byte 0"),
        (record(0, count=-1), 1, "record 0 at byte 0"),
        (b"\x01", 1, "record 0 at byte 0"),
        (b"\x00", 1, "record 0 at byte 0"),
        (b"", 1, "record 0 at byte 0"),
        (b"\xff" * 20, 1, "record 0 at byte 0"),
    ],
)
def test_broken_records(twin: ModuleType, payload: bytes, count: int, why: str) -> None:
    with pytest.raises(CorruptRecordException, match=why):
        twin.check_records(payload, count)


@given(st.binary(max_size=40) | st.sampled_from(THREE), st.integers(0, 3))
def test_twins_agree_about_any_bytes(payload: bytes, count: int) -> None:
    native = native_twin("aiokafka_lite.record._record_check")

    def outcome(module: ModuleType) -> object:
        try:
            return module.check_records(payload, count)
        except CorruptRecordException as error:
            return str(error)

    assert outcome(native) == outcome(_record_check_py)
