"""SaslHandshake: chooses the mechanism."""

import pytest

from aiokafka_lite.errors import (
    IllegalSaslStateError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeRequest
from aiokafka_lite.testing.broker.handlers.sasl_handshake import HANDLER
from aiokafka_lite.testing.broker.security.plain_server import plain_exchange
from aiokafka_lite.testing.broker.security.sasl_session import SaslSession
from aiokafka_lite.testing.broker.security.session import Session
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.testing.broker.bench import Bench


def new_session(max_reauth_ms: int = 0) -> SaslSession:
    return SaslSession(
        {"PLAIN": lambda: plain_exchange({"alice": "secret"})},
        FakeClock(),
        max_reauth_ms=max_reauth_ms,
        on_login=lambda _: None,
    )


@pytest.mark.parametrize("version", [0, 1])
def test_a_known_mechanism_is_begun(version: int) -> None:
    sasl = new_session()
    request = SaslHandshakeRequest(mechanism="PLAIN")
    answer = Bench().ask(HANDLER, request, version, session=Session(sasl=sasl))
    assert (answer.error_code, answer.mechanisms) == (0, ["PLAIN"])
    assert sasl.awaits_bare_token == (version == 0)


def test_an_unknown_mechanism_is_refused_with_the_known_ones() -> None:
    sasl = new_session()
    request = SaslHandshakeRequest(mechanism="GSSAPI")
    answer = Bench().ask(HANDLER, request, 1, session=Session(sasl=sasl))
    assert answer.error_code == UnsupportedSaslMechanismError.errno
    assert answer.mechanisms == ["PLAIN"]
    assert sasl.has_failed


def test_a_listener_without_sasl_answers_illegal_state() -> None:
    answer = Bench().ask(HANDLER, SaslHandshakeRequest(mechanism="PLAIN"), 1)
    assert (answer.error_code, answer.mechanisms) == (IllegalSaslStateError.errno, [])


def test_a_session_without_an_end_answers_illegal_state() -> None:
    sasl = new_session()
    sasl.choose("PLAIN", has_headers=True)
    sasl.take(b"\0alice\0secret")
    request = SaslHandshakeRequest(mechanism="PLAIN")
    answer = Bench().ask(HANDLER, request, 1, session=Session(sasl=sasl))
    assert answer.error_code == IllegalSaslStateError.errno
    assert sasl.is_complete


def test_an_injected_error_ends_the_authentication() -> None:
    bench, sasl = Bench(), new_session()
    bench.faults.fail(SaslHandshakeRequest, SaslAuthenticationFailed)
    request = SaslHandshakeRequest(mechanism="PLAIN")
    answer = bench.ask(HANDLER, request, 1, session=Session(sasl=sasl))
    assert answer.error_code == SaslAuthenticationFailed.errno
    assert sasl.has_failed
