"""The registry for tests answers confluent-kafka's client as a registry does."""

import pytest
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer


def test_a_client_registers_finds_and_deletes() -> None:
    with SchemaRegistryServer() as server, SchemaRegistryClient({"url": server.url}) as client:
        first = client.register_schema("t-value", Schema('"int"', "AVRO"))
        assert client.register_schema("u-value", Schema('"int"', "AVRO")) == first
        second = client.register_schema("t-value", Schema('"long"', "AVRO"))
        assert client.get_schema(second).schema_str == '"long"'
        assert client.get_versions("t-value") == [1, 2]
        assert client.get_latest_version("t-value").schema_id == second
        assert client.lookup_schema("t-value", Schema('"int"', "AVRO")).version == 1
        assert client.get_subjects() == ["t-value", "u-value"]
        assert client.delete_version("t-value", 1) == 1
        assert client.delete_subject("t-value") == [2]
        with pytest.raises(SchemaRegistryError, match="40401"):
            client.get_versions("t-value")


def test_what_is_deleted_stays_until_it_is_deleted_permanently() -> None:
    with SchemaRegistryServer() as server, SchemaRegistryClient({"url": server.url}) as client:
        client.register_schema("t", Schema('"int"', "AVRO"))
        client.register_schema("t", Schema('"long"', "AVRO"))
        assert client.delete_version("t", 1) == 1
        assert client.delete_subject("t") == [2]
        assert client.get_subjects() == []
        for version, text in ((1, '"int"'), (2, '"long"')):
            with pytest.raises(SchemaRegistryError, match="40401"):
                client.get_version("t", version)
            found = client.get_version("t", version, deleted=True)
            assert (found.version, found.schema.schema_str) == (version, text)
        client.register_schema("t", Schema('"string"', "AVRO"))
        assert client.get_versions("t") == [3]
        assert client.delete_subject("t") == [3]
        assert client.delete_subject("t", permanent=True) == [1, 2, 3]
        with pytest.raises(SchemaRegistryError, match="40401"):
            client.get_version("t", 1, deleted=True)
        with pytest.raises(SchemaRegistryError, match="40401"):
            client.delete_subject("t")


def test_a_schema_is_refused() -> None:
    with SchemaRegistryServer() as server, SchemaRegistryClient({"url": server.url}) as client:
        client.register_schema("t-value", Schema('"int"', "AVRO"))
        server.is_compatible = lambda subject, new, old: False
        with pytest.raises(SchemaRegistryError, match="409"):
            client.register_schema("t-value", Schema('"long"', "AVRO"))
        assert not client.test_compatibility("t-value", Schema('"long"', "AVRO"))
        with pytest.raises(SchemaRegistryError, match="42201"):
            client.register_schema("u-value", Schema("{wrong", "AVRO"))


def test_it_fails_as_often_as_asked_and_stops_twice() -> None:
    server = SchemaRegistryServer()
    server.start()
    server.register("t-value", "int", schema_id=7)
    with SchemaRegistryClient({"url": server.url, "max.retries": 0}) as client:
        server.failures = [422]
        with pytest.raises(SchemaRegistryError, match="50001"):
            client.get_schema(7)
        assert client.get_schema(7).schema_str == "int"
    assert server.requests[0].startswith("GET /schemas/ids/7")
    server.stop()
    server.stop()
