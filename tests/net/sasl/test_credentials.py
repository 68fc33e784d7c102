"""Credentials are checked and never shown; a provider that raises, hangs or lies is named."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import IllegalArgumentError, KafkaError, KafkaTimeoutError
from aiokafka_lite.net.sasl.credentials import SaslCredentials, ask_provider
from aiokafka_lite.net.sasl.plain import PlainMechanism
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.net.support.sasl_exchanges import tokens_of


def test_the_password_is_kept_as_a_secret() -> None:
    credentials = SaslCredentials("alice", "open sesame")
    assert credentials == SaslCredentials("alice", Secret("open sesame"))
    assert "sesame" not in repr(credentials)
    assert "alice" in repr(credentials)


@pytest.mark.parametrize(
    ("username", "password", "says"),
    [
        (7, "x", "user name is of type int"),
        ("alice", 7, "password is of type int"),
        ("", "x", "user name is empty"),
        ("alice", "", "password is empty"),
        ("a\0b", "x", "user name has a NUL"),
        ("alice", "sesame\0", "password has a NUL"),
        ("alice", "sesame\ud800", "password is not valid Unicode"),
        ("alice", b"sesame\xff", "password is not valid Unicode"),
    ],
)
def test_what_cannot_be_sent_is_refused(username: Any, password: Any, says: str) -> None:
    with pytest.raises(IllegalArgumentError, match=says) as caught:
        SaslCredentials(username, password)
    assert "sesame" not in str(caught.value)


async def test_a_provider_may_return_a_value_or_an_awaitable_of_it() -> None:
    async def later() -> int:
        return 2

    assert await ask_provider(lambda: 1, "it") == 1
    assert await ask_provider(later, "it") == 2


async def test_a_provider_that_hangs_is_ended_after_the_bound() -> None:
    clock = FakeClock()
    ended: list[bool] = []

    async def hangs() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append(True)

    asking = asyncio.ensure_future(ask_provider(hangs, "the vault", 4_000, clock))
    await settle()
    await clock.advance(3.9)
    assert not asking.done()
    await clock.advance(0.2)
    with pytest.raises(KafkaTimeoutError, match="the vault gave nothing within 4,000 ms; raise"):
        await asking
    assert ended == [True]


async def test_the_errors_of_a_provider_are_its_own() -> None:
    async def slow() -> None:
        raise TimeoutError("the vault is slow")

    async def cancelled() -> None:
        raise asyncio.CancelledError

    with pytest.raises(TimeoutError, match="the vault is slow"):
        await ask_provider(slow, "it")
    with pytest.raises(KafkaError, match="it was cancelled by its own code"):
        await ask_provider(cancelled, "it")


async def test_a_caller_that_is_cancelled_cancels_the_provider() -> None:
    async def hangs() -> None:
        await asyncio.get_running_loop().create_future()

    asking = asyncio.ensure_future(ask_provider(hangs, "it"))
    await settle()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_provider_of_something_else_is_named() -> None:
    provider: Any = lambda: ("alice", "sesame")  # noqa: E731
    with pytest.raises(IllegalArgumentError, match=r"of type tuple; .*SaslCredentials") as caught:
        await tokens_of(PlainMechanism(provider).exchange("h"), [])
    assert "sesame" not in str(caught.value)
