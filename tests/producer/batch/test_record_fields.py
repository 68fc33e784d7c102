from typing import Any

import pytest

from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaError,
    MessageSizeTooLargeError,
    SerializationError,
)
from aiokafka_lite.producer.batch.record_fields import (
    RecordSerializers,
    check_bytes,
    check_size,
    checked_timestamp,
    freeze_headers,
    is_encodable,
    is_topic,
)
from aiokafka_lite.serialization import json_serializer


def test_bytes_pass_and_other_buffers_are_copied() -> None:
    data = bytearray(b"abc")
    copy = check_bytes("value", data)
    data[0] = 0
    assert copy == b"abc"
    assert check_bytes("value", memoryview(b"xy")) == b"xy"
    assert check_bytes("key", None) is None
    same = b"same"
    assert check_bytes("key", same) is same


def test_str_without_serializer_names_field_type_and_remedy() -> None:
    """A `str` without a serializer raises an error naming field, type and remedy (C4)."""
    with pytest.raises(TypeError, match=r"value is of type str.*value_serializer=lambda") as e:
        check_bytes("value", "text")
    assert isinstance(e.value, SerializationError)
    assert isinstance(e.value, KafkaError)
    with pytest.raises(TypeError, match=r"key is of type int.*key_serializer"):
        check_bytes("key", 5)


def test_serializers_get_topic_headers_and_object() -> None:
    """A serializer gets the topic, the headers and the object (C3)."""

    class Schema:
        def serialize(self, topic: str, headers: Any, obj: Any) -> bytes:
            headers.append(("schema", b"7"))
            return f"{topic}:{obj}".encode()

    serializers = RecordSerializers(None, Schema())
    headers: list[tuple[str, bytes | None]] = [("a", b"1")]
    assert serializers
    assert serializers.to_bytes("value", "t", headers, 5) == b"t:5"
    assert headers == [("a", b"1"), ("schema", b"7")]
    assert serializers.to_bytes("key", "t", headers, b"plain") == b"plain"
    assert serializers.to_bytes("value", "t", headers, None) is None
    assert not RecordSerializers(None, None)


def test_a_serializer_that_fails_is_named_and_chained() -> None:
    serializers = RecordSerializers(None, json_serializer)
    with pytest.raises(SerializationError, match=r"json_serializer .*value of type set.*'t'") as e:
        serializers.to_bytes("value", "t", [], {1})
    assert isinstance(e.value.__cause__, TypeError)


def test_a_serializer_that_returns_no_bytes_is_named() -> None:
    serializers = RecordSerializers(lambda obj: obj, None)
    with pytest.raises(SerializationError, match=r"key_serializer .* returned int .*bytes"):
        serializers.to_bytes("key", "t", [], 5)
    buffers = RecordSerializers(bytearray, None)  # type: ignore[arg-type]
    assert buffers.to_bytes("key", "t", [], b"k") == b"k"


def test_headers_are_frozen() -> None:
    """Headers are copied, so that later changes to the caller's list have no effect (C3)."""
    name_and_value = ["b", bytearray(b"2")]
    given = [("a", b"1"), name_and_value, ("c", None)]
    frozen = freeze_headers(given)  # type: ignore[arg-type]
    name_and_value[1][:] = b"9"  # type: ignore[index]
    given.clear()
    assert frozen == (("a", b"1"), ("b", b"2"), ("c", None))
    assert freeze_headers(None) == ()
    assert freeze_headers(iter([("a", b"1")])) == (("a", b"1"),)


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({"a": b"1"}, r"type dict.*list\(headers.items\(\)\)"),
        ("ab", "type str"),
        (5, "type int"),
        ([("a", b"1"), ("b", "2")], "header 1, 'b', has a value of type str"),
        ([(b"a", b"1")], "header 0 has a name of type bytes"),
        ([("a", b"1", b"2")], "header 0 is tuple, not a"),
        (["ab"], "header 0 is str"),
    ],
)
def test_bad_headers_are_named(headers: object, text: str) -> None:
    with pytest.raises(SerializationError, match=text):
        freeze_headers(headers)  # type: ignore[arg-type]  # that is what is tested


def test_sizes_name_the_option_that_is_too_small() -> None:
    """A record that is too large raises an error naming the option that limits it (C3)."""
    check_size(1000, max_request_size=1000, buffer_memory=2000)
    with pytest.raises(
        MessageSizeTooLargeError, match=r"1,204,112 bytes .* exceeds max_request_size of 1,048,576"
    ):
        check_size(1_204_112, max_request_size=1_048_576, buffer_memory=500)
    with pytest.raises(MessageSizeTooLargeError, match="raise buffer_memory or send smaller"):
        check_size(1000, max_request_size=1000, buffer_memory=500)


@pytest.mark.parametrize("timestamp", [-(2**63) - 1, 2**63, 1.5, "5", True])
def test_timestamps_are_milliseconds(timestamp: object) -> None:
    assert checked_timestamp(0) == 0
    assert checked_timestamp(2**63 - 1) == 2**63 - 1
    with pytest.raises(IllegalArgumentError, match="timestamp_ms="):
        checked_timestamp(timestamp)  # type: ignore[arg-type]  # that is what is tested


def test_type_checks_for_untyped_callers() -> None:
    assert is_topic("t")
    assert not is_topic("")
    assert not is_topic(None)


def test_a_header_name_that_utf_8_cannot_encode_is_refused_by_its_number() -> None:
    """A header name that UTF-8 cannot encode is refused, named by its place (C4)."""
    with pytest.raises(SerializationError, match=r"header 1 has a name that UTF-8"):
        freeze_headers([("é", b"x"), ("n\udc80", b"x")])
    assert is_encodable("é")
