"""What compiled functions do, whatever wrote them: round trips, hostile bytes, refused values."""

import contextlib
import traceback
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiokafka_lite.errors import ProtocolDecodeError, UnsupportedVersionError
from aiokafka_lite.protocol.api_registry import API_BY_KEY
from aiokafka_lite.schema.message import Message
from tests.schema.declared import Answer, Ask, Everything, Inner
from tests.support.strategies import LARGE_RECORDS, messages, rich_message

ANY_VERSION = st.integers(Everything.versions.min, Everything.versions.max)
TYPES = [side for api in API_BY_KEY.values() for side in (api.request, api.response)]


def encoded(message: Message, version: int) -> bytes:
    return b"".join(message.encode(version))


@given(ANY_VERSION.flatmap(lambda v: st.tuples(st.just(v), messages(Everything, v))))
def test_any_message_comes_back_equal(drawn: tuple[int, Everything]) -> None:
    version, message = drawn
    raw = encoded(message, version)
    assert Everything.decode(memoryview(raw), version) == message
    assert Everything.decode(raw, version) == message


@pytest.mark.parametrize("cls", TYPES, ids=lambda cls: cls.__name__)
def test_every_version_of_every_message_comes_back_equal(cls: type[Message]) -> None:
    for version in range(cls.versions.min, cls.versions.max + 1):
        for message in (rich_message(cls, version), cls()):
            assert cls.decode(encoded(message, version), version) == message


# Layout…


def test_types_lie_on_the_wire_as_the_protocol_says() -> None:
    """Hand-made from the protocol guide's table of primitive types."""
    message = Everything(
        flag=True,
        tiny=-2,
        small=3,
        medium=4,
        large=5,
        port=65535,
        mask=2**32 - 1,
        ratio=0.5,
        id=UUID(int=6),
        text="é",
        blob=b"\x01",
        maybe_blob=None,
        batches=b"\x02\x03",
        inner=Inner(number=7, name="n"),
        numbers=[8],
        flags=[True, False],
        names=["a", ""],
        inners=None,
        old_style="o",
    )
    fixed = "01 fe 0003 00000004 0000000000000005 ffff ffffffff 3fe0000000000000" + "00" * 15 + "06"
    v1 = (
        fixed + "0002c3a9 0000000101 ffffffff 000000020203 00000007 0001 6e"
        "00000001 00000008 00000002 0100 00000000 00000002 0001 61 0000 ffffffff"
        "fffffffb 0000 0001 6f"
    )
    assert encoded(message, 1).hex(" ") == bytes.fromhex(v1).hex(" ")
    message.tag_id = UUID(int=9)
    message.tag_text = "t"
    message.tag_inner = Inner(number=1, name=None)
    v2 = (
        fixed + "03c3a9 0201 00 030203 00000007 026e 00 ff"
        "02 00000008 03 0100 01 03 0261 01 00 0001 6f"
        "03"
        "00 10" + "00" * 15 + "09"
        "01 06 00000001 00 00"
        "03 02 0274"
    )
    assert encoded(message, 2).hex(" ") == bytes.fromhex(v2).hex(" ")
    assert Everything.decode(bytes.fromhex(v2), 2) == message


def test_large_records_are_handed_on_without_a_copy() -> None:
    payload = bytearray(LARGE_RECORDS)
    parts = Everything(batches=memoryview(payload)).encode(3)
    assert len(parts) == 3
    payload[0] = 0xEE
    assert bytes(parts[1])[0] == 0xEE


def test_small_records_are_joined_with_the_rest() -> None:
    assert len(Everything(batches=b"small").encode(3)) == 1


def test_records_are_decoded_as_views_of_the_frame() -> None:
    frame = bytearray(encoded(Everything(batches=b"records"), 3))
    message = Everything.decode(memoryview(frame), 3)
    assert isinstance(message.batches, memoryview)
    frame[frame.index(b"records")] = ord("R")
    assert bytes(message.batches) == b"Records"


def test_a_message_without_records_keeps_no_hold_of_its_frame() -> None:
    frame = bytearray(encoded(Answer(secret=b"s"), 0))
    answer = Answer.decode(memoryview(frame), 0)
    frame.clear()  # a buffer with exports could not be resized
    assert answer.secret == b"s"


def test_unknown_tagged_fields_are_skipped() -> None:
    """Tagged fields that this side does not know are skipped (KIP-482)."""
    raw = encoded(Ask(what="x"), 1)
    assert raw == b"\x02x\x00"
    assert Ask.decode(b"\x02x\x02\x05\x01\xff\x90\x01\x02\xaa\xbb", 1) == Ask(what="x")
    inner = Inner(number=1, name="", late=9)
    with_tag = encoded(Answer(items=[inner]), 2)
    assert Answer.decode(with_tag, 2).items == [Inner(number=1)]


def test_tagged_fields_cost_nothing_while_they_have_their_default() -> None:
    assert encoded(Everything(), 3).endswith(b"\x00\x00\x00")
    changed = Everything(tag_inner=Inner())
    assert encoded(changed, 3) == encoded(Everything(), 3)


# Hostile bytes…


