"""The bytes in front of values, compared with those of confluent-kafka."""

import io
from uuid import uuid4

import pytest
from confluent_kafka.schema_registry.serde import SchemaId

from aiokafka_lite.schema_registry.registry_errors import WireFormatError
from aiokafka_lite.schema_registry.wire_format import (
    end_of_indexes,
    guid_header,
    guid_of,
    id_prefix,
    message_indexes,
    schema_id_of,
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


@pytest.mark.parametrize("header", [None, b"", b"\1", b"\0" * 17, b"\1" * 16])
def test_other_bytes_are_no_header(header: bytes | None) -> None:
    with pytest.raises(WireFormatError, match="a byte 1 and a guid"):
        guid_of(header)


@pytest.mark.parametrize(
    "data", [b"", b"\x80", b"\x80" * 20, b"\x04\x00", message_indexes([0] * 101)]
)
def test_indexes_that_do_not_end_are_refused(data: bytes) -> None:
    with pytest.raises(WireFormatError, match="indexes"):
        end_of_indexes(data, 0)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(WireFormatError, match="-1 message indexes"):
        end_of_indexes(b"\x01", 0)
