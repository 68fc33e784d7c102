"""The public client of a schema registry: reads, registers and checks schemas, and remembers them.

It uses the REST interface that Confluent, Apicurio and Karapace share. What never changes is asked
for once: the schema of an id, a version, the id of a registered schema. What a registry does not
know is remembered for `unknown_ttl_ms`. Callers that ask for the same at once share one request.
"""

import base64
import inspect
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from ssl import SSLContext
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote, urlsplit

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.options.option_names import meant_option
from aiokafka_lite.schema_registry.registered_schema import (
    NEWEST,
    RegisteredSchema,
    Schema,
    SchemaReference,
    SchemaText,
    checked_name,
    checked_version,
    schema_of,
    shown,
)
from aiokafka_lite.schema_registry.registry_address import address_faults, credential_faults
from aiokafka_lite.schema_registry.registry_errors import (
    RegistryAuthorizationError,
    SchemaRegistryError,
    UnknownSchemaError,
)
from aiokafka_lite.schema_registry.registry_exchange import RegistryExchange
from aiokafka_lite.schema_registry.shared_lookups import SharedLookups
from aiokafka_lite.secret import Secret, SecretValue

logger = logging.getLogger(__name__)

MOST_UNKNOWN: Final = 1_000
"""How many unknown ids and names are remembered. A producer can write any id."""
_MOST_REFERENCES: Final = 1_000
"""How many schemas one schema may need, directly and indirectly."""
_NOT_A_REGISTRY: Final = "an answer of another form; is that a schema registry?"

BearerToken = SecretValue | Callable[[], SecretValue | Awaitable[SecretValue]]


