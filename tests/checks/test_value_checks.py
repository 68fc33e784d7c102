"""Wrong values are found whatever the caller's types promise, and all of them are told at once."""

import pytest

from aiokafka_lite.checks.value_checks import is_int, text_of_faults


@pytest.mark.parametrize(
    ("value", "expected"), [(5, True), (True, False), ("5", False), (5.0, False)]
)
def test_a_bool_is_no_int(value: object, *, expected: bool) -> None:
    assert is_int(value) is expected


def test_one_fault_stands_alone_and_several_are_listed() -> None:
    assert text_of_faults("Config", ["a is wrong"]) == "a is wrong"
    assert text_of_faults("Config", ["a is wrong", "b is wrong"]) == (
        "Config has 2 faults:\n  - a is wrong\n  - b is wrong"
    )
