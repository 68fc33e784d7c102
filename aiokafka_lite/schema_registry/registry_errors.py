"""Errors of a schema registry. Each names the subject or id, the URL, the status and a remedy.

A `SchemaRegistryError` says nothing about a record. `WireFormatError` and `SchemaMismatchError` do:
the same bytes fail again. Does not wait.
"""

from aiokafka_lite.errors import SerializationError
from aiokafka_lite.kafka_error import Fault, KafkaError


class SchemaRegistryError(KafkaError):
    """A schema registry refused a request, or its answer cannot be used."""

    fault = Fault.CLUSTER

    def __init__(self, text: str = "", *, status: int = 0, error_code: int = 0) -> None:
        super().__init__(text)
        self.status = status
        """The HTTP status; 0 if there was no answer."""
        self.error_code = error_code
        """The registry's own code, such as 40403; 0 without one."""


class RegistryUnavailableError(SchemaRegistryError):
    """No address of the registry answered in time; another attempt may help."""

    fault = Fault.NETWORK
    retriable = True


class RegistryAuthorizationError(SchemaRegistryError):
    """The registry refused the credentials, or the rights of their owner (401, 403)."""

    fault = Fault.USER


class UnknownSchemaError(SchemaRegistryError):
    """The registry does not know the schema, subject or version (404)."""

    fault = Fault.USER


class IncompatibleSchemaError(SchemaRegistryError):
    """The registry refused a schema that is not compatible with its subject (409)."""

    fault = Fault.USER


class InvalidSchemaError(SchemaRegistryError):
    """The registry cannot read a schema or version (422)."""

    fault = Fault.USER


class WireFormatError(SerializationError):
    """Bytes that do not begin with the id of a schema."""


class SchemaMismatchError(SerializationError):
    """A schema whose values the serializer or deserializer cannot write or read."""


__all__ = [
    "IncompatibleSchemaError",
    "InvalidSchemaError",
    "RegistryAuthorizationError",
    "RegistryUnavailableError",
    "SchemaMismatchError",
    "SchemaRegistryError",
    "UnknownSchemaError",
    "WireFormatError",
]
