"""What a SASL mechanism is to the broker: a generator that takes tokens and gives tokens.

Client and broker share no code of the mechanisms on purpose: so each is a witness for the other.
Does not wait.
"""

from collections.abc import Callable, Generator
from typing import NamedTuple


class Accepted(NamedTuple):
    """The end of a successful exchange."""

    name: str
    """The user's name, without the `User:` of the principal."""
    answer: bytes = b""
    """The last token for the client."""
    expires_at_ms: int | None = None
    """When the credentials end, in milliseconds since 1970; None: never."""
    is_token: bool = False
    """Whether a delegation token stands for the user."""


Exchange = Generator[bytes, bytes, Accepted]
"""Takes the client's tokens by `send`, yields the broker's; its first yield is empty."""
MakeExchange = Callable[[], Exchange]


class LoginRefusedError(Exception):
    """The client's credentials are wrong. The client reads this text."""


class SaslFormatError(Exception):
    """A token breaks the rules, or a secret is wrong. The client learns only that it failed."""


__all__ = ["Accepted", "Exchange", "LoginRefusedError", "MakeExchange", "SaslFormatError"]
