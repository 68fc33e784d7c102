"""OAUTHBEARER: the message, the node's challenge, and providers that give no token."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaTimeoutError,
    SaslAuthenticationFailed,
)
from aiokafka_lite.net.sasl.oauthbearer import (
    OauthBearerMechanism,
    first_message,
    hidden_token,
    refusal,
)
from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.net.support.sasl_exchanges import tokens_of


class Known(AbstractTokenProvider):
    def __init__(self, token: Any = "abc.def.", extensions: Any = None) -> None:
        self._token = token
        self._extensions = extensions

    async def token(self) -> str:
        found: str = self._token
        return found

    def extensions(self) -> Mapping[str, str]:
        found: Mapping[str, str] = super().extensions()
        return found if self._extensions is None else self._extensions


async def sent_by(provider: AbstractTokenProvider, *answers: bytes) -> list[bytes]:
    return await tokens_of(OauthBearerMechanism(provider).exchange("h"), answers or [b""])


async def test_the_message_has_the_token_and_the_extensions() -> None:
    assert await sent_by(Known()) == [b"n,,\x01auth=Bearer abc.def.\x01\x01"]
    extended = Known(extensions={"logicalCluster": "lkc-1", "identityPoolId": "pool-2"})
    assert await sent_by(extended) == [
        b"n,,\x01auth=Bearer abc.def.\x01logicalCluster=lkc-1\x01identityPoolId=pool-2\x01\x01"
    ]


async def test_a_challenge_is_answered_and_is_the_error_if_the_node_sends_none() -> None:
    """The node sends its error after one more message (RFC 7628, section 3.2.3)."""
    sent: list[bytes] = []

    def then(token: bytes) -> bytes:
        sent.append(token)
        return b""

    exchange = OauthBearerMechanism(Known()).exchange("h")
    with pytest.raises(SaslAuthenticationFailed, match="refused the token: invalid_token"):
        await tokens_of(exchange, [b'{"status":"invalid_token"}', then])
    assert sent == [b"\x01"]


@pytest.mark.parametrize("token", [None, 7, b"abc", "", "Bearer abc", "a\x01b", "a b", "\u00e9"])
async def test_what_is_no_token_is_refused_and_not_shown(token: Any) -> None:
    with pytest.raises(IllegalArgumentError, match="token provider Known gave a") as caught:
        await sent_by(Known(token))
    if token:
        assert repr(token) not in str(caught.value)


@pytest.mark.parametrize(
    "extensions",
    [7, {"auth": "x"}, {"a1": "x"}, {"": "x"}, {1: "x"}, {"a": 1}, {"a": "\x01"}, {"a": "\u00e9"}],
)
async def test_extensions_that_cannot_be_sent_are_refused(extensions: Any) -> None:
    with pytest.raises(IllegalArgumentError, match="extension"):
        await sent_by(Known(extensions=extensions))


async def test_a_provider_prepares_itself_before_the_bound_of_its_token_begins() -> None:
    clock = FakeClock(autojump_threshold_s=0.01)

    class Slow(Known):
        async def prepare(self) -> None:
            await super().prepare()
            await clock.sleep(8)
            self._token = "prepared"

    mechanism = OauthBearerMechanism(Slow(), provider_timeout_ms=4000, clock=clock)
    sent = await tokens_of(mechanism.exchange("h"), [b""])
    assert sent == [b"n,,\x01auth=Bearer prepared\x01\x01"]


async def test_a_provider_that_prepares_itself_for_ever_is_given_up() -> None:
    clock = FakeClock(autojump_threshold_s=0.01)

    class Hangs(Known):
        async def prepare(self) -> None:
            await asyncio.get_running_loop().create_future()

    mechanism = OauthBearerMechanism(Hangs(), prepare_timeout_ms=5000, clock=clock)
    says = r"prepare\(\) of the token provider Hangs gave nothing within 5,000 ms; raise socket_"
    with pytest.raises(KafkaTimeoutError, match=says):
        await tokens_of(mechanism.exchange("h"), [b""])


async def test_a_provider_of_another_client_has_nothing_to_prepare() -> None:
    class Foreign:
        token = Known().token
        extensions = Known().extensions

    provider: Any = Foreign()
    assert await sent_by(provider) == [b"n,,\x01auth=Bearer abc.def.\x01\x01"]


async def test_the_error_of_a_provider_is_raised() -> None:
    class Sealed(Known):
        async def token(self) -> str:
            raise LookupError("the vault is sealed")

    with pytest.raises(LookupError, match="the vault is sealed"):
        await sent_by(Sealed())


@pytest.mark.parametrize("challenge", [b"\xff", b"[]", b"7", b'{"a":1}', b"[" * 100_000])
def test_a_challenge_that_is_no_json_object_is_quoted(challenge: bytes) -> None:
    assert refusal(challenge).startswith("the node refused the token: '")
    assert len(refusal(challenge)) < 600 * 4


@given(st.text(max_size=50), st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3))
def test_what_is_sent_has_no_field_that_the_provider_did_not_name(
    token: str, extensions: dict[str, str]
) -> None:
    try:
        message = first_message(hidden_token(token, "it"), extensions, "it").reveal_bytes()
    except IllegalArgumentError:
        return
    header, *fields, end, last = message.decode("ascii").split("\x01")
    assert (header, end, last) == ("n,,", "", "")
    assert fields == [f"auth=Bearer {token}", *(f"{k}={v}" for k, v in extensions.items())]


@given(st.binary(max_size=300))
def test_no_challenge_causes_an_error(challenge: bytes) -> None:
    assert refusal(challenge)