class SchemaRegistryClient:
    """Asks a schema registry, and caches what it answers.

    It belongs to the event loop of its first request. One client serves any number of serializers,
    deserializers, producers and consumers.
    """

    def __init__(
        self,
        url: str | Sequence[str],
        *,
        username: str | None = None,
        password: SecretValue | None = None,
        bearer_token: BearerToken | None = None,
        ssl_context: SSLContext | None = None,
        timeout_ms: int = 10_000,
        max_retries: int = 3,
        retries_wait_ms: int = 500,
        retries_max_wait_ms: int = 5_000,
        unknown_ttl_ms: int = 60_000,
        clock: Clock = SYSTEM_CLOCK,
        rng: random.Random | None = None,
    ) -> None:
        """`url`: one address or several, http://HOST:PORT, tried in their order.

        `bearer_token` may be a function that returns the token, also an async one; it is called
        for each request. `ssl_context` is for https; None: the authorities that httpx trusts.
        `timeout_ms` bounds each request to one address. A request that no address answers is tried
        `max_retries` times again, after waits that double from `retries_wait_ms`.

        Raises: KafkaConfigurationError with every wrong argument. No text shows a secret.
        """
        given: Any = url
        urls: list[str] = list(given) if isinstance(given, (list, tuple)) else [given]
        faults = [
            *address_faults(urls),
            *_secret_faults(username=username, password=password, bearer_token=bearer_token),
            *credential_faults(
                has_user=username is not None,
                has_password=password is not None,
                has_token=bearer_token is not None,
            ),
            *_number_faults(
                timeout_ms=(timeout_ms, 1),
                max_retries=(max_retries, 0),
                retries_wait_ms=(retries_wait_ms, 0),
                retries_max_wait_ms=(retries_max_wait_ms, 0),
                unknown_ttl_ms=(unknown_ttl_ms, 0),
            ),
        ]
        if faults:
            raise KafkaConfigurationError("; ".join(faults))
        self.urls: tuple[str, ...] = tuple(urls)
        self._username = username
        self._password = None if password is None else Secret(password)
        self._token: Any = bearer_token if callable(bearer_token) else None
        if bearer_token is not None and self._token is None:
            secret = Secret(bearer_token)  # type: ignore[arg-type]
            self._token = lambda: secret
        if self._username is not None or self._token is not None:
            _warn_of_plain_text(urls)
        self._clock = clock
        self._unknown_ttl_s = unknown_ttl_ms / 1000
        self._exchange = RegistryExchange(
            urls,
            authorization=self._authorization,
            verify=any(url.startswith("https") for url in urls)
            if ssl_context is None
            else ssl_context,
            timeout_s=timeout_ms / 1000,
            max_retries=max_retries,
            retry_wait_s=retries_wait_ms / 1000,
            retry_max_wait_s=retries_max_wait_ms / 1000,
            clock=clock,
            rng=random.Random() if rng is None else rng,
        )
        self._known: dict[tuple[Any, ...], RegisteredSchema] = {}
        self._unknown: dict[tuple[Any, ...], tuple[float, UnknownSchemaError]] = {}
        self._lookups: SharedLookups[RegisteredSchema] = SharedLookups()

    def __repr__(self) -> str:
        return f"<SchemaRegistryClient {', '.join(self.urls)}>"

    async def close(self) -> None:
        """Close the connections. Requests on their way, and later ones, raise IllegalStateError.
        What is in the caches is still returned. Idempotent. Cancelled: closing goes on.
        """
        await self._exchange.close()

    async def disconnect(self) -> None:
        """Close the connections for now; the next request opens others."""
        await self._exchange.disconnect()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    # Schemas by id…

    async def get_schema(self, schema_id: int) -> RegisteredSchema:
        """Return the schema of an id, without subject and version.

        Raises: UnknownSchemaError for an unknown id; RegistryUnavailableError, naming each
        address, if none answers; SchemaRegistryError for any other refusal. Cancelled: nothing
        stays behind.
        """
        known = self.known_schema(checked_id(schema_id))
        if known is not None:
            return known

        async def load() -> RegisteredSchema:
            place = f"schemas/ids/{schema_id}"
            answer = await self._ask_object("GET", place, f"schema id {schema_id}")
            guid = answer.get("guid")
            return RegisteredSchema(Schema.of(answer, place), schema_id, guid=guid)

        return await self._remembered(("id", schema_id), load)

    async def get_schema_by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema of a guid, as `get_schema`. Its `schema_id` is -1 if the registry does
        not tell it.
        """
        known = self._known.get(("guid", checked_name("guid", guid, "the guid of a schema")))
        if known is not None:
            return known

        async def load() -> RegisteredSchema:
            place = f"schemas/guids/{quote(guid, safe='')}"
            answer = await self._ask_object("GET", place, f"schema guid {guid:.80}")
            number = answer.get("id")
            schema_id = number if isinstance(number, int) else -1
            return RegisteredSchema(Schema.of(answer, place), schema_id, guid=guid)

        return await self._remembered(("guid", guid), load)

    def known_schema(self, schema_id: int) -> RegisteredSchema | None:
        """Return the schema of an id if it was asked for before. Does not wait."""
        return self._known.get(("id", schema_id))

    # Subjects and versions…

    async def get_subjects(self) -> list[str]:
        """Return the names of all subjects. Raises: as `get_schema`."""
        return [str(each) for each in await self._list("subjects", "the subjects")]

    async def get_versions(self, subject: str) -> list[int]:
        """Return the versions of a subject, oldest first. Raises: as `get_schema`."""
        listed = await self._list(f"{_subject(subject)}/versions", f"subject {quoted(subject)}")
        return [int(each) for each in listed]

    async def get_version(
        self, subject: str, version: int, *, deleted: bool = False
    ) -> RegisteredSchema:
        """Return one version of a subject; with `deleted`, also one that was deleted, as long as
        it was not deleted permanently. Raises: as `get_schema`.
        """
        checked_name("subject", subject, "the name of a subject")
        query = "?deleted=true" if deleted else ""
        key = (f"version{query}", subject, checked_version(version))
        known = self._known.get(key)
        if known is not None:
            return known
        return await self._remembered(key, lambda: self._version(subject, version, query))

    async def get_latest_version(self, subject: str) -> RegisteredSchema:
        """Return the newest version of a subject; each call asks. Raises: as `get_schema`."""
        return await self._version(subject, "latest")

    async def _version(self, subject: str, version: int | str, query: str = "") -> RegisteredSchema:
        place = f"{_subject(subject)}/versions/{version}{query}"
        answer = await self._ask_object(
            "GET", place, f"subject {quoted(subject)} version {version}"
        )
        return self._registered(Schema.of(answer, place), subject, answer, place)

    async def register_schema(
        self, subject: str, schema: Schema | SchemaText, *, normalize: bool = False
    ) -> RegisteredSchema:
        """Register a schema under a subject, or find it there; return it with its id.

        A text or dict is Avro; `Schema(text, "JSON")` is of another type.
        `normalize` makes the registry compare schemas without regard to their form. Raises:
        IncompatibleSchemaError for a schema that the subject's compatibility refuses;
        InvalidSchemaError; as `get_schema`. Cancelled: the schema may be registered.
        """
        place = f"{_subject(subject)}/versions{_normalized(normalize)}"
        return await self._sent("register", subject, schema, place, normalize=normalize)

    async def lookup_schema(
        self, subject: str, schema: Schema | SchemaText, *, normalize: bool = False
    ) -> RegisteredSchema:
        """Return a schema with the id and version it has under a subject.

        Raises: UnknownSchemaError if it is not registered there; as `get_schema`.
        """
        place = f"{_subject(subject)}{_normalized(normalize)}"
        return await self._sent("lookup", subject, schema, place, normalize=normalize)

    async def _sent(
        self, verb: str, subject: str, given: Schema | SchemaText, place: str, *, normalize: bool
    ) -> RegisteredSchema:
        schema = schema_of(given, "AVRO")
        key = ("registered", subject, schema, normalize)
        known = self._known.get(key)
        # Many registries answer a registration with the id alone.
        if known is not None and (verb == "register" or known.version is not None):
            return known

        async def send() -> RegisteredSchema:
            answer = await self._ask_object(
                "POST", place, f"subject {quoted(subject)}", schema.body()
            )
            found = self._registered(schema, subject, answer, place)
            self._known[key] = found
            return found

        # Not remembered if unknown: the application may register it now.
        return await self._lookups.run((verb, *key), send)

    async def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete a subject; return the versions that it had. Raises: as `get_schema`.

        A subject is deleted permanently only after it was deleted.
        """
        answer = await self._ask(
            "DELETE", f"{_subject(subject)}{_permanent(permanent)}", f"subject {quoted(subject)}"
        )
        self._forget(subject)
        return [int(each) for each in _checked(answer, list, _named(subject))]

    async def delete_version(self, subject: str, version: int, *, permanent: bool = False) -> None:
        """Delete one version of a subject. Raises: as `get_schema`."""
        number = checked_version(version)
        place = f"{_subject(subject)}/versions/{number}{_permanent(permanent)}"
        await self._ask("DELETE", place, f"subject {quoted(subject)} version {version}")
        self._forget(subject)

    # Compatibility…

    async def test_compatibility(
        self, subject: str, schema: Schema | SchemaText, version: int | str = "latest"
    ) -> bool:
        """Return whether a schema is compatible with a version of a subject, which may not exist.

        Nothing is registered. Raises: InvalidSchemaError; as `get_schema`.
        """
        number = version if version == "latest" else checked_version(version)
        place = f"compatibility/{_subject(subject)}/versions/{number}"
        body = schema_of(schema, "AVRO").body()
        answer = await self._ask_object("POST", place, f"subject {quoted(subject)}", body)
        return bool(answer.get("is_compatible"))

    async def get_compatibility(self, subject: str | None = None) -> str:
        """Return the compatibility level of a subject or, with None, of the registry.

        Raises: UnknownSchemaError for a subject without a level of its own; as `get_schema`.
        """
        answer = await self._ask_object("GET", _config(subject), _named(subject))
        return str(_checked(answer.get("compatibilityLevel"), str, _named(subject)))

    async def set_compatibility(self, level: str, subject: str | None = None) -> None:
        """Set the compatibility level, such as BACKWARD, of a subject or of the registry.

        Raises: as `get_schema`.
        """
        checked_name("level", level, "a compatibility level, such as BACKWARD")
        await self._ask("PUT", _config(subject), _named(subject), {"compatibility": level})

    # References…

    async def resolve_references(self, schema: Schema) -> dict[str, Schema]:
        """Return the schemas that a schema needs, by their names in it and in each other.

        Each comes after those that it needs itself. Of two with one name the first counts, as in
        the registry. Raises: SchemaRegistryError for more than a thousand; as `get_schema`.
        """
        return by_name(await self.find_references(schema))

    async def find_references(self, schema: Schema) -> dict[SchemaReference, Schema]:
        """Return the schemas that a schema needs, as `resolve_references`, by the references.

        A deleted version is found, too, as long as it is not deleted permanently.
        """
        found: dict[SchemaReference, Schema] = {}
        await self._find_references(schema_of(schema, "AVRO"), found, set())
        return found

    async def _find_references(
        self, schema: Schema, found: dict[SchemaReference, Schema], seen: set[SchemaReference]
    ) -> None:
        for each in schema.references:
            if each in seen:
                continue
            seen.add(each)
            if len(seen) > _MOST_REFERENCES:
                raise SchemaRegistryError(
                    f"subject {quoted(each.subject)}: more than {_MOST_REFERENCES:,} references;"
                    " merge some of the schemas"
                )
            # What was written stays readable when the referenced version is deleted.
            if each.version == NEWEST:
                used = await self.get_latest_version(each.subject)
            else:
                used = await self.get_version(each.subject, each.version, deleted=True)
            await self._find_references(used.schema, found, seen)
            found[each] = used.schema

    # Requests…

    async def _remembered(
        self, key: tuple[Any, ...], load: Callable[[], Awaitable[RegisteredSchema]]
    ) -> RegisteredSchema:
        """Return what `load` finds, and remember it; remember also that there is nothing."""
        until_s, error = self._unknown.get(key, (0.0, None))
        if error is not None and self._clock.monotonic() < until_s:
            raise error.with_traceback(None)
        try:
            found = await self._lookups.run(key, load)
        except UnknownSchemaError as raised:
            self._unknown.pop(key, None)
            while len(self._unknown) >= MOST_UNKNOWN:
                del self._unknown[next(iter(list(self._unknown)))]
            self._unknown[key] = (self._clock.monotonic() + self._unknown_ttl_s, raised)
            raise
        self._unknown.pop(key, None)
        self._known[key] = found
        return found

    def _registered(
        self, schema: Schema, subject: str, answer: dict[str, Any], place: str
    ) -> RegisteredSchema:
        number, version, guid = (answer.get(name) for name in ("id", "version", "guid"))
        if not isinstance(number, int):
            raise SchemaRegistryError(f"subject {quoted(subject)}: {place}: {_NOT_A_REGISTRY}")
        found = RegisteredSchema(schema, number, subject, version, guid)
        self._known.setdefault(("id", number), RegisteredSchema(schema, number, guid=guid))
        return found

    def _forget(self, subject: str) -> None:
        for key in [key for key in list(self._known) if subject in key[1:2] and key[0] != "guid"]:
            del self._known[key]

    async def _list(self, place: str, what: str) -> list[Any]:
        found: list[Any] = _checked(await self._ask("GET", place, what), list, what)
        return found

    async def _ask_object(
        self, method: str, place: str, what: str, body: Any = None
    ) -> dict[str, Any]:
        found: dict[str, Any] = _checked(await self._ask(method, place, what, body), dict, what)
        return found

    async def _ask(self, method: str, place: str, what: str, body: Any = None) -> Any:
        return await self._exchange.ask(method, place, what, body)

    async def _authorization(self) -> Secret | None:
        if self._username is not None and self._password is not None:
            pair = f"{self._username}:{self._password.reveal_text()}".encode()
            return Secret(f"Basic {base64.b64encode(pair).decode()}")
        if self._token is None:
            return None
        token = self._token()
        if inspect.isawaitable(token):
            token = await token
        secret = Secret(token)
        # Errors of httpx would show a token that no header can hold.
        if not (secret.is_encodable and (text := secret.reveal_text()).isascii()) or not (
            text.isprintable()
        ):
            raise RegistryAuthorizationError(
                f"the bearer token for {', '.join(self.urls)} has characters that no HTTP header"
                " can hold; check where it comes from"
            )
        return Secret(f"Bearer {text}")


