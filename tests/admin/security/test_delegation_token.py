"""A token does not show its HMAC, and gives the password that clients log in with."""

import pytest

from aiokafka_lite.admin import DelegationToken
from aiokafka_lite.admin.security.delegation_token import principal
from aiokafka_lite.secret import Secret


def test_no_text_shows_the_hmac() -> None:
    token = DelegationToken("id", b"hmac", "User:alice", 1, 2, 3, ())
    for text in (repr(token), str(token), repr({"token": token})):
        assert "hmac=[hidden]" in text
        assert "b'hmac'" not in text
    assert token.password == Secret("aG1hYw==")


@pytest.mark.parametrize(
    ("user", "expected"),
    [("alice", ("User", "alice")), ("User:a:b", ("User", "a:b")), ("Group:g", ("Group", "g"))],
)
def test_a_name_without_a_type_is_a_user(user: str, expected: tuple[str, str]) -> None:
    assert principal(user) == expected
