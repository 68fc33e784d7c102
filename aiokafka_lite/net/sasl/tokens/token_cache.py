"""Keeps a token until shortly before its expiry, and lets all callers share one fetch.

It has no task: the caller that finds the token old fetches the next one, and the others wait for
it. Clients authenticate again before a session ends, and a session ends with its token. So a fresh
token is fetched ahead of the expiry of the old one.
"""

import asyncio
import base64
import json
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.secret import Secret

REFRESH_FROM: Final = 0.75
REFRESH_TO: Final = 0.85
"""Parts of a token's lifetime between which the next one is fetched. Source:
sasl.login.refresh.window.factor and jitter."""
LAST_USE_S: Final = 10.0
"""A token that is valid for fewer seconds than this is not used."""
RETRY_S: Final = 5.0
"""Seconds after a failed fetch during which the old token is used without another fetch."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FetchedToken:
    """A token and when it expires, in seconds since the epoch; None: at a time not known."""

    text: Secret
    expires_s: float | None


class TokenCache:
    """The present token of one provider. It belongs to one event loop at a time."""

    def __init__(
        self,
        name: str,
        fetch: Callable[[], Awaitable[FetchedToken]],
        *,
        timeout_s: float,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
    ) -> None:
        """`name` stands in errors. `timeout_s` bounds one fetch."""
        self._name = name
        self._fetch = fetch
        self._timeout_s = timeout_s
        self._clock = clock
        self._rng = rng or random.Random()
        self._waits = LongWaits(clock, "token provider")
        self._token: FetchedToken | None = None
        self._refresh_at_s = 0.0
        self._fresh_until_s = 0.0  # the same by `monotonic()`, which nobody sets back
        self._failures = 0
        self._failure: Exception | None = None
        self._lock: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def get(self) -> str:
        """Return a token that is valid for `LAST_USE_S` at least.

        Raises: AuthenticationFailedError if it cannot be fetched within the bound; its cause is
        what happened.
        Cancelled: another caller that waits fetches the token.
        """
        token = self._token
        if token is not None and self._is_fresh():
            return token.text.reveal_text()
        failures = self._failures
        async with self._lock_of_loop():
            token = self._token
            if token is not None and self._is_fresh():
                return token.text.reveal_text()
            if self._failures > failures:  # the fetch that this call waited for
                raise self._error() from self._failure
            return await self._next(token)

    async def _next(self, old: FetchedToken | None) -> str:
        try:
            with self._waits.of(f"a token from {self._name}", "check that source"):
                async with deadline(self._clock, self._timeout_s):
                    token = await self._fetch()
        except Exception as error:
            self._failure = error
            now_s = self._clock.time()
            if old is not None and old.expires_s is not None and old.expires_s - now_s > LAST_USE_S:
                self._refresh_in(min(RETRY_S, old.expires_s - LAST_USE_S - now_s))
                logger.warning("%s; the old token is used", self._error().args[0])
                return old.text.reveal_text()
            self._failures += 1
            raise self._error() from error
        self._token = token
        self._refresh_in(self._time_to_use(token))
        return token.text.reveal_text()

    def _is_fresh(self) -> bool:
        clock = self._clock
        return clock.time() < self._refresh_at_s and clock.monotonic() < self._fresh_until_s

    def _refresh_in(self, delay_s: float) -> None:
        self._refresh_at_s = self._clock.time() + delay_s
        self._fresh_until_s = self._clock.monotonic() + delay_s

    def _time_to_use(self, token: FetchedToken) -> float:
        if token.expires_s is None:
            return 0.0  # each authentication fetches its own
        lifetime_s = token.expires_s - self._clock.time()
        if lifetime_s <= 0:
            logger.warning("%s gave a token that has expired already", self._name)
        return lifetime_s * self._rng.uniform(REFRESH_FROM, REFRESH_TO)

    def _error(self) -> AuthenticationFailedError:
        error = self._failure
        timed_out = isinstance(error, TimeoutError) and not error.args
        why = "" if error is None else reason_of(error)
        if timed_out:
            why = f"no answer within {self._timeout_s:g} s"
        return AuthenticationFailedError(f"{self._name} gave no token: {why}")

    def _lock_of_loop(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        if self._lock is None or self._lock[0] is not loop:
            self._lock = (loop, asyncio.Lock())
        return self._lock[1]


def jwt_expiry(token: Secret) -> float | None:
    """Return when a JSON Web Token expires, in seconds since the epoch; None if it does not say.

    The signature is not checked: only the node can judge the token.
    Source: RFC 7519, section 4.1.4.
    """
    try:
        payload = token.reveal_text().split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return float(claims["exp"])
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None


__all__ = [
    "LAST_USE_S",
    "REFRESH_FROM",
    "REFRESH_TO",
    "RETRY_S",
    "FetchedToken",
    "TokenCache",
    "jwt_expiry",
]
