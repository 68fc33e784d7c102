"""Delegation tokens as the calls return them. Does not wait."""

from base64 import b64encode
from collections.abc import Sequence
from typing import NamedTuple

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.secret import HIDDEN, Secret


class DelegationToken(NamedTuple):
    """A token that stands for its owner until it ends (KIP-48). `repr` hides its HMAC.

    A client logs in with it by SCRAM: `sasl_plain_username=token.token_id`,
    `sasl_plain_password=token.password` and `sasl_scram_tokenauth=True`. Times are milliseconds
    since 1970. Users are principals such as "User:alice".
    """

    token_id: str
    hmac: bytes
    owner: str
    issue_timestamp: int
    expiry_timestamp: int
    max_timestamp: int
    renewers: Sequence[str]

    @property
    def password(self) -> Secret:
        """The HMAC as clients send it: in base64."""
        return Secret(b64encode(self.hmac).decode())

    def __repr__(self) -> str:
        return (
            f"DelegationToken(token_id={quoted(self.token_id)}, hmac={HIDDEN}, "
            f"owner={quoted(self.owner)},"
            f" issue_timestamp={self.issue_timestamp}, expiry_timestamp={self.expiry_timestamp},"
            f" max_timestamp={self.max_timestamp}, renewers={quoted(self.renewers)})"
        )


def principal(user: str) -> tuple[str, str]:
    """Return type and name of a principal. A name without a type stands for a User."""
    kind, colon, name = user.partition(":")
    return (kind, name) if colon else ("User", user)


__all__ = ["DelegationToken", "principal"]
