"""What the serializers of all formats share: the subject, the schema's id, and where the id stands.

The id is asked for once for each topic. `prepare` does so at the start of a program; otherwise the
producer does at the first record of the topic. After that a record costs no question.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Literal

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.schema_registry.registered_schema import (
    RegisteredSchema,
    Schema,
    SchemaReference,
    SchemaText,
    SchemaType,
    check_flags,
    checked_name,
    schema_of,
    shown,
)
from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError
from aiokafka_lite.schema_registry.schema_registry_client import (
    SchemaRegistryClient,
    checked_client,
    refuse_unknown,
)
from aiokafka_lite.schema_registry.subject_names import SubjectNameStrategy, topic_name_strategy
from aiokafka_lite.schema_registry.wire_format import guid_header, header_name, id_prefix
from aiokafka_lite.serialization import Headers, NotPreparedError

SchemaIdLocation = Literal["prefix", "header"]
Write = Callable[[bytes, Any], bytes]
"""Return the prefix, followed by the bytes of the object."""


class SchemaSerializer(ABC):
    """Serializes the keys or the values of one producer, or of several."""

    _kind: SchemaType

    def __init__(
        self,
        registry: SchemaRegistryClient,
        *,
        is_key: bool = False,
        auto_register_schemas: bool = True,
        use_latest_version: bool = False,
        normalize_schemas: bool = False,
        subject_name_strategy: SubjectNameStrategy = topic_name_strategy,
        schema_id_location: SchemaIdLocation = "prefix",
        **unknown: object,
    ) -> None:
        """`is_key`: it serializes keys, whose subject is another one.

        `auto_register_schemas`: register the schema if the subject does not have it; otherwise an
        unknown schema is an error. `use_latest_version`: write the newest version of the subject,
        which excludes registering. `schema_id_location`: "header" puts the schema's guid into a
        header of the record, and the value has no prefix.

        Raises: KafkaConfigurationError for arguments that cannot work, or contradict each other.
        """
        refuse_unknown(self, unknown, SchemaSerializer.__init__)
        check_flags(
            is_key=is_key,
            auto_register_schemas=auto_register_schemas,
            use_latest_version=use_latest_version,
            normalize_schemas=normalize_schemas,
        )
        self._registry = checked_client(registry)
        if not callable(subject_name_strategy):
            raise KafkaConfigurationError(
                f"subject_name_strategy: {shown(subject_name_strategy)} cannot be called; give a"
                " function such as topic_name_strategy"
            )
        if use_latest_version and auto_register_schemas:
            raise KafkaConfigurationError(
                "use_latest_version=True writes what is registered; set auto_register_schemas=False"
            )
        if schema_id_location not in ("prefix", "header"):
            raise KafkaConfigurationError(
                f"schema_id_location={shown(schema_id_location)} must be 'prefix' or 'header'"
            )
        self._is_key = is_key
        self._auto_register = auto_register_schemas
        self._use_latest = use_latest_version
        self._normalize = normalize_schemas
        self._strategy = subject_name_strategy
        self._header = header_name(is_key=is_key) if schema_id_location == "header" else None
        self._writers: dict[str, tuple[bytes, Write]] = {}

    def serialize(self, topic: str, headers: Headers, obj: Any, /) -> bytes:
        """Return the bytes of an object. Does not wait.

        Raises: NotPreparedError before `prepare(topic)`; SerializationError, or an error of the
        format's library, for an object that the schema does not describe.
        """
        prepared = self._writers.get(topic)
        if prepared is None:
            raise NotPreparedError(
                f"the schema of topic {quoted(topic)} has no id yet; await "
                f"prepare({quoted(topic)})",
                lambda: self.prepare(topic),
            )
        prefix, write = prepared
        if self._header is None:
            return write(prefix, obj)
        data = write(b"", obj)
        if not isinstance(headers, list):
            raise SerializationError(f"the header {self._header} needs a list of headers")
        headers.append((self._header, prefix))
        return data

    async def prepare(self, *topics: str) -> None:
        """Find out the schema's id for these topics; register the schema if it may be.

        Raises: SchemaMismatchError for a schema of another type, or without a name that the
        strategy needs; as `SchemaRegistryClient.register_schema`. Cancelled: the schema may be
        registered.
        """
        for topic in topics:
            checked_name("topic", topic, "the name of a topic")
            if topic not in self._writers:
                self._writers[topic] = await self._resolved(topic)

    async def _resolved(self, topic: str) -> tuple[bytes, Write]:
        subject = self._strategy(topic, self._is_key, await self._record_name())
        found = await self._find(subject)
        if found.schema.schema_type != self._kind:
            raise SchemaMismatchError(
                f"subject {quoted(subject)} has a schema of type {found.schema.schema_type}, and "
                f"not {self._kind}; use the serializer of that type, or another subject"
            )
        write = self._writer(found.schema, await self._registry.find_references(found.schema))
        if self._header is None:
            return id_prefix(found.schema_id) + self._suffix(), write
        guid = found.guid or (await self._registry.get_schema(found.schema_id)).guid
        if guid is None:
            raise SchemaMismatchError(
                f"the registry tells no guid of subject {quoted(subject)}; set"
                " schema_id_location='prefix'"
            )
        return guid_header(guid) + self._suffix(), write

    async def _find(self, subject: str) -> RegisteredSchema:
        if self._use_latest:
            return await self._registry.get_latest_version(subject)
        return await self._find_schema(subject, await self._schema_to_write())

    async def _find_schema(self, subject: str, schema: Schema) -> RegisteredSchema:
        ask = (
            self._registry.register_schema if self._auto_register else self._registry.lookup_schema
        )
        return await ask(subject, schema, normalize=self._normalize)

    def _suffix(self) -> bytes:
        """Return what stands behind the id."""
        return b""

    async def _record_name(self) -> str | None:
        """Return the name of the schema's type."""
        return None

    @abstractmethod
    async def _schema_to_write(self) -> Schema:
        """Return the schema given by the user."""

    @abstractmethod
    def _writer(self, schema: Schema, references: Mapping[SchemaReference, Schema]) -> Write:
        """Return what writes objects of a schema. Raises: SchemaMismatchError."""

    def _own_schema(
        self, schema: Schema | SchemaText | None, to_dict: Callable[[Any], Any] | None
    ) -> Schema | None:
        """Return the schema that a user gave. Raises: KafkaConfigurationError."""
        if to_dict is not None and not callable(to_dict):
            raise KafkaConfigurationError(
                f"to_dict: {shown(to_dict)} cannot be called; give a function of one argument"
            )
        if schema is None and not self._use_latest:
            raise KafkaConfigurationError(
                f"{type(self).__name__} needs a schema, or use_latest_version=True"
            )
        return None if schema is None else schema_of(schema, self._kind)


__all__ = ["SchemaIdLocation", "SchemaSerializer", "Write"]
