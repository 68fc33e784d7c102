"""Schemas of a registry: the client, serializers, deserializers and their errors.

httpx, fastavro, jsonschema and protobuf are imported at their first use.
"""

from aiokafka_lite.schema_registry.avro import AvroDeserializer, AvroSerializer
from aiokafka_lite.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from aiokafka_lite.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from aiokafka_lite.schema_registry.registered_schema import (
    RegisteredSchema,
    Schema,
    SchemaReference,
)
from aiokafka_lite.schema_registry.registry_errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    RegistryAuthorizationError,
    RegistryUnavailableError,
    SchemaMismatchError,
    SchemaRegistryError,
    UnknownSchemaError,
    WireFormatError,
)
from aiokafka_lite.schema_registry.schema_registry_client import SchemaRegistryClient
from aiokafka_lite.schema_registry.subject_names import (
    record_name_strategy,
    topic_name_strategy,
    topic_record_name_strategy,
)

__all__ = [
    "AvroDeserializer",
    "AvroSerializer",
    "IncompatibleSchemaError",
    "InvalidSchemaError",
    "JSONDeserializer",
    "JSONSerializer",
    "ProtobufDeserializer",
    "ProtobufSerializer",
    "RegisteredSchema",
    "RegistryAuthorizationError",
    "RegistryUnavailableError",
    "Schema",
    "SchemaMismatchError",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryError",
    "UnknownSchemaError",
    "WireFormatError",
    "record_name_strategy",
    "topic_name_strategy",
    "topic_record_name_strategy",
]
