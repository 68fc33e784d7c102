"""What the deserializers of Avro and JSON Schema share: ids, their schemas, and unknown ids.

The schema of an id is asked for once. At an id it has not seen, `deserialize` raises
`NotPreparedError`: the consumer then asks in the background, and goes on with other partitions.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry.registered_schema import (
    RegisteredSchema,
    Schema,
    SchemaReference,
    SchemaText,
    SchemaType,
    check_flags,
    schema_of,
    shown,
)
from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError, UnknownSchemaError
from aiokafka_lite.schema_registry.schema_registry_client import (
    SchemaRegistryClient,
    checked_client,
    checked_id,
    refuse_unknown,
)
from aiokafka_lite.schema_registry.wire_format import (
    PREFIX_BYTES,
    guid_of,
    header_name,
    id_prefix,
    key_in_headers,
    schema_id_of,
    schema_key,
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

    _kind: SchemaType

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: Schema | SchemaText | None = None,
        function: Callable[[Any], Any] | None = None,
        *,
        is_key: bool = False,
        clock: Clock = SYSTEM_CLOCK,
        **unknown: object,
    ) -> None:
        """`schema`: the reader's own. `function`: what makes objects of dicts.

        `is_key`: it deserializes keys, whose schema has another header. Raises:
        KafkaConfigurationError for arguments that cannot work.
        """
        refuse_unknown(self, unknown, SchemaDeserializer.__init__)
        check_flags(is_key=is_key)
        self._registry = checked_client(registry)
        if function is not None and not callable(function):
            raise KafkaConfigurationError(
                f"from_dict: {shown(function)} cannot be called; give a function of one argument"
            )
        self._schema = None if schema is None else schema_of(schema, self._kind)
        if self._schema is not None and self._schema.schema_type != self._kind:
            raise KafkaConfigurationError(
                f"schema: a schema of type {self._schema.schema_type} cannot be read by"
                f" {type(self).__name__}; give one of type {self._kind}"
            )
        self._header = header_name(is_key=is_key)
        self._clock = clock
        self._readers: dict[bytes, Read] = {}
        """By the bytes of the id, or of the guid."""
        self._faults: dict[bytes, tuple[float, Exception]] = {}

    def deserialize(self, _topic: str, headers: Headers, data: bytes, /) -> Any:
        """Return the object of a record's bytes. Does not wait.

        Raises: NotPreparedError for an id that was not seen before; WireFormatError without an id;
        UnknownSchemaError for an id that the registry does not know; SchemaMismatchError for a
        schema that cannot be read; an error of the format's library for damaged bytes.
        """
        if headers:
            key = key_in_headers(headers, self._header)
            if key is not None:
                read = self._readers.get(key)
                return self._unprepared(key) if read is None else read(data, 0)
        read = self._readers.get(data[:PREFIX_BYTES])
        if read is not None:
            return read(data, PREFIX_BYTES)
        key = schema_key(data)
        read = self._readers.get(key)
        return self._unprepared(key) if read is None else read(data, len(key))

    async def prepare(self, *schema_ids: int) -> None:
        """Ask for the schemas of these ids, so that no poll has to wait for them.

        An id that the registry does not know, or whose schema cannot be read, is remembered for a
        minute: `deserialize` raises its error. Raises: KafkaConfigurationError for what is no id;
        as `SchemaRegistryClient.get_schema`, but for unknown ids. Cancelled: nothing stays behind.
        """
        for schema_id in schema_ids:
            await self._prepare(id_prefix(checked_id(schema_id)))

    def _unprepared(self, key: bytes) -> Any:
        """Raise why there is no reader: the fault of the id, or that it must be asked for."""
        until_s, fault = self._faults.get(key, (0.0, None))
        if fault is not None and self._clock.monotonic() < until_s:
            raise fault.with_traceback(None)
        what = schema_id_of(key) if len(key) == PREFIX_BYTES else guid_of(key)
        raise NotPreparedError(
            f"the schema {what} was not asked for yet; await prepare({what})",
            lambda: self._prepare(key),
        )

    async def _prepare(self, key: bytes) -> None:
        if key in self._readers:
            return
        try:
            found = await self._find(key)
            references = await self._registry.find_references(found.schema)
            own = {} if self._schema is None else await self._own_references(self._schema)
            self._readers[key] = self._checked_reader(found, references, own)
            self._faults.pop(key, None)
        except (UnknownSchemaError, SchemaMismatchError) as fault:
            self._faults.pop(key, None)
            while len(self._faults) >= _MOST_FAULTS:
                del self._faults[next(iter(list(self._faults)))]
            self._faults[key] = (self._clock.monotonic() + _UNKNOWN_S, fault)

    async def _find(self, key: bytes) -> RegisteredSchema:
        if len(key) == PREFIX_BYTES:
            return await self._registry.get_schema(schema_id_of(key))
        return await self._registry.get_schema_by_guid(guid_of(key))

    async def _own_references(self, schema: Schema) -> dict[SchemaReference, Schema]:
        try:
            return await self._registry.find_references(schema)
        except UnknownSchemaError as error:
            raise SchemaMismatchError(f"a reference of the reader's schema: {error}") from error

    def _checked_reader(
        self,
        found: RegisteredSchema,
        references: Mapping[SchemaReference, Schema],
        own: Mapping[SchemaReference, Schema],
    ) -> Read:
        what = f"schema {found.schema_id if found.guid is None else found.guid}"
        if found.schema.schema_type != self._kind:
            raise SchemaMismatchError(
                f"{what} is {found.schema.schema_type}, not {self._kind}; use the deserializer of"
                " that type"
            )
        try:
            return self._reader(found.schema, references, own)
        except SchemaMismatchError as error:
            raise SchemaMismatchError(f"{what}: {error.args[0]}") from error

    @abstractmethod
    def _reader(
        self,
        schema: Schema,
        references: Mapping[SchemaReference, Schema],
        own: Mapping[SchemaReference, Schema],
    ) -> Read:
        """Return what reads the values of a schema; `own` are the references of the reader's.

        Raises: SchemaMismatchError.
        """


__all__ = ["Read", "SchemaDeserializer"]
