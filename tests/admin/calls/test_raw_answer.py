"""The form of aiokafka's answers: attributes, rows that can be taken apart, and `to_object()`."""

from dataclasses import dataclass
from typing import NamedTuple

import pytest

from aiokafka_lite.admin.calls.outcomes import Outcomes
from aiokafka_lite.admin.calls.raw_answer import NO_CODE, RawAnswer, code_and_text
from aiokafka_lite.errors import InvalidTopicError, KafkaTimeoutError


class Part(NamedTuple):
    number: int


class Row(NamedTuple):
    topic: str
    parts: list[Part]


@dataclass(frozen=True)
class Answer(RawAnswer):
    rows: list[Row]
    topics: Outcomes[str, int]


def test_an_answer_becomes_dicts_and_lists_without_what_aiokafka_lacks() -> None:
    answer = Answer(5, [Row("t", [Part(1), Part(2)])], Outcomes(t=1))
    assert answer.to_object() == {
        "throttle_time_ms": 5,
        "rows": [{"topic": "t", "parts": [{"number": 1}, {"number": 2}]}],
    }
    [(topic, parts)] = answer.rows
    assert (topic, parts[1].number) == ("t", 2)


@pytest.mark.parametrize(
    ("outcome", "row"),
    [
        (None, (0, None)),
        (InvalidTopicError("the name"), (17, "the name")),
        (InvalidTopicError(), (17, InvalidTopicError.description)),
        (KafkaTimeoutError("late"), (NO_CODE, "KafkaTimeoutError: late")),
    ],
)
def test_a_row_of_each_outcome(outcome: object, row: tuple[int, str | None]) -> None:
    assert code_and_text(outcome) == row
