"""Tokens for a client with a secret: the grant `client_credentials` of an OpenID provider.

Source: RFC 6749, section 4.4; KIP-768.
"""

import random
from collections.abc import Mapping
from ssl import SSLContext
from typing import Any, Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.net.sasl.tokens.cached_token_provider import CachedTokenProvider
from aiokafka_lite.net.sasl.tokens.token_cache import FetchedToken
from aiokafka_lite.net.sasl.tokens.token_endpoint import TokenEndpoint
from aiokafka_lite.secret import Secret, SecretValue

FETCH_TIMEOUT_S: Final = 3.5
"""How long a fetch may take by default: less than `sasl_provider_timeout_ms`."""


class OidcTokenProvider(CachedTokenProvider):
    """Fetches tokens with the id and the secret of a client, and keeps each until it gets old.

    Needs the extra `oauth`. The next token is fetched at 75 to 85 % of the lifetime of the old one.
    If that fails, the old one is used while it is valid. All clients with the same provider, in one
    event loop, share one fetch.
    """

    def __init__(
        self,
        token_url: str,
        client_id: str,
        client_secret: SecretValue,
        *,
        scope: str | None = None,
        parameters: Mapping[str, str] | None = None,
        extensions: Mapping[str, str] | None = None,
        secret_in_body: bool = False,
        header_urlencode: bool = False,
        timeout_s: float = FETCH_TIMEOUT_S,
        verify: SSLContext | bool = True,
        transport: Any = None,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
    ) -> None:
        """`parameters` are sent beside the grant, such as {"audience": "kafka"}; `extensions` to
        the brokers, such as Confluent Cloud's {"logicalCluster": "lkc-1"}. The secret goes in HTTP
        Basic, or with `secret_in_body` as a parameter. `header_urlencode` URL-encodes id and secret
        for HTTP Basic, as RFC 6749 has it; in Java, too, the default is False (KIP-1025).

        Raises: KafkaConfigurationError if `token_url` is not https, and not of this machine.
        """
        rng = rng or random.Random()
        self._endpoint = TokenEndpoint(
            token_url,
            clock=clock,
            rng=rng,
            verify=verify,
            transport=transport,
            header_urlencode=header_urlencode,
        )
        self._client_id = client_id
        self._client_secret = Secret(client_secret)
        self._scope = scope
        self._parameters = dict(parameters or {})
        self._secret_in_body = secret_in_body
        super().__init__(
            f"the token endpoint for client {quoted(client_id)}",
            extensions=extensions,
            timeout_s=timeout_s,
            clock=clock,
            rng=rng,
        )

    async def _fetch(self) -> FetchedToken:
        form: dict[str, str | Secret] = {"grant_type": "client_credentials", **self._parameters}
        if self._scope is not None:
            form["scope"] = self._scope
        if not self._secret_in_body:
            return await self._endpoint.ask(form, (self._client_id, self._client_secret))
        return await self._endpoint.ask(
            {**form, "client_id": self._client_id, "client_secret": self._client_secret}
        )


__all__ = ["FETCH_TIMEOUT_S", "OidcTokenProvider"]
