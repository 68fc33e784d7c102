"""What `explain()` returns is a value: frozen, equal to its like, and a sentence."""

from dataclasses import FrozenInstanceError, replace

import pytest

from aiokafka_lite.metrics.explanation import Explanation, WaitReason


def test_an_explanation_is_a_frozen_value_that_prints_as_its_sentence() -> None:
    found = Explanation(WaitReason.PAUSED, "t-0: pause() was called")
    assert str(found) == "t-0: pause() was called"
    assert found == replace(found)
    with pytest.raises(FrozenInstanceError):
        found.text = "x"  # type: ignore[misc]


def test_no_two_reasons_are_the_same() -> None:
    """An Enum would make the second of two equal texts another name of the first."""
    assert len(WaitReason) == len(WaitReason.__members__)
