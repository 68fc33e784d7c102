"""OAUTHBEARER: the client shows a token. Source: RFC 7628, KIP-255, KIP-342 (extensions)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import IllegalArgumentError, SaslAuthenticationFailed
from aiokafka_lite.net.sasl.credentials import ask_provider
from aiokafka_lite.net.sasl.mechanism import SaslExchange
from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider
from aiokafka_lite.net.security import PROVIDER_TIMEOUT_MS
from aiokafka_lite.secret import Secret

_TOKEN: Final = re.compile(r"[A-Za-z0-9\-._~+/]+=*")
_KEY: Final = re.compile(r"[A-Za-z]+")
_VALUE: Final = re.compile(r"[\x21-\x7e \t\r\n]*")
_MOST_SHOWN: Final = 500
PREPARE_TIMEOUT_MS: Final = 9_000
"""How long `prepare()` of a provider may take by default."""


class OauthBearerMechanism:
    """OAUTHBEARER with the present token of a provider."""

    name = "OAUTHBEARER"

    def __init__(
        self,
        provider: AbstractTokenProvider,
        *,
        provider_timeout_ms: float = PROVIDER_TIMEOUT_MS,
        prepare_timeout_ms: float = PREPARE_TIMEOUT_MS,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._provider = provider
        self._provider_timeout_ms = provider_timeout_ms
        self._prepare_timeout_ms = prepare_timeout_ms
        self._clock = clock

    def exchange(self, host: str) -> SaslExchange:  # noqa: ARG002  the same for every node
        """Send the token. A node that refuses it may first answer with a challenge in JSON.

        Only after one more message does the node send its error. If it does not, the challenge is
        the error.
        """
        what = f"the token provider {type(self._provider).__name__}"
        prepare = getattr(self._provider, "prepare", None)  # absent in providers of other clients
        if prepare is not None:
            yield ask_provider(
                prepare,
                f"prepare() of {what}",
                self._prepare_timeout_ms,
                self._clock,
                option="socket_connection_setup_timeout_ms",
            )
        token = yield self._present_token(what)
        challenge = yield first_message(token, self._provider.extensions(), what)
        if challenge:
            yield b"\x01"
            raise SaslAuthenticationFailed(refusal(challenge))

    async def _present_token(self, what: str) -> Secret:
        return hidden_token(
            await ask_provider(self._provider.token, what, self._provider_timeout_ms, self._clock),
            what,
        )


def hidden_token(token: object, what: str) -> Secret:
    """Return what the provider, named `what`, gave as its token. Texts of errors do not show it.

    Raises: IllegalArgumentError if it is no token that can be sent.
    """
    kind = "an empty str" if token == "" else f"a value of type {type(token).__name__}"
    if isinstance(token, str) and _TOKEN.fullmatch(token):
        return Secret(token)
    del token  # the frames of the error must not show it
    raise IllegalArgumentError(
        f"{what} gave {kind} that is no token; `token()` must return a str of letters, digits"
        " and -._~+/= without 'Bearer '"
    )


def first_message(token: Secret, extensions: Any, what: str) -> Secret:
    """Return the client's message.

    Raises: IllegalArgumentError if the provider, named `what`, gave an extension that cannot be
    sent.
    """
    if not isinstance(extensions, Mapping):
        raise IllegalArgumentError(
            f"{what} gave extensions of type {type(extensions).__name__}; return a dict of str"
        )
    fields = []
    for key, value in extensions.items():
        if not isinstance(key, str) or not _KEY.fullmatch(key) or key == "auth":
            raise IllegalArgumentError(
                f"{what} gave the extension {quoted(key)}; its name must have letters only, and "
                "not be 'auth'"
            )
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise IllegalArgumentError(
                f"the value of the extension {quoted(key)} of {what} cannot be sent; it must be a "
                "str of printable ASCII characters"
            )
        fields.append(f"{key}={value}")
    bearer = f"auth=Bearer {token.reveal_text()}"
    return Secret("\x01".join(["n,,", bearer, *fields, "", ""]).encode("ascii"))


def refusal(challenge: bytes) -> str:
    """Return what a node says of a token that it refuses."""
    said = challenge[:_MOST_SHOWN].decode("utf-8", "replace")
    try:
        status = json.loads(challenge)["status"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return f"the node refused the token: {said!r}"
    return f"the node refused the token: {str(status)[:_MOST_SHOWN]} ({said!r})"


__all__ = [
    "PREPARE_TIMEOUT_MS",
    "OauthBearerMechanism",
    "first_message",
    "hidden_token",
    "refusal",
]
