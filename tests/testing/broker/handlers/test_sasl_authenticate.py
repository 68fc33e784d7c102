"""SaslAuthenticate: the tokens of the mechanism."""

from aiokafka_lite.errors import IllegalSaslStateError, SaslAuthenticationFailed
from aiokafka_lite.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from aiokafka_lite.testing.broker.handlers.sasl_authenticate import HANDLER
from aiokafka_lite.testing.broker.security.sasl_session import SaslSession
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench
from tests.testing.broker.handlers.test_sasl_handshake import new_session

ALICE = b"\0alice\0secret"


def begun(max_reauth_ms: int = 0) -> SaslSession:
    sasl = new_session(max_reauth_ms)
    sasl.choose("PLAIN", has_headers=True)
    return sasl


def ask(sasl: SaslSession, token: bytes, bench: Bench | None = None) -> SaslAuthenticateResponse:
    request = SaslAuthenticateRequest(auth_bytes=token)
    return (bench or Bench()).ask(HANDLER, request, 2, session=Session(sasl=sasl))


def test_the_right_password_completes_and_tells_the_lifetime() -> None:
    sasl = begun(max_reauth_ms=3000)
    answer = ask(sasl, ALICE)
    assert (answer.error_code, answer.auth_bytes, answer.session_lifetime_ms) == (0, b"", 3000)
    assert sasl.is_complete


def test_the_wrong_password_is_refused_in_words() -> None:
    sasl = begun()
    answer = ask(sasl, b"\0alice\0wrong")
    assert answer.error_code == SaslAuthenticationFailed.errno
    assert answer.error_message == "Authentication failed: Invalid username or password"
    assert sasl.has_failed


def test_after_the_authentication_it_is_out_of_place() -> None:
    sasl = begun()
    ask(sasl, ALICE)
    answer = ask(sasl, ALICE)
    assert answer.error_code == IllegalSaslStateError.errno
    assert answer.error_message is not None
    assert "after successful authentication" in answer.error_message
    assert Bench().ask(HANDLER, SaslAuthenticateRequest(), 2).error_code == (
        IllegalSaslStateError.errno
    )


def test_an_injected_error_ends_the_authentication() -> None:
    bench, sasl = Bench(), begun()
    bench.faults.fail(SaslAuthenticateRequest, SaslAuthenticationFailed)
    assert ask(sasl, ALICE, bench).error_code == SaslAuthenticationFailed.errno
    assert sasl.has_failed
