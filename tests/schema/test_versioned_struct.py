import copy
from uuid import UUID

import pytest

from aiokafka_lite.schema.field_types import ZERO_UUID, Int32, String, field
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.schema.versioned_struct import Struct, fields_of, shared_default
from tests.schema.declared import Answer, Empty, Everything, Inner


def test_every_field_has_a_default() -> None:
    message = Everything()
    assert message.flag is True
    assert message.medium == 0x7FFFFFFF
    assert message.text == "x"
    assert message.maybe_blob == b""
    assert message.batches is None
    assert message.id is ZERO_UUID
    assert message.inner == Inner()
    assert message.maybe_inner is None
    assert message.names == []
    assert message.inners == []


def test_each_message_has_lists_of_its_own() -> None:
    one, other = Everything(), Everything()
    one.names.append("a")
    assert other.names == []
    given_list = ["b"]
    assert Everything(names=given_list).names is given_list


def test_constructor_takes_keywords_only_and_no_unknown_ones() -> None:
    assert Inner(number=3).number == 3
    with pytest.raises(TypeError):
        Inner(3)  # type: ignore[call-arg]  # what the test is about
    with pytest.raises(TypeError, match="unknown"):
        Inner(unknown=3)  # type: ignore[call-arg]  # what the test is about


def test_an_attribute_that_is_no_field_cannot_be_set() -> None:
    with pytest.raises(AttributeError):
        Inner().nubmer = 3  # type: ignore[attr-defined]  # what the test is about


def test_equal_fields_make_equal_structs() -> None:
    assert Inner(number=1) == Inner(number=1)
    assert Inner(number=1) != Inner(number=2)
    assert Inner() != Answer()
    assert Everything(batches=b"ab") == Everything(batches=memoryview(b"ab"))
    assert Empty() == Empty()
    assert Inner().__eq__(3) is NotImplemented


def test_a_struct_is_mutable_and_not_hashable() -> None:
    item = Inner()
    item.number = 5
    assert item == Inner(number=5)
    with pytest.raises(TypeError, match="unhashable"):
        hash(item)


def test_repr_shows_what_differs_from_the_default_but_no_payload() -> None:
    assert repr(Inner()) == "Inner()"
    assert repr(Inner(number=1, name=None)) == "Inner(number=1, name=None)"
    assert repr(Answer(secret=b"password")) == "Answer(secret=<8 bytes>)"
    assert repr(Everything(inners=None)) == "Everything(inners=None)"
    assert repr(Everything(batches=b"xyz", id=UUID(int=1))) == (
        "Everything(id=UUID('00000000-0000-0000-0000-000000000001'), batches=<3 bytes>)"
    )


def test_a_copy_is_independent() -> None:
    message = Everything(names=["a"], inner=Inner(number=2))
    clone = copy.deepcopy(message)
    clone.names.append("b")
    clone.inner.number = 3
    assert message == Everything(names=["a"], inner=Inner(number=2))


def test_the_shared_default_refuses_writes_and_says_what_to_do() -> None:
    """A decoded struct field that was not on the wire holds one object shared by all messages."""
    default = shared_default(Inner)
    assert default is Everything().inner
    assert default == Inner()
    assert Inner() == default
    assert repr(default) == "Inner()"
    assert copy.deepcopy(default) is copy.copy(default) is default
    with pytest.raises(AttributeError, match=r"assign a new Inner\(number=...\)"):
        Everything().inner.number = 3


def test_fields_know_their_facts() -> None:
    facts = {item.name: item for item in fields_of(Everything)}
    assert facts["inners"].nullable == VersionRange.parse("1+")
    assert facts["maybe_inner"].nullable == VersionRange.parse("2+")
    assert facts["names"].nullable == VersionRange.NONE
    assert facts["tag_inner"].tag == 1
    assert facts["tag_inner"].tagged == VersionRange.parse("2+")
    assert facts["dropped"].ignorable
    assert facts["flag"].doc == "bool"
    assert fields_of(type(shared_default(Inner))) is fields_of(Inner)


class NullableWithoutNone(Struct):
    name: String = field(nullable="1+", doc="x")


class NoneWithoutNullable(Struct):
    name: String = field(default=None, doc="x")


class ListWithDefault(Struct):
    names: list[String] = field(default=["a"], doc="x")


class NoWireType(Struct):
    size: int = field(doc="x")


class TwoTypes(Struct):
    size: Int32 | String = field(doc="x")


@pytest.mark.parametrize(
    ("declared", "reported"),
    [
        (NullableWithoutNone, "NullableWithoutNone.name is nullable in 1"),
        (NoneWithoutNullable, "NoneWithoutNullable.name has the default None"),
        (ListWithDefault, "ListWithDefault.names: the default of a list or struct"),
        (NoWireType, "NoWireType.size: <class 'int'> is not a wire type"),
        (TwoTypes, "TwoTypes.size: .* is not a wire type"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(
    declared: type[Struct], reported: str
) -> None:
    with pytest.raises(TypeError, match=reported):
        declared()
