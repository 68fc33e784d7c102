"""Which errors blame the record, and which another attempt may cure."""

import pytest

from aiokafka_lite.errors import SerializationError
from aiokafka_lite.schema_registry import registry_errors as errors
from aiokafka_lite.schema_registry.registry_errors import SchemaRegistryError


@pytest.mark.parametrize("name", errors.__all__)
def test_an_error_is_about_the_registry_or_about_a_record(name: str) -> None:
    kind = getattr(errors, name)
    assert issubclass(kind, SchemaRegistryError) != issubclass(kind, SerializationError)
    assert kind.retriable == (name == "RegistryUnavailableError")


def test_the_status_and_the_registrys_code_are_told() -> None:
    error = errors.UnknownSchemaError("t-value", status=404, error_code=40401)
    assert (error.status, error.error_code) == (404, 40401)
    assert SchemaRegistryError("x").status == 0
