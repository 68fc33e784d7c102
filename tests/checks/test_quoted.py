"""What a text shows of a value that a user passed."""

import enum
import re

import pytest

from aiokafka_lite.checks.quoted import (
    MOST_SHOWN,
    cut,
    field_text,
    kind_of,
    number,
    quoted,
    said,
    trace_of,
)
from aiokafka_lite.model import ConsumerRecord, OffsetSpec, TopicPartition

MARK = "4111"


class Odd:
    """Shows its content, as a user's class may."""

    def __repr__(self) -> str:
        return MARK * 250_000


class Color(enum.Enum):
    RED = MARK * 100
    BLUE = 1


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None"),
        (True, "True"),
        (-7, "-7"),
        (1.5, "1.5"),
        ("orders", "'orders'"),
        (OffsetSpec.LATEST, repr(OffsetSpec.LATEST)),
        (Color.RED, "Color.RED"),
        (Color.BLUE, "<Color.BLUE: 1>"),
        (int, "<class int>"),
        (len, "<function len>"),
        (["a", 1], "['a', 1]"),
        (("a",), "('a',)"),
        (("a", 1), "('a', 1)"),
        ({"a": [1]}, "{'a': [1]}"),
        ({3}, "{3}"),
        (set(), "set()"),
        (TopicPartition("orders", -1), "TopicPartition(topic='orders', partition=-1)"),
        (b"orders", "b'orders'"),
        (b"x" * 17, "<bytes, 17 long>"),
        ("x" * 100, repr("x" * 100)),
        ("x y" * 34, "<str, 102 long>"),
        ("x" * 301, "<str, 301 long>"),
        ("/a" * 60, repr("/a" * 25 + "…" + "/a" * 20)),
        (10**30, "<int>"),
        (list(range(5)), "<list, 5 long>"),
        (["x" * 70, "y" * 70], "<list, 2 long>"),
        ([["a"], ("b", {"c": 1})], "[['a'], ('b', {'c': 1})]"),
        (Odd(), "<Odd>"),
        ([Odd()], "[<Odd>]"),
        (re.compile("x"), "<Pattern>"),
        (
            TopicPartition("x" * 250, 0),
            f"TopicPartition(topic='{'x' * 50}…{'x' * 40}', partition=0)",
        ),
    ],
)
def test_what_is_short_and_no_record_is_shown(value: object, shown: str) -> None:
    assert quoted(value) == shown


@pytest.mark.parametrize(
    "value",
    [
        MARK * 250_000,
        (MARK * 250_000).encode(),
        bytearray(MARK.encode()),
        memoryview(MARK.encode()),
        [MARK * 250_000],
        {MARK * 250_000: 1},
        {1: [MARK.encode() * 5]},
        [MARK] * 30,
        [[[[MARK] * 10]] * 3],
        int(MARK * 1000),
        Odd(),
    ],
    ids=lambda value: type(value).__name__[:20],
)
def test_the_content_of_a_record_is_never_shown(value: object) -> None:
    assert MARK not in quoted(value)
    assert MARK not in kind_of(value)
    assert len(quoted(value)) <= MOST_SHOWN + 20
    assert len(kind_of(value)) <= MOST_SHOWN + 20


def test_the_name_of_a_class_is_cut() -> None:
    assert len(kind_of(type("Long" * 1000, (), {})())) <= MOST_SHOWN + 20


def test_a_record_is_told_by_its_type() -> None:
    record = ConsumerRecord("orders", 0, 5, 0, 0, b"k", MARK.encode(), None, 1, 4, ())
    assert quoted(record) == "<ConsumerRecord>"
    assert quoted({TopicPartition("t", 0): record}) == (
        "{TopicPartition(topic='t', partition=0): <ConsumerRecord>}"
    )


def test_what_others_say_is_cut() -> None:
    assert cut("short") == "short"
    assert cut("x" * 100, 10) == "x" * 9 + "…"


def test_an_error_of_users_code_is_cut_and_has_no_part_of_the_record() -> None:
    assert said(ValueError("gone")) == "ValueError('gone')"
    assert said(ValueError("x" * 200)).endswith("…")
    assert len(said(ValueError("x" * 200))) == MOST_SHOWN
    assert said(KeyError("user@example.com"), b"user@example.com") == "KeyError"
    assert said(ValueError("no user@example.com"), None, b"user@example.com is new") == "ValueError"
    assert said(ValueError("no 4111 2222"), {"number": "4111 2222"}) == "ValueError"
    assert said(ValueError("no b'41'"), b"41") == "ValueError"
    assert said(KeyError("41"), "41") == "KeyError"
    assert said(ValueError("line 1 column 1"), b"{") == "ValueError('line 1 column 1')"

    class Silent(Exception):
        def __repr__(self) -> str:
            raise LookupError

    assert said(Silent()) == "Silent"


def test_a_traceback_keeps_its_frames_where_the_text_is_left_out() -> None:
    error = ValueError("gone")
    assert trace_of(error) is error
    kind, unsaid, _ = trace_of(KeyError(MARK), MARK)  # type: ignore[misc]
    assert kind is RuntimeError
    assert "KeyError" in str(unsaid)
    assert MARK not in str(unsaid)


def test_fields_of_values_are_shown_but_for_long_texts() -> None:
    assert field_text("x" * 100) == repr("x" * 100)
    assert field_text(b"x" * 101) == "<bytes, 101 long>"
    assert field_text(["x" * 101]) == repr(["x" * 101])
    assert "topic=<str, 999 long>" in repr(TopicPartition("x" * 999, 0))


def test_numbers_are_shown_and_nothing_else() -> None:
    assert (number(5), number(None), number(b"5")) == ("5", "None", "<bytes, 1 long>")
