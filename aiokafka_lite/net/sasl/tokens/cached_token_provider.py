"""What providers have in common that fetch their tokens: each is kept until it gets old."""

import random
from abc import abstractmethod
from collections.abc import Mapping

from aiokafka_lite.clock import Clock
from aiokafka_lite.net.sasl.tokens.token_cache import FetchedToken, TokenCache
from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider


class CachedTokenProvider(AbstractTokenProvider):
    """Keeps the token that `_fetch` returns. `source` says in errors where the tokens come from."""

    def __init__(
        self,
        source: str,
        *,
        extensions: Mapping[str, str] | None = None,
        timeout_s: float,
        clock: Clock,
        rng: random.Random | None,
    ) -> None:
        self._extensions = dict(extensions or {})
        self._cache = TokenCache(source, self._fetch, timeout_s=timeout_s, clock=clock, rng=rng)

    async def token(self) -> str:
        """Return the present token, or get another one.

        Raises: AuthenticationFailedError if none came within `timeout_s`.
        Cancelled: another caller that waits gets it.
        """
        return await self._cache.get()

    def extensions(self) -> Mapping[str, str]:
        """Return the extensions that the constructor got."""
        return self._extensions

    @abstractmethod
    async def _fetch(self) -> FetchedToken: ...


__all__ = ["CachedTokenProvider"]
