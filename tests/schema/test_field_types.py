from typing import Annotated, get_args, get_origin

import pytest

from aiokafka_lite.schema import field_types
from aiokafka_lite.schema.field_types import ABSENT, ZERO_UUID, Primitive, field
from aiokafka_lite.schema.version_range import VersionRange

PRIMITIVES = {
    name: get_args(alias)[1]
    for name, alias in vars(field_types).items()
    if get_origin(alias) is Annotated
}


def test_each_wire_type_has_kafkas_name() -> None:
    assert {name: primitive.name for name, primitive in PRIMITIVES.items()} == {
        name: name.lower() for name in PRIMITIVES
    }
    assert len(PRIMITIVES) == 12


def test_zero_of_an_id_is_the_null_id() -> None:
    assert PRIMITIVES["Uuid"].zero is ZERO_UUID
    assert isinstance(PRIMITIVES["Records"], Primitive)
    assert PRIMITIVES["Records"].zero is None


def test_field_of_all_versions_is_the_default() -> None:
    spec = field(doc="x")
    assert spec.versions == VersionRange.ALL
    assert spec.default is ABSENT
    assert repr(spec.default) == "<the type's zero>"
    assert spec.tagged == VersionRange.NONE


def test_a_tag_applies_to_all_versions_of_the_field_unless_said() -> None:
    assert field(versions="3+", tag=0, doc="x").tagged == VersionRange.parse("3+")
    assert field(versions="3+", tag=0, tagged="5+", doc="x").tagged == VersionRange.parse("5+")


def test_tagged_versions_without_a_tag_are_refused() -> None:
    with pytest.raises(TypeError, match="needs a tag number"):
        field(tagged="5+", doc="x")