@pytest.mark.parametrize(
    ("cls", "version", "raw", "reported"),
    [
        (Ask, 0, "ffff", "Ask v0: what is null, which this version does not allow"),
        (Ask, 0, "fffe", "what has the impossible length -2"),
        (Ask, 0, "7fff61", "what announces 32767 bytes, but 1 are left"),
        (Ask, 0, "00", "the frame of 1 bytes ends in the middle of a value"),
        (Ask, 0, "0001ff", "a string near byte 2 is not UTF-8"),
        (Ask, 1, "00", "what is null"),
        (Ask, 1, "ffffffff0f", "what has 4294967294 bytes, above the protocol's limit of 32767"),
        (Ask, 1, "ffffffffff", "Ask v1: varint at byte 0 has more than 5 bytes"),
        (Ask, 1, "ffffffff1f", "Ask v1: varint 8589934591 at byte 0 does not fit 32 bits"),
        (Ask, 1, "0278", "ends in the middle"),
        (Ask, 1, "027801", "Ask v1: varint at byte 3 is cut off"),
        (Ask, 1, "0278010005ff", "tagged field 0 announces 5 bytes at byte 5, but 1 are left"),
        (Answer, 0, "7fffffff", "items announces 2147483647 elements, more than the 0 bytes"),
        (Answer, 0, "80000000", "items has the impossible length -2147483648"),
        (Answer, 0, "ffffffff", "items is null"),
        (Answer, 1, "ffffffff0f00", "items announces 4294967294 elements"),
    ],
)
def test_hostile_lengths_are_refused_by_name(
    cls: type[Message], version: int, raw: str, reported: str
) -> None:
    with pytest.raises(ProtocolDecodeError, match=reported):
        cls.decode(bytes.fromhex(raw), version)


def test_a_tag_must_be_as_long_as_it_says() -> None:
    raw = encoded(Everything(tag_id=UUID(int=1)), 3)
    assert raw[-18:-16] == b"\x00\x10"
    longer = raw[:-18] + b"\x00\x11" + raw[-16:] + b"\x00"
    with pytest.raises(ProtocolDecodeError, match="tagged field 0 should end at"):
        Everything.decode(longer, 3)
    beyond = raw[:-18] + b"\x00\x7f" + raw[-16:]
    with pytest.raises(ProtocolDecodeError, match="tag 0 announces 127 bytes, but 16 are left"):
        Everything.decode(beyond, 3)


@pytest.mark.parametrize("cls", [*TYPES, Everything], ids=lambda cls: cls.__name__)
def test_garbage_is_a_message_or_a_protocol_error(cls: type[Message]) -> None:
    versions = range(cls.versions.min, cls.versions.max + 1)
    seeds = {version: encoded(rich_message(cls, version), version) for version in versions}

    @settings(max_examples=40, deadline=None)
    @given(
        st.sampled_from(versions), st.binary(max_size=40), st.integers(0, 400), st.integers(0, 9)
    )
    def decode(version: int, noise: bytes, at: int, cut: int) -> None:
        seed = seeds[version]
        at = min(at, len(seed))
        for raw in (noise, seed[:at] + noise + seed[at + cut :]):
            with contextlib.suppress(ProtocolDecodeError):
                cls.decode(memoryview(raw), version)

    decode()


def test_every_truncation_of_a_message_is_a_protocol_error() -> None:
    for version in range(4):
        raw = encoded(rich_message(Everything, version), version)
        for size in range(len(raw)):
            with pytest.raises(ProtocolDecodeError):
                Everything.decode(raw[:size], version)


# Values that cannot go out…


def test_a_set_field_the_version_lacks_is_refused_by_name() -> None:
    with pytest.raises(
        UnsupportedVersionError, match="Everything v2 has no field no_longer, which is set; leave"
    ):
        Everything(no_longer=1).encode(2)
    with pytest.raises(UnsupportedVersionError, match="v1 has no field tag_numbers"):
        Everything(tag_numbers=[1]).encode(1)
    with pytest.raises(UnsupportedVersionError, match=r"v0 has no field inners.name"):
        Everything(inners=[Inner(name="x")]).encode(0)
    assert encoded(Everything(), 2) == encoded(Everything(no_longer=-5), 2)


def test_an_ignorable_field_the_version_lacks_is_dropped() -> None:
    assert encoded(Everything(dropped="x"), 2) == encoded(Everything(), 2)
    assert encoded(Everything(maybe_inner=Inner()), 1) == encoded(Everything(), 1)


def test_null_that_the_version_does_not_allow_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedVersionError, match="v0 does not allow null for inners"):
        Everything(inners=None).encode(0)
    with pytest.raises(UnsupportedVersionError, match=r"v1 does not allow null for inner.name"):
        Everything(inner=Inner(name=None)).encode(1)


@pytest.mark.parametrize(
    ("values", "reported"),
    [
        ({"tiny": 128}, "Everything v3 cannot be encoded: tiny must be of type int8, not 128"),
        ({"numbers": [1, None]}, r"numbers\[1\] must be of type int32, not None"),
        ({"inners": [Inner(number=2**31)]}, r"inners\[0\].number must be of type int32"),
        ({"text": None}, "text must be of type string, not None"),
        ({"text": b"bytes"}, "text must be of type string"),
        ({"text": "x" * 32768}, "text has 32768 bytes, above the limit of 32767"),
        ({"old_style": "x" * 32768}, "old_style has 32768 bytes"),
        ({"blob": "text"}, "blob must be of type bytes"),
        ({"batches": "text" * 1000}, "batches must be of type records"),
        ({"id": "no id"}, "id must be of type uuid"),
        ({"inner": None}, "inner must be of type Inner, not None"),
        ({"names": None}, "names must be a list, not None"),
        ({"names": 5}, "names must be a list, not 5"),
        ({"tag_text": 3}, "tag_text must be of type string, not 3"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(
    values: dict[str, Any], reported: str
) -> None:
    with pytest.raises(ValueError, match=reported):
        Everything(**values).encode(3)


def test_generated_lines_show_in_tracebacks() -> None:
    with pytest.raises(ValueError, match="tiny") as caught:
        Everything(tiny=999).encode(3)
    cause = caught.value.__cause__
    assert cause is not None
    shown = "".join(traceback.format_exception(cause))
    assert "<Everything v3 encode>" in shown
    assert "message.tiny" in shown
