"""The ready serializers, and the two shapes a user's own may have."""

import pytest

from aiokafka_lite.serialization import (
    Deserializer,
    Headers,
    Serializer,
    bytes_deserializer,
    bytes_serializer,
    int_deserializer,
    int_serializer,
    json_deserializer,
    json_serializer,
    str_deserializer,
    str_serializer,
    topic_deserializer,
    topic_serializer,
)


def test_bytes_pass_through_and_a_str_does_not() -> None:
    assert bytes_serializer(b"x") == b"x"
    assert bytes_serializer(bytearray(b"x")) == b"x"
    assert bytes_serializer(memoryview(b"x")) == b"x"
    assert bytes_deserializer(b"x") == b"x"
    with pytest.raises(TypeError, match="expected bytes, got str"):
        bytes_serializer("x")  # type: ignore[arg-type]  # what the test is about


def test_text_is_utf8() -> None:
    assert str_serializer("żółć €") == "żółć €".encode()
    assert str_deserializer(b"\xe2\x82\xac") == "€"
    with pytest.raises(TypeError, match="expected str, got bytes"):
        str_serializer(b"x")  # type: ignore[arg-type]  # what the test is about
    with pytest.raises(ValueError, match="utf-8"):
        str_deserializer(b"\xff")


def test_json_is_compact_and_strict() -> None:
    assert json_serializer({"a": [1, None, "€"]}) == '{"a":[1,null,"€"]}'.encode()
    assert json_deserializer(b'{"a": 1}') == {"a": 1}
    with pytest.raises(TypeError):
        json_serializer(object())
    with pytest.raises(ValueError, match="JSON"):
        json_serializer(float("nan"))
    with pytest.raises(ValueError, match="Expecting"):
        json_deserializer(b"{")


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, -(2**63)])
def test_int_has_javas_shape(number: int) -> None:
    data = int_serializer(number)
    assert len(data) == 8
    assert int_deserializer(data) == number


def test_int_reads_javas_integer_and_refuses_other_sizes() -> None:
    assert int_deserializer(b"\xff\xff\xff\xfe") == -2
    with pytest.raises(ValueError, match="4 or 8 bytes, these are 3"):
        int_deserializer(b"abc")
    with pytest.raises(OverflowError):
        int_serializer(2**63)


def test_plain_callables_are_asked_with_the_value_alone() -> None:
    plain: Serializer[str] = str_serializer
    assert topic_serializer(plain)("t", (), "x") == b"x"
    back: Deserializer[str] = str_deserializer
    assert topic_deserializer(back)("t", (), b"x") == "x"


def test_objects_with_the_long_form_are_told_topic_and_headers() -> None:
    class Registry:
        def serialize(self, topic: str, headers: Headers, obj: str) -> bytes:
            return f"{topic}/{len(headers)}/{obj}".encode()

        def deserialize(self, topic: str, headers: Headers, data: bytes) -> str:
            return f"{topic}/{len(headers)}/{data.decode()}"

    assert topic_serializer(Registry())("t", [("h", b"1")], "x") == b"t/1/x"
    assert topic_deserializer(Registry())("t", [], b"x") == "t/0/x"
