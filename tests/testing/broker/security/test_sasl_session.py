"""SASL on one connection: what may come next, and when a session ends."""

from collections.abc import Callable

import pytest

from aiokafka_lite.errors import IllegalSaslStateError
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker.security.mechanism import (
    Accepted,
    Exchange,
    LoginRefusedError,
    SaslFormatError,
)
from aiokafka_lite.testing.broker.security.plain_server import plain_exchange
from aiokafka_lite.testing.broker.security.sasl_session import SaslSession
from aiokafka_lite.testing.fake_clock import FakeClock

USERS = {"alice": "secret", "bob": "builder"}
ALICE = b"\0alice\0secret"


class Client:
    """A session, with the requests a client would send."""

    def __init__(self, max_reauth_ms: int = 0, other: Callable[[], Exchange] | None = None) -> None:
        self.clock = FakeClock()
        self.logins: list[str] = []
        plain = lambda: plain_exchange(USERS)  # noqa: E731
        self.session = SaslSession(
            {"PLAIN": plain, "OTHER": other or plain},
            self.clock,
            max_reauth_ms=max_reauth_ms,
            on_login=self.logins.append,
        )

    def handshake(self, mechanism: str = "PLAIN", *, has_headers: bool = True) -> bool:
        self.session.admit(ApiKey.SASL_HANDSHAKE)
        return self.session.choose(mechanism, has_headers=has_headers)

    def log_in(self, token: bytes = ALICE, mechanism: str = "PLAIN") -> int:
        assert self.handshake(mechanism)
        self.session.admit(ApiKey.SASL_AUTHENTICATE)
        return self.session.take(token)[1]


def malformed_after(logins: int) -> Callable[[], Exchange]:
    """A mechanism that accepts alice so often, and then finds each token malformed."""
    left = [None] * logins

    def exchange() -> Exchange:
        yield b""
        if not left:
            raise SaslFormatError("no such form")
        left.pop()
        return Accepted("alice")

    return exchange


def test_versions_then_handshake_then_tokens_then_anything() -> None:
    client = Client()
    client.session.admit(ApiKey.API_VERSIONS)
    client.session.versions_are_told()
    with pytest.raises(IllegalSaslStateError, match=r"sent ApiVersions while .* SaslHandshake$"):
        client.session.admit(ApiKey.API_VERSIONS)
    assert client.log_in() == 0
    assert client.logins == ["User:alice"]
    client.session.admit(ApiKey.METADATA)


@pytest.mark.parametrize("api_key", [ApiKey.METADATA, ApiKey.SASL_AUTHENTICATE, ApiKey.PRODUCE])
def test_nothing_else_comes_before_the_handshake(api_key: int) -> None:
    with pytest.raises(IllegalSaslStateError):
        Client().session.admit(api_key)


def test_nothing_but_tokens_comes_after_the_handshake() -> None:
    client = Client()
    client.handshake()
    with pytest.raises(IllegalSaslStateError, match="expected is SaslAuthenticate"):
        client.session.admit(ApiKey.METADATA)


def test_an_unknown_mechanism_fails() -> None:
    client = Client()
    assert not client.handshake("GSSAPI")
    assert client.session.has_failed


def test_a_wrong_password_fails_and_nothing_may_follow() -> None:
    client = Client()
    with pytest.raises(LoginRefusedError):
        client.log_in(b"\0alice\0wrong")
    assert client.session.has_failed
    assert client.logins == []
    with pytest.raises(IllegalSaslStateError):
        client.session.admit(ApiKey.SASL_HANDSHAKE)


def test_a_malformed_token_is_refused_with_a_text_that_tells_nothing() -> None:
    client = Client(other=malformed_after(0))
    with pytest.raises(
        LoginRefusedError,
        match=r"^Authentication failed during authentication due to invalid credentials with SASL "
        "mechanism OTHER$",
    ):
        client.log_in(mechanism="OTHER")
    assert client.session.has_failed


def test_tokens_after_an_old_handshake_are_bare() -> None:
    client = Client()
    client.handshake(has_headers=False)
    assert client.session.awaits_bare_token
    client.session.take(ALICE)
    assert not client.session.awaits_bare_token


# Re-authentication…


async def test_a_session_ends_at_the_first_request_after_its_end() -> None:
    client = Client(max_reauth_ms=3000)
    assert client.log_in() == 3000
    await client.clock.advance(3.0)
    client.session.admit(ApiKey.FETCH)
    await client.clock.advance(0.001)
    with pytest.raises(IllegalSaslStateError, match=r"the session of User:alice is over.*Fetch"):
        client.session.admit(ApiKey.FETCH)


async def test_a_client_authenticates_again_and_the_session_is_longer() -> None:
    client = Client(max_reauth_ms=3000)
    client.log_in()
    await client.clock.advance(2.0)
    assert client.log_in() == 3000
    await client.clock.advance(2.0)
    client.session.admit(ApiKey.FETCH)
    assert client.logins == ["User:alice"]


async def test_a_client_authenticates_again_even_after_the_end() -> None:
    client = Client(max_reauth_ms=3000)
    client.log_in()
    await client.clock.advance(10.0)
    assert client.log_in() == 3000


async def test_within_a_second_there_is_no_second_re_authentication() -> None:
    client = Client(max_reauth_ms=3000)
    client.log_in()
    client.log_in()  # the first one, which may come at once
    await client.clock.advance(0.999)
    client.session.admit(ApiKey.SASL_HANDSHAKE)
    assert client.session.is_complete  # so the handler answers ILLEGAL_SASL_STATE
    await client.clock.advance(0.001)
    assert client.log_in() == 3000


def test_without_an_end_there_is_no_re_authentication() -> None:
    client = Client()
    client.log_in()
    client.session.admit(ApiKey.SASL_HANDSHAKE)
    assert client.session.is_complete


def test_a_re_authentication_may_not_change_the_principal() -> None:
    client = Client(max_reauth_ms=3000)
    client.log_in()
    with pytest.raises(
        LoginRefusedError,
        match=r"Cannot change principals during re-authentication from User\.alice: User\.bob",
    ):
        client.log_in(b"\0bob\0builder")
    assert client.session.has_failed


def test_a_re_authentication_may_not_change_the_mechanism() -> None:
    client = Client(max_reauth_ms=3000)
    client.log_in()
    assert client.handshake("OTHER")
    assert not client.session.has_failed  # the response to the handshake is good
    with pytest.raises(IllegalSaslStateError):
        client.session.admit(ApiKey.SASL_AUTHENTICATE)


def test_a_malformed_token_names_the_re_authentication() -> None:
    client = Client(3000, malformed_after(1))
    client.log_in(mechanism="OTHER")
    with pytest.raises(LoginRefusedError, match="failed during re-authentication due to"):
        client.log_in(mechanism="OTHER")


@pytest.mark.parametrize(("max_reauth_ms", "lifetime_ms"), [(0, 5000), (9000, 5000), (2000, 2000)])
async def test_a_session_ends_with_its_credentials_at_the_latest(
    max_reauth_ms: int, lifetime_ms: int
) -> None:
    clock = FakeClock()

    def expiring() -> Exchange:
        yield b""
        return Accepted("alice", expires_at_ms=int(clock.time() * 1000) + 5000)

    client = Client(max_reauth_ms, expiring)
    client.clock = client.session._clock = clock
    assert client.log_in(b"", "OTHER") == lifetime_ms
    await clock.advance(lifetime_ms / 1000 + 0.001)
    with pytest.raises(IllegalSaslStateError, match="is over"):
        client.session.admit(ApiKey.METADATA)
