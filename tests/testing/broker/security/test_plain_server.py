"""PLAIN: one token with user and password."""

import pytest

from aiokafka_lite.testing.broker.security.mechanism import Accepted, LoginRefusedError
from aiokafka_lite.testing.broker.security.plain_server import plain_exchange

USERS = {"alice": "secret", "jürgen": "pässwörd"}


def outcome(token: bytes) -> Accepted:
    exchange = plain_exchange(USERS)
    next(exchange)
    with pytest.raises(StopIteration) as end:
        exchange.send(token)
    accepted = end.value.value
    assert isinstance(accepted, Accepted)
    return accepted


@pytest.mark.parametrize(
    ("token", "name"),
    [
        (b"\0alice\0secret", "alice"),
        (b"alice\0alice\0secret", "alice"),
        ("\0jürgen\0pässwörd".encode(), "jürgen"),
    ],
)
def test_a_user_with_the_right_password_is_accepted(token: bytes, name: str) -> None:
    assert outcome(token) == Accepted(name)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"\0alice\0wrong", "Authentication failed: Invalid username or password"),
        (b"\0bob\0secret", "Authentication failed: Invalid username or password"),
        (b"bob\0alice\0secret", "Client requested an authorization id that is different"),
    ],
)
def test_the_client_is_told_why_it_is_refused(token: bytes, text: str) -> None:
    with pytest.raises(LoginRefusedError, match=text):
        outcome(token)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"", "expected 3 tokens, got 1"),
        (b"alice\0secret", "expected 3 tokens, got 2"),
        (b"\0alice\0secret\0\0", "expected 3 tokens, got 4"),
        (b"\0\0secret", "username not specified"),
        (b"\0alice\0", "password not specified"),
        (b"\0\xff\0secret", "Invalid username or password"),
    ],
)
def test_a_token_of_another_form_is_refused(token: bytes, text: str) -> None:
    with pytest.raises(LoginRefusedError, match=text):
        outcome(token)
