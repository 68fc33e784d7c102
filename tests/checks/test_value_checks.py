"""Wrong values are found whatever the caller's types promise, and all of them are told at once."""

import pytest

from aiokafka_lite.checks.value_checks import check_callback, is_int, text_of_faults
from aiokafka_lite.errors import IllegalArgumentError


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


async def _awaited(*_: object) -> None:
    raise NotImplementedError


@pytest.mark.parametrize("function", [_awaited, 5, "f"])
def test_what_nobody_awaits_is_no_callback(function: object) -> None:
    with pytest.raises(IllegalArgumentError, match=r"callback=.*; give a (plain )?function"):
        check_callback("callback", function)


def test_plain_functions_are_callbacks() -> None:
    check_callback("callback", None)
    check_callback("callback", print)
