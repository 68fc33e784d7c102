"""The bytes in front of values, compared with those of confluent-kafka."""

import io
from uuid import uuid4

import pytest
from confluent_kafka.schema_registry.serde import SchemaId

from aiokafka_lite.schema_registry.registry_errors import WireFormatError
from aiokafka_lite.schema_registry.wire_format import (
    end_of_indexes,
    end_of_key_in_front,
    guid_header,
    guid_of,
    id_prefix,
    key_in_headers,
    message_indexes,
    schema_id_of,
    schema_key,
)


@pytest.mark.parametrize("schema_id", [0, 1, 4711, 2**31 - 1, 2**32 - 1])
def test_the_prefix_is_confluents(schema_id: int) -> None:
    prefix = id_prefix(schema_id)
    assert prefix == SchemaId("AVRO", schema_id).id_to_bytes()
    assert schema_id_of(prefix + b"x") == schema_id


@pytest.mark.parametrize("indexes", [[0], [1], [0, 0], [2, 1, 0], [63, 64, 8191, 8192], [300_000]])
def test_message_indexes_are_confluents(indexes: list[int]) -> None:
    written = message_indexes(indexes)
    assert id_prefix(7) + written == SchemaId("PROTOBUF", 7, None, indexes).id_to_bytes()
    assert end_of_indexes(b"12345" + written + b"rest", 5) == 5 + len(written)


def test_the_header_is_confluents() -> None:
    guid = str(uuid4())
    assert guid_header(guid) == SchemaId("AVRO", None, guid).guid_to_bytes()
    assert guid_of(guid_header(guid)) == guid
    theirs = SchemaId("PROTOBUF")
    theirs.from_bytes(io.BytesIO(guid_header(guid) + message_indexes([1, 2])))
    assert (str(theirs.guid), theirs.message_indexes) == (guid, [1, 2])


@pytest.mark.parametrize("data", [b"", b"\0\0\0\0", b"\1\0\0\0\7x", b"{id: 7}"])
def test_other_bytes_are_no_prefix(data: bytes) -> None:
    with pytest.raises(WireFormatError, match=r"id of a schema|schema's id"):
        schema_id_of(data)


@pytest.mark.parametrize("header", [b"", b"\1", b"\0" * 4, b"\1" * 16, b"\2" * 17])
def test_other_bytes_are_no_header(header: bytes) -> None:
    with pytest.raises(WireFormatError, match=f"header h of {len(header)} bytes holds neither"):
        key_in_headers([("h", header)], "h")


def test_each_form_is_a_key_and_what_follows_is_none_of_it() -> None:
    guid = guid_header(str(uuid4()))
    for key in (id_prefix(7), guid):
        assert schema_key(key + b"rest") == key
        assert key_in_headers([("h", key + b"rest"), ("i", b"")], "h") == key
        assert end_of_key_in_front(key + b"rest") == len(key)
    assert key_in_headers([("h", id_prefix(1)), ("h", id_prefix(2))], "h") == id_prefix(2)
    assert key_in_headers([("h", id_prefix(1)), ("h", None)], "h") is None, "as Java's"
    with pytest.raises(WireFormatError, match="begins with the guid"):
        schema_id_of(guid)


@pytest.mark.parametrize(
    "data", [b"", b"\x80", b"\x80" * 20, b"\x04\x00", message_indexes([0] * 101)]
)
def test_indexes_that_do_not_end_are_refused(data: bytes) -> None:
    with pytest.raises(WireFormatError, match="indexes"):
        end_of_indexes(data, 0)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(WireFormatError, match="-1 message indexes"):
        end_of_indexes(b"\x01", 0)
