"""What the calls about groups take."""

from typing import Any

import pytest

from aiokafka_lite.admin import MemberDescription, MemberToRemove
from aiokafka_lite.admin.groups.group_values import (
    checked_id,
    checked_ids,
    checked_member,
    checked_members,
    checked_reason,
    to_remove,
)
from aiokafka_lite.errors import IllegalArgumentError


@pytest.mark.parametrize("value", ["g", 7, None, [7], ["\ud800"]])
def test_groups_stand_in_a_list(value: Any) -> None:
    with pytest.raises(IllegalArgumentError):
        checked_ids(value)


def test_each_group_is_asked_for_once() -> None:
    assert checked_ids(["b", "a", "b"]) == ["b", "a"]
    assert checked_ids({"a": None}) == ["a"]
    assert checked_id("") == ""


def test_one_member_is_no_list() -> None:
    assert checked_members(["m"]) == [MemberToRemove(member_id="m")]
    for one in ("m", MemberToRemove("m")):
        with pytest.raises(IllegalArgumentError, match=r"members: .* is no list"):
            checked_members(one)  # type: ignore[arg-type]


def test_members_to_remove() -> None:
    assert checked_member("m") == MemberToRemove(None, "m")
    assert checked_member(MemberToRemove("one", "")) == MemberToRemove("one", None)
    for bad in (MemberToRemove(), 7, "", MemberToRemove("\ud800")):
        with pytest.raises(IllegalArgumentError):
            checked_member(bad)


def test_a_static_member_is_removed_by_its_name() -> None:
    static = MemberDescription("m", "one", "c", "/h", frozenset())
    assert to_remove(static) == MemberToRemove(group_instance_id="one")
    dynamic = MemberDescription("m", None, "c", "/h", frozenset())
    assert to_remove(dynamic) == MemberToRemove(member_id="m")


def test_a_reason_has_at_most_255_characters() -> None:
    assert checked_reason(None) == "removed by an administrator"
    assert checked_reason("late") == "removed by an administrator: late"
    assert len(checked_reason("x" * 1000)) == 255
    with pytest.raises(IllegalArgumentError):
        checked_reason("\ud800")
