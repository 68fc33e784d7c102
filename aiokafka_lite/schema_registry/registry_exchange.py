"""Sends requests to a schema registry over httpx, and says what each refusal means.

Network errors, 429 and 5xx are tried at the next address, then again after a backoff. Nothing else
is tried again. Redirects are refused, because one would send credentials to another server.
"""

import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from ssl import SSLContext
from typing import Any, Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.schema_registry.libraries import library
from aiokafka_lite.schema_registry.registry_errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    RegistryAuthorizationError,
    RegistryUnavailableError,
    SchemaRegistryError,
    UnknownSchemaError,
)
from aiokafka_lite.secret import Secret

MOST_BYTES: Final = 16 << 20
"""Size of the largest answer that is read."""
_MOST_SHOWN: Final = 180
_MEDIA_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_AGAIN: Final = (408, 429, 500, 502, 503, 504)
_REFUSALS: Final[Mapping[int, tuple[type[SchemaRegistryError], str]]] = {
    401: (RegistryAuthorizationError, "check user and password, or the token"),
    403: (RegistryAuthorizationError, "give the user rights on it in the registry"),
    404: (UnknownSchemaError, "check the name or id, and that this is the right registry"),
    409: (IncompatibleSchemaError, "change the schema, or the subject's compatibility"),
    422: (InvalidSchemaError, "correct the schema or the version"),
}

Header = Callable[[], Awaitable[Secret | None]]


class RegistryExchange:
    """The connections to one registry."""

    def __init__(
        self,
        urls: Sequence[str],
        *,
        authorization: Header,
        verify: SSLContext | bool,
        timeout_s: float,
        max_retries: int,
        retry_wait_s: float,
        retry_max_wait_s: float,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        """`authorization` returns the header of that name, or None.

        `timeout_s` bounds each request to one address.
        """
        self._urls = [url.rstrip("/") for url in urls]
        self._authorization = authorization
        self._verify = verify
        self._timeout_s = timeout_s
        self._max_retries = max_retries
        self._backoff = ExponentialBackoff(retry_wait_s, retry_max_wait_s, rng=rng)
        self._clock = clock
        self._client: Any = None
        self._waits = LongWaits(clock, "schema registry")
        self._asking: set[deadline] = set()
        self._is_closed = False

    async def ask(self, method: str, path: str, what: str, body: Any = None) -> Any:
        """Return the JSON of the answer. `what` names the subject or id in errors.

        Raises: RegistryUnavailableError if no address answers; RegistryAuthorizationError;
        UnknownSchemaError; IncompatibleSchemaError; InvalidSchemaError; SchemaRegistryError for
        another refusal, or for an answer that is not JSON; IllegalStateError after `close()`.
        Cancelled: the request may have been carried out.
        """
        if self._is_closed:
            raise self._closed()
        until_closed = deadline(self._clock, None)
        self._asking.add(until_closed)
        try:
            async with until_closed:
                return await self._ask(method, path, what, body)
        except TimeoutError:
            raise self._closed() from None
        finally:
            self._asking.discard(until_closed)

    def _closed(self) -> IllegalStateError:
        return IllegalStateError(
            f"the client of the schema registry at {', '.join(self._urls)} is closed; keep it open "
            "as long as its serializers and deserializers are in use"
        )

    async def _ask(self, method: str, path: str, what: str, body: Any) -> Any:
        failures: dict[str, str] = {}
        with self._waits.of(
            f"{what} ({method} {_shortened(path)}) from {', '.join(self._urls)}",
            "check the addresses, and that the registry runs",
        ) as wait:
            for attempt in range(self._max_retries + 1):
                if attempt:
                    await self._clock.sleep(self._backoff.delay(attempt - 1))
                for url in self._urls:
                    failure = await self._attempt(method, url, path, body)
                    if not isinstance(failure, _Answer):
                        failures[url] = failure
                    elif failure.status in _AGAIN:
                        failures[url] = failure.text()
                    else:
                        return failure.content(what, method, f"{url}/{_shortened(path)}")
                    wait.failed(f"{url}: {failures[url]}")
        listed = "; ".join(f"{url}: {why}" for url, why in failures.items())
        raise RegistryUnavailableError(
            f"{what}: the schema registry gave no answer to {method} {_shortened(path)} in"
            f" {self._max_retries + 1} attempts: {listed}; check its address, and that it runs"
        ) from None

    async def _attempt(self, method: str, url: str, path: str, body: Any) -> "_Answer | str":
        """Return the answer of one address, or why there is none."""
        httpx = library("httpx")
        try:
            async with deadline(self._clock, self._timeout_s):
                return await self._send(method, f"{url}/{path}", body)
        except TimeoutError:
            return f"no answer within {self._timeout_s:g} s"
        except (httpx.TransportError, httpx.InvalidURL, OSError) as error:
            return str(error) or type(error).__name__

    async def _send(self, method: str, url: str, body: Any) -> "_Answer":
        if self._client is None:
            self._client = library("httpx").AsyncClient(
                verify=self._verify, follow_redirects=False, timeout=None
            )
        # No compressed answers: MOST_BYTES would not bound what one chunk unpacks to.
        headers = {"Accept": f"{_MEDIA_TYPE}, application/json", "Accept-Encoding": "identity"}
        content = None
        if body is not None:
            headers["Content-Type"] = _MEDIA_TYPE
            content = json.dumps(body).encode()
        authorization = await self._authorization()
        if authorization is not None:
            headers["Authorization"] = authorization.reveal_text()
        received = bytearray()
        async with self._client.stream(method, url, headers=headers, content=content) as response:
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > MOST_BYTES:
                    raise SchemaRegistryError(
                        f"{method} {url}: an answer of more than {MOST_BYTES:,} bytes"
                    )
            return _Answer(response.status_code, bytes(received))

    async def close(self) -> None:
        """Close the connections for good; requests on their way end. Idempotent."""
        self._is_closed = True
        for each in list(self._asking):
            each.expire()
        await self.disconnect()

    async def disconnect(self) -> None:
        """Close the connections; the next request opens others."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


class _Answer:
    """The status and body of one answer."""

    __slots__ = ("_body", "status")

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self._body = body

    def _json(self) -> Any:
        try:
            return json.loads(self._body)
        except (ValueError, RecursionError):
            return None

    def text(self) -> str:
        """Return the status, and what the registry says about it."""
        content = self._json()
        said = content.get("message") if isinstance(content, dict) else None
        return f"HTTP {self.status}" + (f": {_shortened(str(said))}" if said else "")

    def content(self, what: str, method: str, url: str) -> Any:
        """Return the JSON of a successful answer. Raises: as `RegistryExchange.ask`."""
        content = self._json()
        if 200 <= self.status < 300 and content is not None:
            return content
        code = content.get("error_code") if isinstance(content, dict) else None
        if self.status in _REFUSALS and (self.status in (401, 403) or code is not None):
            kind, remedy = _REFUSALS[self.status]
            if kind is IncompatibleSchemaError and method == "DELETE":
                kind, remedy = SchemaRegistryError, "it may be deleted already"
        else:
            kind, remedy = SchemaRegistryError, "is that a schema registry?"
        raise kind(
            f"{what}: {method} {url} was answered with {self.text()}; {remedy}",
            status=self.status,
            error_code=code if isinstance(code, int) else 0,
        )


def _shortened(text: str) -> str:
    """Return the beginning and the end of a long text; what is wrong stands at the end."""
    half = _MOST_SHOWN // 2
    return text if len(text) <= _MOST_SHOWN else f"{text[:half]} … {text[-half:]}"


__all__ = ["MOST_BYTES", "RegistryExchange"]
