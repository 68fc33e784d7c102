"""A library that is missing is named together with its extra."""

import sys

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.schema_registry.libraries import library


def test_a_library_is_imported() -> None:
    assert library("google.protobuf.message").__name__ == "google.protobuf.message"


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("httpx", "schema-registry"),
        ("fastavro", "avro"),
        ("jsonschema", "json-schema"),
        ("referencing", "json-schema"),
        ("google.protobuf.message", "protobuf"),
    ],
)
def test_the_extra_is_named(name: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(KafkaConfigurationError, match=rf"pip install 'aiokafka-lite\[{extra}\]'"):
        library(name)
