"""The type of a number says what it counts, and is an int to everybody else."""

import pytest

from aiokafka_lite.options import units


@pytest.mark.parametrize("name", [name for name in units.__all__ if name != "UNITS"])
def test_a_unit_is_an_int_with_a_name_in_words(name: str) -> None:
    assert getattr(units, name) is int
    assert units.UNITS[name].endswith("s")


def test_every_name_in_words_is_of_a_unit() -> None:
    assert units.UNITS.keys() == set(units.__all__) - {"UNITS"}
