"""Asks the token endpoint of an OpenID provider for a token, over httpx. Source: RFC 6749.

A network error and an answer with status 429 or 5xx are tried again, up to the caller's bound.
"""

import importlib
import ipaddress
import json
import random
from collections.abc import Mapping
from ssl import SSLContext
from typing import Any, Final
from urllib.parse import quote_plus, urlsplit

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.errors import AuthenticationFailedError, KafkaConfigurationError
from aiokafka_lite.net.sasl.tokens.token_cache import FetchedToken, jwt_expiry
from aiokafka_lite.secret import HIDDEN, Secret

MOST_BYTES: Final = 1_048_576
"""Size of the largest answer that is read."""
_MOST_SHOWN: Final = 300
_RETRIED: Final = (429, 500, 502, 503, 504)


class TokenEndpoint:
    """One token endpoint, which clients ask by POST."""

    def __init__(
        self,
        url: str,
        *,
        clock: Clock,
        rng: random.Random,
        verify: SSLContext | bool = True,
        transport: Any = None,
        header_urlencode: bool = False,
    ) -> None:
        """`verify` is httpx's: the SSLContext, or True for the authorities that httpx trusts.
        `transport` is an httpx transport; None: that of httpx. With `header_urlencode` id and
        secret are URL-encoded before they go in HTTP Basic, as RFC 6749, section 2.3.1, has it.

        Raises: KafkaConfigurationError if the URL would send a secret without encryption.
        """
        parts = urlsplit(url)
        is_local = parts.scheme == "http" and _is_loopback(parts.hostname or "")
        if not parts.hostname or not (parts.scheme == "https" or is_local):
            raise KafkaConfigurationError(
                f"the token endpoint {quoted(_shown(url))} is no https URL; over http everybody on "
                "the way could read the secret"
            )
        self.url = url
        self._clock = clock
        self._verify = verify
        self._transport = transport
        self._header_urlencode = header_urlencode
        self._backoff = ExponentialBackoff(0.1, 1.0, rng=rng)

    async def ask(
        self, form: Mapping[str, str | Secret], auth: tuple[str, Secret] | None = None
    ) -> FetchedToken:
        """Return the token that the endpoint gives for `form`, with HTTP Basic `auth`.

        Has no bound. Errors have no frames of httpx, whose variables hold the secret.

        Raises: AuthenticationFailedError if the endpoint refuses or its answer has no token. Other
        errors of httpx are its own.
        """
        httpx = _library()
        login = _urlencoded(*auth) if auth is not None and self._header_urlencode else auth
        attempts = 0
        async with httpx.AsyncClient(
            verify=self._verify, transport=self._transport, follow_redirects=False, timeout=None
        ) as client:
            while True:
                try:
                    status, body = await self._post(client, form, login)
                except httpx.TransportError as error:
                    _drop_frames(error)
                    failure = AuthenticationFailedError(
                        f"{_shown(self.url)} cannot be asked: {error or type(error).__name__}"
                    )
                    failure.__cause__ = error
                except BaseException as error:
                    _drop_frames(error)
                    raise
                else:
                    token = self._token_in(body) if status == 200 else None
                    if token is not None:
                        return token
                    failure = self._refusal(status, body, _secrets(form, auth, login))
                    if status not in _RETRIED:
                        raise failure
                if attempts >= 3:
                    raise failure
                await self._clock.sleep(self._backoff.delay(attempts))
                attempts += 1

    async def _post(
        self, client: Any, form: Mapping[str, str | Secret], auth: tuple[str, Secret] | None
    ) -> tuple[int, Secret]:
        body = bytearray()
        headers = {"Accept": "application/json"}
        data = {name: Secret(value).reveal_text() for name, value in form.items()}
        login = None if auth is None else (auth[0], auth[1].reveal_text())
        async with client.stream(
            "POST", self.url, data=data, auth=login, headers=headers
        ) as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise AuthenticationFailedError(
                        f"the answer of {_shown(self.url)} has more than {MOST_BYTES} bytes"
                    )
            return response.status_code, Secret(bytes(body))

    def _token_in(self, body: Secret) -> FetchedToken | None:
        content = _json(body)
        text = content.get("access_token")
        if "error" in content or not isinstance(text, str) or not text:
            return None
        token = Secret(text)
        lifetime_s = content.get("expires_in")
        if isinstance(lifetime_s, str) and lifetime_s.isascii() and lifetime_s.isdigit():
            lifetime_s = int(lifetime_s[:12])
        if isinstance(lifetime_s, int | float) and 0 < lifetime_s < 1e12:
            return FetchedToken(token, self._clock.time() + lifetime_s)
        return FetchedToken(token, jwt_expiry(token))

    def _refusal(
        self, status: int, body: Secret, secrets: list[Secret]
    ) -> AuthenticationFailedError:
        """Say what the endpoint said, without what may be a token or one of `secrets`."""
        content = _json(body)
        said = [str(content.get(name) or "") for name in ("error", "error_description")]
        for secret in secrets:
            said = [word.replace(secret.reveal_text(), HIDDEN) for word in said]
        words = ": ".join(word[:_MOST_SHOWN] for word in said if word)
        return AuthenticationFailedError(
            f"{_shown(self.url)} answered with HTTP status {status} and"
            f" {words or 'no access_token'}; check the client's id, secret and scope"
        )


def _drop_frames(error: BaseException) -> None:
    """Leave the frames below out of the tracebacks of `error` and of the errors behind it."""
    left = [error]
    while left:
        each = left.pop()
        each.__traceback__ = None
        left += [behind for behind in (each.__cause__, each.__context__) if behind is not None]


def _secrets(form: Mapping[str, str | Secret], *auths: tuple[str, Secret] | None) -> list[Secret]:
    found = [value for value in form.values() if isinstance(value, Secret)]
    found += [auth[1] for auth in auths if auth is not None]
    return [secret for secret in found if secret]


def _urlencoded(client_id: str, secret: Secret) -> tuple[str, Secret]:
    return quote_plus(client_id), Secret(quote_plus(secret.reveal_text()))


def _json(body: Secret) -> dict[str, Any]:
    try:
        content = json.loads(body.reveal())
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(url: str) -> str:
    """Return a URL without user, password and query, which may be secrets."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _library() -> Any:
    try:
        return importlib.import_module("httpx")
    except ImportError as error:
        raise KafkaConfigurationError(
            f"this token provider needs httpx: pip install 'aiokafka-lite[oauth]' ({error})"
        ) from error


__all__ = ["MOST_BYTES", "TokenEndpoint"]
