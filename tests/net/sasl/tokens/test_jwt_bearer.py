"""The grant for a signed assertion."""

from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.net.sasl.tokens.jwt_bearer import GRANT, JwtBearerTokenProvider
from tests.support.token_issuer import TokenIssuer


async def test_a_provider_takes_the_assertion() -> None:
    with TokenIssuer() as issuer:
        provider = JwtBearerTokenProvider(issuer.token_url, lambda: issuer.sign("alice"))
        token = await provider.token()
        assert await provider.token() == token
        assert issuer.issued == 1


async def test_grant_scope_and_assertion_are_sent() -> None:
    forms: list[dict[str, list[str]]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        forms.append(parse_qs(request.content.decode()))
        return httpx.Response(200, json={"access_token": "abc", "expires_in": 60})

    async def assertion() -> str:
        return "signed"

    provider = JwtBearerTokenProvider(
        "https://a/t",
        assertion,
        scope="kafka",
        parameters={"audience": "b"},
        extensions={"poolId": "p"},
        transport=httpx.MockTransport(answer),
    )
    assert await provider.token() == "abc"
    assert forms == [
        {"grant_type": [GRANT], "audience": ["b"], "scope": ["kafka"], "assertion": ["signed"]}
    ]
    assert provider.extensions() == {"poolId": "p"}


@pytest.mark.parametrize("wrong", [None, b"bytes", ""])
async def test_what_is_no_assertion_is_named(wrong: Any) -> None:
    provider = JwtBearerTokenProvider("https://a/t", lambda: wrong)
    with pytest.raises(AuthenticationFailedError, match="`assertion` gave a value of type"):
        await provider.token()
