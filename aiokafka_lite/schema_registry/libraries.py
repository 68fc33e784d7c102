"""Imports a format's library at its first use, or names the extra that brings it. Does not wait."""

import importlib
from typing import Any

from aiokafka_lite.errors import KafkaConfigurationError

_EXTRAS = {
    "httpx": ("a schema registry", "schema-registry"),
    "fastavro": ("Avro", "avro"),
    "jsonschema": ("JSON Schema", "json-schema"),
    "referencing": ("JSON Schema", "json-schema"),
    "google.protobuf": ("Protobuf", "protobuf"),
}


def library(name: str) -> Any:
    """Return a module. Raises: KafkaConfigurationError naming the extra that has it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        what, extra = next(_EXTRAS[each] for each in _EXTRAS if name.startswith(each))
        raise KafkaConfigurationError(
            f"{what} needs {name}: pip install 'aiokafka-lite[{extra}]' ({error})"
        ) from error


__all__ = ["library"]