def by_name(references: Mapping[SchemaReference, Schema]) -> dict[str, Schema]:
    """Return schemas by the names of their references; of two with one name the first."""
    named: dict[str, Schema] = {}
    for each, schema in references.items():
        named.setdefault(each.name, schema)
    return named


def checked_client(value: object) -> SchemaRegistryClient:
    """Return the argument `registry`. Raises: KafkaConfigurationError for anything but a client."""
    if isinstance(value, SchemaRegistryClient):
        return value
    raise KafkaConfigurationError(
        f"registry: {shown(value)} is no SchemaRegistryClient; give"
        " SchemaRegistryClient('http://HOST:PORT')"
    )


def checked_id(value: object) -> int:
    """Return the id of a schema. Raises: KafkaConfigurationError unless it can be one."""
    schema_id = whole(value)
    if not is_int(schema_id) or not 0 <= schema_id < 1 << 32:
        raise KafkaConfigurationError(
            f"schema_id: {shown(value)} is no id of a schema; give an int from 0 to {2**32 - 1}"
        )
    return schema_id


def refuse_unknown(
    owner: object, unknown: Mapping[str, object], constructor: Callable[..., None]
) -> None:
    """Raise TypeError for the first unknown option, naming the one that was meant."""
    for name in unknown:
        known = [
            *inspect.signature(type(owner)).parameters,
            *inspect.signature(constructor).parameters,
        ]
        meant = meant_option(name, [each for each in known if each not in ("self", "unknown")])
        remedy = f"; did you mean {quoted(meant)}?" if meant else ""
        raise TypeError(
            f"{type(owner).__name__}() got an unexpected keyword argument {quoted(name)}{remedy}"
        )


