import pytest

from aiokafka_lite.errors import ProtocolDecodeError, UnsupportedVersionError
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.version_range import VersionRange
from tests.schema.declared import Answer, Ask, Empty, Inner


def test_class_facts() -> None:
    assert Ask.api_key == Answer.api_key == 77
    assert Ask.versions == VersionRange(0, 2)
    assert Ask.flexible == VersionRange.parse("1+")


def test_a_request_knows_what_answers_it() -> None:
    assert Ask.response_type is Answer
    assert Ask().response_type is Answer


def test_what_answers_a_request_is_looked_up_once_and_for_its_class_alone() -> None:
    """Every answer asks for it: a look-up costs 2 us, an attribute of the class next to nothing."""

    class First(Request[Answer]):
        pass

    class Other(Response):
        pass

    class Second(Request[Other]):
        pass

    assert First.response_type is Answer
    assert Second.response_type is Other
    assert First.__dict__["response_type"] is Answer


def test_a_request_without_an_answer_is_refused_when_asked() -> None:
    class Mute(Request):  # type: ignore[type-arg]  # what the test is about
        pass

    with pytest.raises(TypeError, match="Mute does not say what answers it"):
        _ = Mute.response_type


def test_round_trip_in_each_version() -> None:
    message = Answer(items=[Inner(number=1)], secret=b"s")
    for version in range(3):
        raw = b"".join(message.encode(version))
        assert Answer.decode(raw, version) == message
        assert Answer.decode(memoryview(raw), version) == message


def test_a_version_out_of_range_is_refused_with_the_range() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"Ask v3 is not spoken here; versions 0-2"):
        Ask().encode(3)
    with pytest.raises(UnsupportedVersionError, match="Answer v-1 is not spoken here"):
        Answer.decode(b"", -1)


def test_an_empty_message_has_no_bytes_until_it_is_flexible() -> None:
    assert Empty().encode(0) == []
    assert Empty().encode(1) == [b"\x00"]
    assert Empty.decode(b"", 0) == Empty()
    assert Empty.decode(b"\x00", 1) == Empty()


def test_functions_are_compiled_once_per_version() -> None:
    Ask().encode(1)
    first = Ask._encoders[1]
    Ask().encode(1)
    assert Ask._encoders[1] is first
    assert Ask._encoders is not Answer._encoders


def test_bytes_left_over_are_an_error() -> None:
    raw = b"".join(Ask(what="x").encode(0))
    with pytest.raises(ProtocolDecodeError, match="Ask v0: 1 bytes are left over after its 3"):
        Ask.decode(raw + b"\x00", 0)
