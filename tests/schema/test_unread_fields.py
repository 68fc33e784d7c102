"""A message may leave fields unread: its decoder steps over them, and reads the others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.schema.field_types import Bool, Bytes, Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Message
from aiokafka_lite.schema.versioned_struct import Struct


class Leaf(Struct):
    """An element with each kind of field."""

    name: String | None = field(default=None, doc="…")
    raw: Bytes = field(doc="…")
    flag: Bool = field(doc="…")
    topic_id: Uuid = field(doc="…")
    late: String = field(versions="2+", tag=0, default="", doc="…")
    numbers: list[Int32] | None = field(default=None, doc="…")


class Branch(Struct):
    """An element with a list that may be left unread."""

    before: Int16 = field(doc="…")
    leaves: list[Leaf] | None = field(default=None, doc="…")
    one: Leaf | None = field(default=None, doc="…")
    after: String = field(doc="…")


class Whole(Message, versions="0-2", flexible="1+"):
    """Reads everything."""

    branches: list[Branch] = field(doc="…")


class Part(Whole):
    """Leaves two fields of each branch unread."""

    unread = ("branches.leaves", "branches.one")


texts = st.text(max_size=200)
leaves = st.builds(
    lambda name, raw, flag, numbers: Leaf(name=name, raw=raw, flag=flag, numbers=numbers),
    st.none() | texts,
    st.binary(max_size=200),
    st.booleans(),
    st.none() | st.lists(st.integers(-5, 5), max_size=3),
)
branches = st.builds(
    lambda before, several, one, after: Branch(before=before, leaves=several, one=one, after=after),
    st.integers(-5, 5),
    st.none() | st.lists(leaves, max_size=3),
    st.none() | leaves,
    texts,
)


def strip(whole: Whole) -> list[tuple[int, str]]:
    return [(each.before, each.after) for each in whole.branches]


@given(several=st.lists(branches, max_size=4), repeats=st.integers(1, 3), version=st.integers(0, 2))
def test_the_other_fields_are_read_as_before(
    several: list[Branch], repeats: int, version: int
) -> None:
    whole = Whole(branches=[each for each in several for _ in range(repeats)])
    data = b"".join(whole.encode(version))
    read = Part.decode(data, version)
    assert strip(read) == strip(whole)
    assert all(each.leaves is None and each.one is None for each in read.branches)


@given(one=branches, version=st.integers(0, 2), data=st.data())
def test_a_frame_that_is_cut_is_refused(one: Branch, version: int, data: st.DataObject) -> None:
    frame = b"".join(Whole(branches=[one, one]).encode(version))
    cut = data.draw(st.integers(0, len(frame) - 1))
    with pytest.raises(ProtocolDecodeError):
        Part.decode(frame[:cut], version)


def test_a_count_beyond_the_frame_is_refused_before_anything_is_made() -> None:
    frame = bytearray(b"".join(Whole(branches=[Branch(leaves=[Leaf()], after="x")]).encode(0)))
    frame[6:10] = (2**31 - 1).to_bytes(4, "big")
    with pytest.raises(ProtocolDecodeError):
        Part.decode(bytes(frame), 0)
