"""The broker's side of SASL OAUTHBEARER, and its tokens without a signature. Does not wait.

Source: RFC 7628, OAuthBearerSaslServer, OAuthBearerUnsecuredValidatorCallbackHandler.
"""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from typing import Any

from aiokafka_lite.clock import Clock
from aiokafka_lite.testing.broker.security.mechanism import (
    Accepted,
    Exchange,
    LoginRefusedError,
    SaslFormatError,
)

Claims = Mapping[str, Any]
TokenValidator = Callable[[str], Claims]
"""Returns the claims of a token: "sub", the user, and "exp", its end in seconds since 1970.

It raises any exception to refuse the token. `jwt.decode` of PyJWT is of this form.
"""

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_FIRST = re.compile(
    rf"n,(?:a=(?P<authzid>{_NAME}))?,\x01(?P<pairs>(?:[A-Za-z]+=[\x21-\x7e \t\r\n]+\x01)*)\x01"
)
_AUTH = re.compile(r"(?P<scheme>\w+) +(?P<token>[-_.a-zA-Z0-9]+)")
_REFUSAL = '{"status":"invalid_token"}'


def oauthbearer_exchange(validate: TokenValidator) -> Exchange:
    """Take a bearer token, and accept the user it names.

    A refused token is answered with a text; the client confirms it and is refused then (RFC 7628,
    section 3.2.3).

    Raises: LoginRefusedError, SaslFormatError.
    """
    message = yield b""
    authorization_id, token = _parts(message)
    try:
        claims = validate(token)
        name, expires_at_ms = _owner(claims)
    except Exception as error:
        if (yield _REFUSAL.encode()) != b"\x01":
            raise SaslFormatError("a refusal is confirmed by the one byte 0x01") from error
        raise LoginRefusedError(_REFUSAL) from error
    if authorization_id not in ("", name):
        raise LoginRefusedError(
            "Authentication failed: Client requested an authorization id "
            f"({authorization_id}) that is different from the token's principal name ({name})"
        )
    return Accepted(name, expires_at_ms=expires_at_ms)


def _parts(message: bytes) -> tuple[str, str]:
    found = _FIRST.fullmatch(message.decode("utf-8", "replace"))
    if found is None:
        raise SaslFormatError("this is no OAUTHBEARER message")
    pairs = dict(pair.split("=", 1) for pair in found["pairs"].split("\x01")[:-1])
    auth = _AUTH.fullmatch(pairs.get("auth", ""))
    if auth is None or auth["scheme"].lower() != "bearer":
        raise SaslFormatError("the message has no bearer token")
    return found["authzid"] or "", auth["token"]


def _owner(claims: Claims) -> tuple[str, int | None]:
    name, end = claims["sub"], claims.get("exp")
    if not isinstance(name, str) or not name:
        raise ValueError(f"the claim sub is a user's name, got {name!r}")
    return name, None if end is None else int(end * 1000)


def unsecured_token(name: str, begin_s: float, end_s: float) -> str:
    """Return a token without a signature for the user `name`; times in seconds since 1970."""
    header = {"alg": "none"}
    claims = {"sub": name, "iat": begin_s, "exp": end_s}
    return f"{_encoded(header)}.{_encoded(claims)}."


def check_unsecured(token: str, clock: Clock) -> Claims:
    """Return the claims of a token without a signature. Raises: ValueError if it is not valid."""
    header, claims, signature = token.split(".")
    if signature or _decoded(header).get("alg") != "none":
        raise ValueError("the token has a signature, and this broker has no key for it")
    found = _decoded(claims)
    begin, end = found.get("iat"), found["exp"]
    now_s = clock.time()
    if end <= now_s:
        raise ValueError("the token has expired")
    if begin is not None and (begin > now_s or begin >= end):
        raise ValueError("the token is not valid yet, or for no time")
    return found


def _encoded(part: Mapping[str, Any]) -> str:
    return urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def _decoded(part: str) -> dict[str, Any]:
    found = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    if not isinstance(found, dict):
        raise ValueError("a part of a token is a JSON object")  # noqa: TRY004 - as all others
    return found


__all__ = ["TokenValidator", "check_unsecured", "oauthbearer_exchange", "unsecured_token"]
