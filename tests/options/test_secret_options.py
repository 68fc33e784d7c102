"""Which options have a secret."""

from typing import Any

import pytest

from aiokafka_lite.options.secret_options import hidden, may_be_path
from aiokafka_lite.secret import Secret

KEY = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sasl_plain_password", "sesame"),
        ("ssl_password", b"sesame"),
        ("ssl_keyfile", KEY),
        ("ssl_certfile", KEY),
        ("ssl_keyfile", "a" * 400),
        ("ssl_keyfile", "abc\ndef"),
    ],
)
def test_a_secret_is_hidden(name: str, value: str | bytes) -> None:
    assert hidden(name, value) == Secret(value)
    assert hidden(name, Secret(value)) == Secret(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sasl_plain_username", "alice"),
        ("ssl_keyfile", "/etc/kafka/client.key"),
        ("ssl_cafile", KEY),
        ("ssl_password", None),
        ("sasl_plain_password", 7),
    ],
)
def test_what_is_no_secret_stays_as_it_is(name: str, value: Any) -> None:
    assert hidden(name, value) is value


def test_content_is_no_path() -> None:
    assert may_be_path("C:\\keys\\client.key")
    assert not may_be_path(KEY)
