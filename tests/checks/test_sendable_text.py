"""Strings that a request can carry."""

import pytest

from aiokafka_lite.checks.sendable_text import sendable


@pytest.mark.parametrize("text", ["", "x" * 32_767, "\u00e9" * 16_383, None, 7])
def test_what_can_be_sent_has_no_fault(text: object) -> None:
    assert list(sendable("name", text)) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x" * 32_768, "name has 32768 bytes, above the limit of 32767"),
        ("\u00e9" * 16_384, "name has 32768 bytes"),
        ("a\ud800", "cannot be sent: it is not valid Unicode"),
    ],
)
def test_what_cannot_be_sent_is_named_with_the_limit(text: str, fault: str) -> None:
    (found,) = sendable("name", text)
    assert fault in found
