"""OAUTHBEARER on the broker's side."""

from base64 import urlsafe_b64encode
from typing import Any

import pytest

from aiokafka_lite.testing.broker.security.mechanism import (
    Accepted,
    LoginRefusedError,
    SaslFormatError,
)
from aiokafka_lite.testing.broker.security.oauthbearer_server import (
    check_unsecured,
    oauthbearer_exchange,
    unsecured_token,
)
from aiokafka_lite.testing.fake_clock import FakeClock

CLAIMS = {"sub": "alice", "exp": 1000.5}


def send(claims: Any, message: bytes) -> Accepted:
    def validate(token: str) -> Any:
        assert token == "t.o.k"
        if isinstance(claims, Exception):
            raise claims
        return claims

    exchange = oauthbearer_exchange(validate)
    next(exchange)
    try:
        answer = exchange.send(message)
    except StopIteration as end:
        accepted: Accepted = end.value
        return accepted
    assert answer == b'{"status":"invalid_token"}'
    exchange.send(b"\x01")
    raise AssertionError("the exchange goes on")


@pytest.mark.parametrize(
    "message",
    [
        b"n,,\x01auth=Bearer t.o.k\x01\x01",
        b"n,a=alice,\x01auth=bearer  t.o.k\x01\x01",
        b"n,,\x01auth=Bearer t.o.k\x01logicalCluster=lkc-1\x01\x01",
    ],
)
def test_a_valid_token_logs_its_subject_in_until_its_end(message: bytes) -> None:
    assert send(CLAIMS, message) == Accepted("alice", b"", 1_000_500)


def test_a_token_need_not_end() -> None:
    assert send({"sub": "bob"}, b"n,,\x01auth=Bearer t.o.k\x01\x01").expires_at_ms is None


@pytest.mark.parametrize("claims", [ValueError("no"), {}, {"sub": ""}, {"sub": 7}])
def test_a_refused_token_is_answered_and_refused_after_the_confirmation(claims: Any) -> None:
    with pytest.raises(LoginRefusedError, match=r'^\{"status":"invalid_token"\}$'):
        send(claims, b"n,,\x01auth=Bearer t.o.k\x01\x01")


def test_another_authorization_id_is_refused() -> None:
    with pytest.raises(LoginRefusedError, match=r"\(bob\) that is different .* \(alice\)"):
        send(CLAIMS, b"n,a=bob,\x01auth=Bearer t.o.k\x01\x01")


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"n,,\x01auth=Bearer t.o.k\x01",
        b"n,,\x01auth=Basic t.o.k\x01\x01",
        b"n,,\x01host=h\x01\x01",
        b"y,,\x01auth=Bearer t.o.k\x01\x01",
        b"n,,\x01auth=Bearer t o k\x01\x01",
        b"\xff",
    ],
)
def test_a_message_of_another_form_is_refused_without_a_word(message: bytes) -> None:
    with pytest.raises(SaslFormatError):
        send(CLAIMS, message)


# Tokens without a signature…


def test_an_unsecured_token_is_valid_until_its_end() -> None:
    clock = FakeClock(1000.0)
    now_s = clock.time()
    token = unsecured_token("alice", now_s, now_s + 10)
    assert check_unsecured(token, clock) == {"sub": "alice", "iat": now_s, "exp": now_s + 10}
    with pytest.raises(ValueError, match="has expired"):
        check_unsecured(unsecured_token("alice", now_s - 10, now_s), clock)
    with pytest.raises(ValueError, match="not valid yet"):
        check_unsecured(unsecured_token("alice", now_s + 5, now_s + 10), clock)


def test_a_token_with_a_signature_or_of_another_form_is_refused() -> None:
    clock = FakeClock(1000.0)
    token = unsecured_token("alice", clock.time(), clock.time() + 10)
    signed = urlsafe_b64encode(b'{"alg":"RS256"}').decode().rstrip("=")
    no_object = urlsafe_b64encode(b"[1]").decode().rstrip("=")
    for wrong in (f"{token}abc", f"{signed}.{token.split('.')[1]}.", "a.b", f"{no_object}.e30."):
        with pytest.raises(ValueError):  # noqa: PT011 - several texts of json, too
            check_unsecured(wrong, clock)
