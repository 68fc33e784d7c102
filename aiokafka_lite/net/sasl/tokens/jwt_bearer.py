"""Tokens for a client that shows a signed assertion: the grant `jwt-bearer`.

Source: RFC 7523, section 2.1; KIP-1139.
"""

import inspect
import random
from collections.abc import Awaitable, Callable, Mapping
from ssl import SSLContext
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.net.sasl.tokens.cached_token_provider import CachedTokenProvider
from aiokafka_lite.net.sasl.tokens.oidc import FETCH_TIMEOUT_S
from aiokafka_lite.net.sasl.tokens.token_cache import FetchedToken
from aiokafka_lite.net.sasl.tokens.token_endpoint import TokenEndpoint
from aiokafka_lite.secret import Secret

GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class JwtBearerTokenProvider(CachedTokenProvider):
    """Fetches tokens for an assertion, a JSON Web Token that another party has signed.

    Needs the extra `oauth`. The tokens are kept and fetched as those of `OidcTokenProvider`.
    """

    def __init__(
        self,
        token_url: str,
        assertion: Callable[[], str | Awaitable[str]],
        *,
        scope: str | None = None,
        parameters: Mapping[str, str] | None = None,
        extensions: Mapping[str, str] | None = None,
        timeout_s: float = FETCH_TIMEOUT_S,
        verify: SSLContext | bool = True,
        transport: Any = None,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
    ) -> None:
        """`assertion` gives the signed assertion of each fetch, or an awaitable of it;
        `FileTokenProvider(path).token` reads it from a file. The others are as in
        `OidcTokenProvider`.

        Raises: KafkaConfigurationError if `token_url` is not https, and not of this machine.
        """
        rng = rng or random.Random()
        self._endpoint = TokenEndpoint(
            token_url, clock=clock, rng=rng, verify=verify, transport=transport
        )
        self._assertion = assertion
        self._form = {"grant_type": GRANT, **(parameters or {})}
        if scope is not None:
            self._form["scope"] = scope
        super().__init__(
            "the token endpoint for the assertion",
            extensions=extensions,
            timeout_s=timeout_s,
            clock=clock,
            rng=rng,
        )

    async def _fetch(self) -> FetchedToken:
        assertion = _hidden(await _awaited(self._assertion()))
        return await self._endpoint.ask({**self._form, "assertion": assertion})


async def _awaited(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


def _hidden(assertion: object) -> Secret:
    if isinstance(assertion, str | Secret) and assertion:
        return Secret(assertion)
    kind = type(assertion).__name__
    del assertion  # the frames of the error must not show it
    raise IllegalArgumentError(
        f"`assertion` gave a value of type {kind}; it must give a str that is not empty"
    )


__all__ = ["GRANT", "JwtBearerTokenProvider"]
