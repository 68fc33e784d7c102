"""The broker's side of SASL PLAIN. Does not wait. Source: RFC 4616, PlainSaslServer."""

from collections.abc import Mapping
from hmac import compare_digest

from aiokafka_lite.testing.broker.security.mechanism import (
    Accepted,
    Exchange,
    LoginRefusedError,
)


def plain_exchange(users: Mapping[str, str]) -> Exchange:
    """Take the one token of PLAIN, and accept a user with the right password.

    Raises: LoginRefusedError.
    """
    token = yield b""
    authorization_id, name, password = _parts(token)
    expected = users.get(name)
    if expected is None or not compare_digest(password.encode(), expected.encode()):
        raise LoginRefusedError("Authentication failed: Invalid username or password")
    if authorization_id not in ("", name):
        raise LoginRefusedError(
            "Authentication failed: Client requested an authorization id that is different from "
            "username"
        )
    return Accepted(name)


def _parts(token: bytes) -> tuple[str, str, str]:
    parts = token.decode("utf-8", "replace").split("\0", 3)
    if len(parts) != 3:
        raise LoginRefusedError(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
    authorization_id, name, password = parts
    for part, text in (("username", name), ("password", password)):
        if not text:
            raise LoginRefusedError(f"Authentication failed: {part} not specified")
    return authorization_id, name, password


__all__ = ["plain_exchange"]
