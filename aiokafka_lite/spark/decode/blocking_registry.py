"""The door of a Spark process to the schema registry: blocking calls of the asyncio client.

The client lives in the event loop of `process/worker`, once per process. Secrets travel as
references, and each process reads them itself.
"""

import functools
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from aiokafka_lite.schema_registry.registered_schema import RegisteredSchema
from aiokafka_lite.schema_registry.registry_address import address_faults, credential_faults
from aiokafka_lite.schema_registry.schema_registry_client import SchemaRegistryClient
from aiokafka_lite.spark.options.secret_reference import is_reference, read_secret
from aiokafka_lite.spark.process.worker import Worker, worker

_T = TypeVar("_T")


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
    """The limit for each request to one address."""

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each fault."""
        yield from address_faults(self.urls)
        for name in ("password", "token"):
            secret = getattr(self, name)
            if secret is not None and not is_reference(secret):
                # The text is not shown, because it may be the secret itself.
                yield f"the {name} of the schema registry must be env:NAME or file:PATH"
        yield from credential_faults(
            has_user=self.user is not None,
            has_password=self.password is not None,
            has_token=self.token is not None,
        )

    def client(self) -> SchemaRegistryClient:
        """Return a client of the registry, with the secrets of this process."""
        token = self.token
        return SchemaRegistryClient(
            self.urls,
            username=self.user,
            password=None if self.password is None else read_secret(self.password),
            bearer_token=None if token is None else lambda: read_secret(token),
            timeout_ms=max(1, int(self.timeout_s * 1000)),
        )


@dataclass(frozen=True, slots=True)
class FoundSchema:
    """A schema, together with the texts of the schemas it refers to."""

    registered: RegisteredSchema
    references: tuple[str, ...] = ()
    """Each behind those that it refers to itself."""


class BlockingRegistry:
    """Asks a registry, and waits for the answer in the calling thread."""

    def __init__(self, config: RegistryConfig) -> None:
        self._config = config
        self._worker: Worker | None = None
        self._client: SchemaRegistryClient

    def by_id(self, schema_id: int | str) -> FoundSchema:
        """Return the schema of an id or a guid. Raises: as `SchemaRegistryClient.get_schema`."""
        return self._run(lambda client: self._found(client, _asked(client, schema_id)))

    def latest(self, subject: str) -> FoundSchema:
        """Return the newest schema of a subject; each call asks. Raises: as `by_id`."""
        return self._run(lambda client: self._found(client, client.get_latest_version(subject)))

    def _run(self, work: Callable[[SchemaRegistryClient], Coroutine[Any, Any, _T]]) -> _T:
        of_process = worker()
        if self._worker is not of_process:  # the first call, or the process was forked
            self._client, self._worker = self._config.client(), of_process
        client = self._client
        return of_process.run(lambda: work(client))

    async def _found(
        self, client: SchemaRegistryClient, lookup: Coroutine[Any, Any, RegisteredSchema]
    ) -> FoundSchema:
        try:
            registered = await lookup
            references = await client.resolve_references(registered.schema)
        finally:
            await client.disconnect()  # a process asks seldom, and nothing tells it when it ends
        return FoundSchema(registered, tuple(each.schema_str for each in references.values()))


def _asked(
    client: SchemaRegistryClient, schema_id: int | str
) -> Coroutine[Any, Any, RegisteredSchema]:
    if isinstance(schema_id, str):
        return client.get_schema_by_guid(schema_id)
    return client.get_schema(schema_id)


@functools.cache
def registry(config: RegistryConfig) -> BlockingRegistry:
    """Return the registry of this process, with its cache."""
    return BlockingRegistry(config)


__all__ = ["BlockingRegistry", "FoundSchema", "RegistryConfig", "registry"]
