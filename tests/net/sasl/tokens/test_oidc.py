"""Client credentials, against a provider of tokens that answers by HTTP."""

import asyncio
import pickle

import pytest

from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.net.sasl.tokens.oidc import OidcTokenProvider
from tests.support.token_issuer import CLIENT_ID, CLIENT_SECRET, TokenIssuer


@pytest.mark.parametrize("secret_in_body", [False, True])
async def test_a_token_is_fetched_once_and_shared(secret_in_body: bool) -> None:
    with TokenIssuer() as issuer:
        provider = OidcTokenProvider(
            issuer.token_url,
            CLIENT_ID,
            CLIENT_SECRET,
            scope="kafka",
            parameters={"audience": "brokers"},
            extensions={"logicalCluster": "lkc-1"},
            secret_in_body=secret_in_body,
        )
        tokens = await asyncio.gather(*(provider.token() for _ in range(4)))
        assert len(set(tokens)) == 1
        assert await provider.token() == tokens[0]
        assert issuer.issued == 1
    assert tokens[0].count(".") == 2
    assert provider.extensions() == {"logicalCluster": "lkc-1"}


async def test_a_wrong_secret_is_refused_and_not_shown() -> None:
    with TokenIssuer() as issuer:
        provider = OidcTokenProvider(issuer.token_url, CLIENT_ID, "open sesame")
        with pytest.raises(AuthenticationFailedError, match="invalid_client") as caught:
            await provider.token()
    assert f"client {CLIENT_ID!r}" in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_the_secret_is_neither_shown_nor_pickled() -> None:
    provider = OidcTokenProvider("https://a/t", "me", "open sesame")
    assert "sesame" not in repr(vars(provider))
    with pytest.raises(TypeError):
        pickle.dumps(provider)
