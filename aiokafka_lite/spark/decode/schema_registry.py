"""Asks a schema registry by the REST interface that Confluent, Apicurio and Karapace share.

It looks up schemas by id and the newest schema of a subject, once per process. Each lookup blocks
for a limited time. A schema that definitely does not exist is remembered for a minute. A registry
that does not answer raises an error each time, which never blames the schema.
"""

import base64
import functools
import json
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.spark.decode.secret_reference import is_reference, read_secret

_ATTEMPTS: Final = 3
_RETRY_S: Final = 0.5
_UNKNOWN_S: Final = 60.0
"""How long an unknown id is remembered before the next lookup."""
_MAX_ANSWER_BYTES: Final = 16 << 20
_ACCEPT: Final = "application/vnd.schemaregistry.v1+json, application/json"
_NOT_THERE: Final = (404, 422)


class SchemaRegistryError(KafkaError):
    """The registry did not answer with a schema; another attempt may help."""


class UnknownSchemaError(KafkaError):
    """The registry does not know the schema; another attempt will not help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryConfig:
    """The addresses of a registry, and how to connect to it.

    Secrets are references, so this may travel to other processes.
    """

    urls: tuple[str, ...]
    user: str | None = None
    password: str | None = None
    """env:NAME or file:PATH, resolved in the process that asks the registry."""
    token: str | None = None
    """Like the password; sent as a bearer token instead of user and password."""
    timeout_s: float = 10.0
    """How long one lookup may take."""

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each fault."""
        if not self.urls:
            yield "the address of the schema registry is missing: http://HOST:PORT"
        for url in self.urls:
            parts = urllib.parse.urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                yield f"{parts.hostname or url!r} is not the address of a schema registry: http://HOST:PORT"
            elif "@" in parts.netloc:
                yield (
                    f"the address of the schema registry at {parts.hostname} has a user or a"
                    " password in it; name them by user and password"
                )
        for name in ("password", "token"):
            secret = getattr(self, name)
            if secret is not None and not is_reference(secret):
                # The text is not shown, because it may be the secret itself.
                yield f"the {name} of the schema registry must be env:NAME or file:PATH"
        if (self.user is None) != (self.password is None):
            yield "user and password of the schema registry go together"
        if self.token is not None and self.user is not None:
            yield "the schema registry takes a token, or user and password, not both"


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema, together with the schemas it refers to."""

    schema_id: int
    kind: str
    """AVRO, JSON or PROTOBUF."""
    text: str
    references: tuple[str, ...] = ()
    """The texts of the referenced schemas, each behind those that it refers to itself."""


class SchemaRegistry:
    """Asks a registry and caches the results. `wait` passes the time between attempts."""

    def __init__(
        self,
        config: RegistryConfig,
        *,
        clock: Clock = SYSTEM_CLOCK,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._wait = threading.Event().wait if wait is None else wait
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._by_id: dict[int, RegisteredSchema] = {}
        self._unknown: dict[int, tuple[float, UnknownSchemaError]] = {}

    def by_id(self, schema_id: int) -> RegisteredSchema:
        """Return the schema of an id.

        Raises: UnknownSchemaError for an unknown id or an unreadable schema; SchemaRegistryError,
        naming the addresses, if the registry does not answer.
        """
        found = self._by_id.get(schema_id)
        if found is not None:
            return found
        now_s = self._clock.monotonic()
        until_s, error = self._unknown.get(schema_id, (now_s, None))
        if error is not None and now_s < until_s:
            raise error
        try:
            found = self._load(f"schemas/ids/{schema_id}", schema_id)
        except UnknownSchemaError as raised:
            self._unknown[schema_id] = (now_s + _UNKNOWN_S, raised)
            raise
        self._by_id[schema_id] = found
        return found

    def latest(self, subject: str) -> RegisteredSchema:
        """Return the newest schema of a subject; each call asks the registry.

        Raises: as `by_id`.
        """
        found = self._load(f"subjects/{_quoted(subject)}/versions/latest")
        self._by_id[found.schema_id] = found
        return found

    def _load(self, path: str, schema_id: int | None = None) -> RegisteredSchema:
        answer = self._ask(path)
        texts: dict[tuple[str, int], str] = {}
        self._load_references(answer, path, texts)
        return RegisteredSchema(
            int(answer["id"]) if schema_id is None else schema_id,
            str(answer.get("schemaType") or "AVRO"),
            str(answer["schema"]),
            tuple(texts.values()),
        )

    def _load_references(
        self, answer: dict[str, Any], path: str, texts: dict[tuple[str, int], str]
    ) -> None:
        try:
            named = [
                (str(each["subject"]), int(each["version"]))
                for each in answer.get("references") or ()
            ]
        except (TypeError, KeyError, ValueError):
            raise SchemaRegistryError(f"{path}: its references cannot be read") from None
        for subject, version in named:
            if (subject, version) not in texts:
                where = f"subjects/{_quoted(subject)}/versions/{version}"
                found = self._ask(where)
                self._load_references(found, where, texts)
                texts[subject, version] = str(found["schema"])

    def _ask(self, path: str) -> dict[str, Any]:
        """Return the first response with a schema, from any of the addresses."""
        failures: dict[str, str] = {}
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._wait(_RETRY_S * attempt)
            for url in self._config.urls:
                try:
                    return self._get(f"{url.rstrip('/')}/{path}")
                except urllib.error.HTTPError as error:
                    said = _said(error)
                    if error.code in _NOT_THERE:
                        raise UnknownSchemaError(
                            f"the schema registry has nothing at {path}: {said}"
                        ) from None
                    failures[url] = said
                    if error.code in (401, 403):
                        raise self._no_answer(path, failures) from None
                except (OSError, ValueError) as error:
                    failures[url] = str(error)
        raise self._no_answer(path, failures)

    def _get(self, url: str) -> dict[str, Any]:
        request = urllib.request.Request(url, headers=self._headers())  # noqa: S310 - see `faults`
        with self._opener.open(request, timeout=self._config.timeout_s) as response:
            body = response.read(_MAX_ANSWER_BYTES + 1)
        if len(body) > _MAX_ANSWER_BYTES:
            raise ValueError(f"an answer of more than {_MAX_ANSWER_BYTES} bytes")
        answer = json.loads(body)
        if not isinstance(answer, dict) or not isinstance(answer.get("schema"), str):
            raise ValueError("an answer without a schema; is that a schema registry?")  # noqa: TRY004
        return answer

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": _ACCEPT}
        config = self._config
        if config.token is not None:
            headers["Authorization"] = f"Bearer {read_secret(config.token)}"
        elif config.user is not None and config.password is not None:
            pair = f"{config.user}:{read_secret(config.password)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return headers

    def _no_answer(self, path: str, failures: dict[str, str]) -> SchemaRegistryError:
        listed = "; ".join(f"{url}: {why}" for url, why in failures.items())
        return SchemaRegistryError(
            f"the schema registry gave no answer to {path}: {listed}; check its address, user and"
            " password"
        )


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, because a redirect would send the password to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _quoted(subject: str) -> str:
    return urllib.parse.quote(subject, safe="")


def _said(error: urllib.error.HTTPError) -> str:
    """Return the status, and the registry's text about it."""
    try:
        message = json.loads(error.read(10_000)).get("message", "")
    except (OSError, ValueError, AttributeError):
        message = ""
    return f"HTTP {error.code}{': ' if message else ''}{message}"


@functools.cache
def registry(config: RegistryConfig) -> SchemaRegistry:
    """Return the registry of this process, with its cache."""
    return SchemaRegistry(config)


__all__ = [
    "RegisteredSchema",
    "RegistryConfig",
    "SchemaRegistry",
    "SchemaRegistryError",
    "UnknownSchemaError",
    "registry",
]