def _subject(subject: str) -> str:
    checked_name("subject", subject, "the name of a subject")
    return f"subjects/{quote(subject, safe='')}"


def _config(subject: str | None) -> str:
    if subject is None:
        return "config"
    return f"config/{quote(checked_name('subject', subject, 'the name of a subject'), safe='')}"


def _named(subject: str | None) -> str:
    return "the registry" if subject is None else f"subject {quoted(subject)}"


def _normalized(normalize: bool) -> str:
    return "?normalize=true" if normalize else ""


def _permanent(permanent: bool) -> str:
    return "?permanent=true" if permanent else ""


def _checked(answer: Any, kind: type, what: str) -> Any:
    if not isinstance(answer, kind):
        raise SchemaRegistryError(f"{what}: {_NOT_A_REGISTRY}")
    return answer


def _number_faults(**numbers: tuple[object, int]) -> list[str]:
    return [
        f"{name}={shown(value)} must be an int of {least} or more"
        for name, (value, least) in numbers.items()
        if not is_int(number := whole(value)) or number < least
    ]


def _secret_faults(**secrets: object) -> list[str]:
    return [
        f"{name}: a value of type {type(value).__name__} is no text; give a str"
        for name, value in secrets.items()
        if value is not None
        and not isinstance(value, (str, bytes, Secret))
        and not (name == "bearer_token" and callable(value))
    ]


def _warn_of_plain_text(urls: Sequence[str]) -> None:
    for url in urls:
        parts = urlsplit(url)
        if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            logger.warning(
                "the credentials of the schema registry at %s travel unencrypted; use https",
                parts.hostname,
            )


__all__ = [
    "MOST_UNKNOWN",
    "BearerToken",
    "SchemaRegistryClient",
    "by_name",
    "checked_client",
    "checked_id",
    "refuse_unknown",
]
