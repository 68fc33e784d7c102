"""Tokens are fetched ahead of their expiry, once for all callers, and within a bound."""

import asyncio
import base64
import json
import random
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.net.sasl.tokens.token_cache import FetchedToken, TokenCache, jwt_expiry
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.fake_clock import FakeClock, settle


class Always(random.Random):
    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


class Source:
    """Gives tokens "1", "2", … that live for a time."""

    def __init__(self, clock: FakeClock, lifetime_s: float | None = 100) -> None:
        self.clock = clock
        self.lifetime_s = lifetime_s
        self.fetches = 0
        self.gate: asyncio.Future[None] | None = None
        self.error: Exception | None = None

    async def fetch(self) -> FetchedToken:
        self.fetches += 1
        text = str(self.fetches)
        if self.gate is not None:
            await asyncio.shield(self.gate)
        if self.error is not None:
            raise self.error
        expires_s = None if self.lifetime_s is None else self.clock.time() + self.lifetime_s
        return FetchedToken(Secret(text), expires_s)


def cache_of(fetch: Callable[[], Awaitable[FetchedToken]], clock: FakeClock) -> TokenCache:
    return TokenCache("the vault", fetch, timeout_s=3, clock=clock, rng=Always())


async def test_a_token_is_used_until_most_of_its_lifetime_is_over() -> None:
    clock = FakeClock()
    source = Source(clock)
    cache = cache_of(source.fetch, clock)
    assert await cache.get() == "1"
    await clock.advance(79)
    assert await cache.get() == "1"
    await clock.advance(2)
    assert await cache.get() == "2"


async def test_a_token_without_a_known_expiry_is_used_once() -> None:
    clock = FakeClock()
    cache = cache_of(Source(clock, None).fetch, clock)
    assert [await cache.get(), await cache.get()] == ["1", "2"]


async def test_callers_share_a_fetch_and_its_failure() -> None:
    clock = FakeClock()
    source = Source(clock)
    source.gate = asyncio.get_running_loop().create_future()
    cache = cache_of(source.fetch, clock)
    calls = [asyncio.ensure_future(cache.get()) for _ in range(5)]
    await settle()
    source.gate.set_result(None)
    assert await asyncio.gather(*calls) == ["1"] * 5
    assert source.fetches == 1

    await clock.advance(200)
    source.error = LookupError("the vault is sealed")
    source.gate = asyncio.get_running_loop().create_future()
    calls = [asyncio.ensure_future(cache.get()) for _ in range(5)]
    await settle()
    source.gate.set_result(None)
    errors = await asyncio.gather(*calls, return_exceptions=True)
    assert source.fetches == 2
    assert len({id(error) for error in errors}) == 5
    for error in errors:
        assert isinstance(error, AuthenticationFailedError)
        assert "the vault gave no token: the vault is sealed" in str(error)
        assert isinstance(error.__cause__, LookupError)

    source.error = None
    assert await cache.get() == "3"


async def test_a_caller_that_gives_up_leaves_the_fetch_to_the_next() -> None:
    clock = FakeClock()
    source = Source(clock)
    source.gate = asyncio.get_running_loop().create_future()
    cache = cache_of(source.fetch, clock)
    first, second = (asyncio.ensure_future(cache.get()) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    source.gate.set_result(None)
    assert await second == "2"


async def test_an_old_token_that_is_still_valid_bridges_a_failure() -> None:
    clock = FakeClock()
    source = Source(clock)
    cache = cache_of(source.fetch, clock)
    await cache.get()
    source.error = LookupError("sealed")
    await clock.advance(81)
    assert [await cache.get(), await cache.get()] == ["1", "1"]
    assert source.fetches == 2
    await clock.advance(5)
    assert await cache.get() == "1"
    assert source.fetches == 3
    await clock.advance(5)
    with pytest.raises(AuthenticationFailedError, match="sealed"):
        await cache.get()


async def test_a_fetch_that_hangs_is_ended() -> None:
    clock = FakeClock()
    source = Source(clock)
    source.gate = asyncio.get_running_loop().create_future()
    call = asyncio.ensure_future(cache_of(source.fetch, clock).get())
    await settle()
    await clock.advance(3.1)
    with pytest.raises(AuthenticationFailedError, match="gave no token: no answer within 3 s"):
        await call


def test_a_cache_serves_one_loop_after_the_other() -> None:
    clock = FakeClock()
    source = Source(clock, None)
    cache = cache_of(source.fetch, clock)

    async def two() -> list[str]:
        return list(await asyncio.gather(cache.get(), cache.get()))

    assert asyncio.run(two()) == ["1", "2"]
    assert asyncio.run(two()) == ["3", "4"]


def jwt(claims: object) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{payload}.sig"


def test_the_expiry_of_a_web_token_is_read() -> None:
    assert jwt_expiry(Secret(jwt({"exp": 1_700_000_000}))) == 1_700_000_000
    assert "secret" not in repr(FetchedToken(Secret("secret"), 1.0))


@pytest.mark.parametrize("token", ["", "a.b.c", "opaque", jwt([]), jwt({}), jwt({"exp": "soon"})])
def test_another_token_has_no_known_expiry(token: str) -> None:
    assert jwt_expiry(Secret(token)) is None


@given(st.text(max_size=80))
def test_no_token_causes_an_error(token: str) -> None:
    jwt_expiry(Secret(token))
