"""A provider that fetches: the token is kept until it gets old, and an error names its source."""

import pytest

from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.net.sasl.tokens.cached_token_provider import CachedTokenProvider
from aiokafka_lite.net.sasl.tokens.token_cache import FetchedToken
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.fake_clock import FakeClock


class Counting(CachedTokenProvider):
    """Its tokens are numbered, and live for an hour."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__("the counter", extensions={"a": "b"}, timeout_s=3.0, clock=clock, rng=None)
        self.clock, self.count, self.is_broken = clock, 0, False

    async def _fetch(self) -> FetchedToken:
        if self.is_broken:
            raise OSError("no numbers")
        self.count += 1
        return FetchedToken(Secret(f"token {self.count}"), self.clock.time() + 3600)


async def test_a_token_is_kept_until_it_gets_old() -> None:
    provider = Counting(FakeClock())
    assert [await provider.token(), await provider.token()] == ["token 1", "token 1"]
    assert provider.extensions() == {"a": "b"}
    await provider.clock.advance(3550)
    assert await provider.token() == "token 2"


async def test_an_error_names_the_source_of_the_tokens() -> None:
    provider = Counting(FakeClock())
    provider.is_broken = True
    with pytest.raises(AuthenticationFailedError, match="the counter"):
        await provider.token()
