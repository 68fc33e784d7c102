"""Turns Java's `sasl.oauthbearer.assertion.` properties into a provider of tokens. Does not wait.

Source: KIP-1139.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.secret import Secret

PREFIX: Final = "sasl.oauthbearer.assertion."


def assertion_provider(
    url: str,
    read: Callable[[str], Secret | None],
    find_file: Callable[[str], str | None],
    *,
    scope: str | None,
    extensions: Mapping[str, str] | None,
) -> object:
    """Return the provider for the grant `jwt-bearer`.

    `read` gives the property of a name, and `find_file` the path of the file that it names.

    Raises: KafkaConfigurationError, which names the property, for a value that is missing or wrong.
    """
    from aiokafka_lite.net.sasl.tokens.jwt_bearer import JwtBearerTokenProvider  # noqa: PLC0415
    from aiokafka_lite.net.sasl.tokens.token_file import FileTokenProvider  # noqa: PLC0415

    def text(name: str) -> str | None:
        found = read(PREFIX + name)
        return None if found is None else found.reveal_text().strip()

    signed_by_others = find_file(f"{PREFIX}file")
    key_file = find_file(f"{PREFIX}private.key.file")
    if signed_by_others is not None:
        assertion: Any = FileTokenProvider(signed_by_others).token
    elif key_file is not None:
        assertion = _signed(key_file, read(f"{PREFIX}private.key.passphrase"), text)
    else:
        raise KafkaConfigurationError(
            f"the grant jwt-bearer needs an assertion; set {PREFIX}file or {PREFIX}private.key.file"
        )
    return JwtBearerTokenProvider(url, assertion, scope=scope, extensions=extensions)


def _signed(key_file: str, password: Secret | None, text: Callable[[str], str | None]) -> object:
    from aiokafka_lite.net.sasl.tokens.signed_assertion import (  # noqa: PLC0415
        LIFETIME_S,
        NOT_BEFORE_S,
        SignedAssertion,
    )

    algorithm: Any = (text("algorithm") or "RS256").upper()
    return SignedAssertion(
        key_file,
        algorithm=algorithm,
        password=password,
        issuer=text("claim.iss"),
        subject=text("claim.sub"),
        audience=text("claim.aud"),
        lifetime_s=_seconds("claim.exp.seconds", text, LIFETIME_S),
        not_before_s=_seconds("claim.nbf.seconds", text, NOT_BEFORE_S),
        has_id=(text("claim.jti.include") or "").lower() == "true",
    )


def _seconds(name: str, text: Callable[[str], str | None], default: int) -> int:
    given = text(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdigit()):
        raise KafkaConfigurationError(f"{PREFIX}{name}={quoted(given)} is no number of seconds")
    return int(given)


__all__ = ["PREFIX", "assertion_provider"]
