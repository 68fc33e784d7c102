"""What the deserializers of Avro and JSON Schema share: ids, their schemas, and unknown ids.

The schema of an id is asked for once. At an id it has not seen, `deserialize` raises
`NotPreparedError`: the consumer then asks in the background, and goes on with other partitions.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.schema_registry.registered_schema import RegisteredSchema, Schema
from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError, UnknownSchemaError
from aiokafka_lite.schema_registry.schema_registry_client import SchemaRegistryClient
from aiokafka_lite.schema_registry.wire_format import (
    PREFIX_BYTES,
    guid_of,
    header_name,
    schema_id_of,
)
from aiokafka_lite.serialization import Headers, NotPreparedError

Read = Callable[[bytes, int], Any]
"""Return the object whose bytes begin at a position."""
_UNKNOWN_S: Final = 60.0
"""How long an id counts as unknown before the registry is asked again."""
_MOST_FAULTS: Final = 1_000
"""How many faulty ids are remembered. A producer can write any id."""


class SchemaDeserializer(ABC):
    """Deserializes keys or values whose schema the registry knows."""

    _kind: str

    def __init__(
        self,
        registry: SchemaRegistryClient,
        *,
        is_key: bool = False,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """`is_key`: it deserializes keys, whose schema has another header."""
        self._registry = registry
        self._header = header_name(is_key=is_key)
        self._clock = clock
        self._readers: dict[bytes | str, Read] = {}
        """By the five bytes of the prefix, or by guid."""
        self._faults: dict[bytes | str, tuple[float, Exception]] = {}

    def deserialize(self, _topic: str, headers: Headers, data: bytes, /) -> Any:
        """Return the object of a record's bytes. Does not wait.

        Raises: NotPreparedError for an id that was not seen before; WireFormatError without an id;
        UnknownSchemaError for an id that the registry does not know; SchemaMismatchError for a
        schema that cannot be read; an error of the format's library for damaged bytes.
        """
        if headers:
            for name, value in headers:
                if name == self._header:
                    guid = guid_of(value)
                    read = self._readers.get(guid)
                    return self._unprepared(guid, data) if read is None else read(data, 0)
        prefix = data[:PREFIX_BYTES]
        read = self._readers.get(prefix)
        return self._unprepared(prefix, data) if read is None else read(data, PREFIX_BYTES)

    async def prepare(self, *schema_ids: int) -> None:
        """Ask for the schemas of these ids, so that no poll has to wait for them.

        An id that the registry does not know, or whose schema cannot be read, is remembered for a
        minute: `deserialize` raises its error. Raises: as `SchemaRegistryClient.get_schema`, but
        for unknown ids. Cancelled: nothing stays behind.
        """
        for schema_id in schema_ids:
            await self._prepare(schema_id.to_bytes(PREFIX_BYTES, "big"))

    def _unprepared(self, key: bytes | str, data: bytes) -> Any:
        """Raise why there is no reader: the fault of the bytes or of the id, or that it must be
        asked for.
        """
        until_s, fault = self._faults.get(key, (0.0, None))
        if fault is not None and self._clock.monotonic() < until_s:
            raise fault.with_traceback(None)
        what = key if isinstance(key, str) else schema_id_of(data)
        raise NotPreparedError(
            f"the schema {what} was not asked for yet; await prepare({what})",
            lambda: self._prepare(key),
        )

    async def _prepare(self, key: bytes | str) -> None:
        if key in self._readers:
            return
        try:
            found = await self._find(key)
            references = await self._registry.resolve_references(found.schema)
            self._readers[key] = self._checked_reader(found, references)
            self._faults.pop(key, None)
        except (UnknownSchemaError, SchemaMismatchError) as fault:
            self._faults.pop(key, None)
            while len(self._faults) >= _MOST_FAULTS:
                del self._faults[next(iter(self._faults))]
            self._faults[key] = (self._clock.monotonic() + _UNKNOWN_S, fault)

    async def _find(self, key: bytes | str) -> RegisteredSchema:
        if isinstance(key, str):
            return await self._registry.get_schema_by_guid(key)
        return await self._registry.get_schema(schema_id_of(key))

    def _checked_reader(self, found: RegisteredSchema, references: Mapping[str, Schema]) -> Read:
        what = f"schema {found.schema_id if found.guid is None else found.guid}"
        if found.schema.schema_type != self._kind:
            raise SchemaMismatchError(
                f"{what} is {found.schema.schema_type}, not {self._kind}; use the deserializer of"
                " that type"
            )
        try:
            return self._reader(found.schema, references)
        except SchemaMismatchError as error:
            raise SchemaMismatchError(f"{what}: {error.args[0]}") from error

    @abstractmethod
    def _reader(self, schema: Schema, references: Mapping[str, Schema]) -> Read:
        """Return what reads the values of a schema. Raises: SchemaMismatchError."""


__all__ = ["Read", "SchemaDeserializer"]
