"""The delegation tokens of one cluster, stored by their ids. Does not wait.

Source: DelegationTokenControlManager, DelegationTokenManager.filterToken; KIP-48, KIP-373.
"""

import hmac
import secrets
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import (
    DelegationTokenExpired,
    DelegationTokenNotFound,
    DelegationTokenOwnerMismatch,
)
from aiokafka_lite.testing.broker.security.scram_server import BrokerToken

MAX_LIFETIME_MS = 7 * 86_400_000
"""Java: delegation.token.max.lifetime.ms."""
EXPIRY_MS = 86_400_000
"""A token ends this long after it was made or renewed. Java: delegation.token.expiry.time.ms."""


@dataclass(frozen=True, slots=True)
class StoredToken:
    """One token. Owners and renewers are principals such as "User:alice"."""

    token_id: str
    hmac: bytes = field(repr=False)
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_ms: int
    expiry_ms: int
    max_ms: int

    def is_of(self, principal: str) -> bool:
        """Return whether a user owns the token or may renew it."""
        return principal == self.owner or principal in self.renewers


class DelegationTokens:
    """The tokens of one cluster. Expired ones are refused, but described until they are removed."""

    def __init__(self, clock: Clock, given: Mapping[str, BrokerToken]) -> None:
        """`given` are tokens of the broker's options, which never end."""
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._given = given
        self._tokens: dict[str, StoredToken] = {}

    def find(self, token_id: str) -> tuple[BrokerToken, int | None] | None:
        """Return a token that a client may log in with, and its end; None without one."""
        stored = self._tokens.get(token_id)
        if stored is not None and stored.expiry_ms >= self._now_ms():
            owner = stored.owner.partition(":")[2]
            password = b64encode(stored.hmac).decode()
            return BrokerToken(owner, password), stored.expiry_ms
        given = self._given.get(token_id)
        return None if given is None else (given, None)

    def create(
        self, owner: str, requester: str, renewers: Sequence[str], max_lifetime_ms: int
    ) -> StoredToken:
        """Store and return a new token."""
        now_ms = self._now_ms()
        token_id = urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")
        max_ms = now_ms + _period(max_lifetime_ms, MAX_LIFETIME_MS)
        token = StoredToken(
            token_id,
            hmac.digest(self._secret, token_id.encode(), "sha512"),
            owner,
            requester,
            tuple(renewers),
            now_ms,
            min(max_ms, now_ms + EXPIRY_MS),
            max_ms,
        )
        self._tokens[token_id] = token
        return token

    def renew(self, mac: bytes, principal: str, period_ms: int) -> int:
        """Let a token live longer, and return its end.

        Raises: DelegationTokenNotFound; DelegationTokenExpired; DelegationTokenOwnerMismatch.
        """
        token = self._of(mac)
        _check_not_over(token, self._now_ms())
        _check_is_of(token, principal)
        expiry_ms = min(token.max_ms, self._now_ms() + _period(period_ms, EXPIRY_MS))
        self._tokens[token.token_id] = replace(token, expiry_ms=expiry_ms)
        return expiry_ms

    def expire(self, mac: bytes, principal: str, period_ms: int) -> int:
        """End a token after `period_ms`, at once if it is below 0, and return its end.

        Raises: as `renew`, but an expired token may be ended at once.
        """
        token = self._of(mac)
        _check_is_of(token, principal)
        if period_ms < 0:
            del self._tokens[token.token_id]
            return self._now_ms()
        _check_not_over(token, self._now_ms())
        expiry_ms = min(token.max_ms, self._now_ms() + period_ms)
        self._tokens[token.token_id] = replace(token, expiry_ms=expiry_ms)
        return expiry_ms

    def described(
        self,
        principal: str,
        owners: Sequence[str] | None,
        may_describe: Callable[[StoredToken], bool],
    ) -> Iterator[StoredToken]:
        """Yield the tokens of `owners` (None: of all) that a user owns, renews or may describe."""
        for token in self._tokens.values():
            is_wanted = owners is None or any(token.is_of(owner) for owner in owners)
            if is_wanted and (token.is_of(principal) or may_describe(token)):
                yield token

    def _of(self, mac: bytes) -> StoredToken:
        token = next((each for each in self._tokens.values() if each.hmac == mac), None)
        if token is None:
            raise DelegationTokenNotFound("no delegation token has this HMAC")
        return token

    def _now_ms(self) -> int:
        return int(self._clock.time() * 1000)


def _check_not_over(token: StoredToken, now_ms: int) -> None:
    if token.expiry_ms < now_ms:
        raise DelegationTokenExpired(f"token {token.token_id} ended at {token.expiry_ms} ms")


def _check_is_of(token: StoredToken, principal: str) -> None:
    if not token.is_of(principal):
        raise DelegationTokenOwnerMismatch(f"token {token.token_id} is not {principal}'s")


def _period(asked_ms: int, limit_ms: int) -> int:
    return min(limit_ms, asked_ms) if asked_ms > 0 else limit_ms


__all__ = ["DelegationTokens", "StoredToken"]
