"""Values of settings become the text that Kafka takes."""

import pytest

from aiokafka_lite.checks.setting_text import setting_text
from aiokafka_lite.errors import IllegalArgumentError


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (7, "7"), (0.5, "0.5"), (["x", "y"], "x,y"), ("z", "z"), ("", "")],
)
def test_a_value_becomes_text(value: object, text: str) -> None:
    assert setting_text("a", value, "topic 't'") == text


@pytest.mark.parametrize("value", [None, object, b"x", [1]])
def test_other_values_are_told(value: object) -> None:
    with pytest.raises(IllegalArgumentError, match="of topic 't' is no value of a setting"):
        setting_text("a", value, "topic 't'")
