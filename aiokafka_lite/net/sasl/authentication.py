"""Carries the tokens of a SASL mechanism in Kafka's requests: SaslHandshake, then SaslAuthenticate.

The same steps authenticate a new connection, and an open one again (KIP-368). Without IO: `Opening`
and `reauthentication` run the steps. Source: KIP-43, KIP-152, KIP-368. Does not wait.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final, NoReturn

from aiokafka_lite.errors import (
    AuthenticationFailedError,
    IllegalArgumentError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaProtocolError,
    KafkaTimeoutError,
    SaslAuthenticationFailed,
    for_code,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.handshake import AuthenticationStep, AuthenticationSteps, HandshakeRequest
from aiokafka_lite.net.sasl.mechanism import SaslExchange, SaslMechanismFactory
from aiokafka_lite.protocol.message_header import read_response
from aiokafka_lite.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from aiokafka_lite.protocol.messages.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.secret import Secret

MOST_TOKENS: Final = 32
"""Tokens that one authentication may send. Kerberos with several rounds needs six."""

_UNSUPPORTED_MECHANISM: Final = 33
_ILLEGAL_STATE: Final = 34
_REMEDIES: Final = {
    "PLAIN": "check sasl_plain_username and sasl_plain_password",
    "SCRAM-SHA-256": (
        "check sasl_plain_username and sasl_plain_password, and that the user has SCRAM-SHA-256"
        " credentials in the cluster"
    ),
    "SCRAM-SHA-512": (
        "check sasl_plain_username and sasl_plain_password, and that the user has SCRAM-SHA-512"
        " credentials in the cluster"
    ),
    "OAUTHBEARER": "check the token that sasl_oauth_token_provider gives: its issuer, audience,"
    " scope and expiry",
    "GSSAPI": "check the Kerberos ticket or keytab, and sasl_kerberos_service_name",
}
_WITH_REMEDY: Final = (
    AuthenticationFailedError,
    IllegalArgumentError,
    KafkaConfigurationError,
    KafkaTimeoutError,
)
"""Errors of our providers and mechanisms, whose texts say the remedy."""
_REMEDY_OF_OTHERS: Final = "check the credentials that the mechanism uses"


class SaslAuthentication:
    """Makes the steps of each authentication of a client: a `net.security.Authentication`."""

    def __init__(self, make_mechanism: SaslMechanismFactory) -> None:
        self._make_mechanism = make_mechanism

    def __call__(self, endpoint: Endpoint, versions: NodeApiVersions) -> AuthenticationSteps:
        """Return the steps; they return the lifetime of the session in ms, 0 for no end.

        The first token is made before anything is sent, so that a provider which waits keeps no
        request of the connection waiting.

        The errors come out of `send()` and `throw()` of the generator.
        Raises: AuthenticationFailedError, which names the mechanism, what the node or the mechanism
        said, and the remedy; its cause is the error of the node's code, or that of the mechanism.
        KafkaConnectionError and KafkaProtocolError do not concern the credentials.
        """
        mechanism = self._make_mechanism()
        name = mechanism.name
        try:
            return (yield from _authenticate(name, mechanism.exchange(endpoint.host), versions))
        except (AuthenticationFailedError, KafkaConnectionError, KafkaProtocolError):
            raise
        except Exception as error:  # noqa: BLE001  of the node, or of a mechanism that is none
            _fail(name, reason_of(error), error)


def _authenticate(
    name: str, exchange: SaslExchange, versions: NodeApiVersions
) -> Generator[AuthenticationStep, Any, int]:
    token = yield from _next_token(name, exchange, None)
    version = yield from _choose(name, versions)
    session_lifetime_ms = 0
    for _ in range(MOST_TOKENS):
        if token is None:
            return session_lifetime_ms
        if version is None:
            answer = bytes((yield token))
        else:
            answer, session_lifetime_ms = yield from _send(name, token, version)
        token = yield from _next_token(name, exchange, answer)
    raise SaslAuthenticationFailed(f"the exchange has no end after {MOST_TOKENS} tokens")


def _next_token(
    name: str, exchange: SaslExchange, answer: bytes | None
) -> Generator[AuthenticationStep, Any, Secret | None]:
    """Return the client's next token; None when the exchange has ended.

    The errors of providers and of the mechanism are raised here.
    """
    results: list[Any] = []  # empty when the mechanism raises: a result may be a secret
    try:
        step = exchange.send(answer)
        while not isinstance(step, bytes | Secret):
            try:
                results.append((yield step))
            except Exception as error:  # noqa: BLE001  the mechanism raises it, or what it means
                step = exchange.throw(error)
            else:
                step = exchange.send(results.pop())
    except StopIteration:
        return None
    except (KafkaConnectionError, KafkaProtocolError):
        raise
    except Exception as error:  # noqa: BLE001  users write mechanisms and providers
        is_complete = isinstance(error, _WITH_REMEDY)
        _fail(name, reason_of(error), error, "" if is_complete else None)
    return Secret(step)


def _choose(name: str, versions: NodeApiVersions) -> Generator[AuthenticationStep, Any, int | None]:
    """Tell the node the mechanism; return the version of SaslAuthenticate, None for bare tokens."""
    authenticate_version = versions.max_version(SaslAuthenticateRequest)
    highest = 0 if authenticate_version is None else None
    version = versions.pick(SaslHandshakeRequest, highest)
    frame = yield HandshakeRequest(SaslHandshakeRequest(mechanism=name), version)
    answer, _ = read_response(SaslHandshakeResponse, frame, version)
    if answer.error_code == _UNSUPPORTED_MECHANISM:
        offered = ", ".join(answer.mechanisms[:20]) or "none"
        _fail(
            name,
            f"the node does not offer it; it offers {offered}",
            for_code(answer.error_code)(f"{name} is not among the node's mechanisms: {offered}"),
            "set sasl_mechanism to one of them",
        )
    if answer.error_code == _ILLEGAL_STATE:
        _fail(
            name,
            "the node expects no authentication now",
            for_code(answer.error_code)("the node refused SaslHandshake"),
            "set security_protocol to that of the listener; on a listener without SASL it is"
            " 'PLAINTEXT' or 'SSL'",
        )
    if answer.error_code:
        raise for_code(answer.error_code)("the node refused SaslHandshake")
    return authenticate_version if version else None


def _send(
    name: str, token: Secret, version: int
) -> Generator[AuthenticationStep, Any, tuple[bytes, int]]:
    """Return the node's token and the lifetime of the session in ms."""
    frame = yield HandshakeRequest(
        SaslAuthenticateRequest(auth_bytes=token.reveal_bytes()), version
    )
    answer, _ = read_response(SaslAuthenticateResponse, frame, version)
    if answer.error_code:
        said = answer.error_message or "the node gave no reason"
        _fail(name, f"the node refused: {said[:1000]}", for_code(answer.error_code)(said[:1000]))
    return bytes(answer.auth_bytes), max(0, answer.session_lifetime_ms)


def _fail(name: str, reason: str, cause: Exception, remedy: str | None = None) -> NoReturn:
    if remedy is None:
        remedy = _REMEDIES.get(name, _REMEDY_OF_OTHERS)
    text = f"the authentication by {name} failed: {reason}"
    raise AuthenticationFailedError(f"{text}; {remedy}" if remedy else text) from cause


__all__ = ["MOST_TOKENS", "SaslAuthentication"]
