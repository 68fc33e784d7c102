"""Rows of aiokafka's answers."""

from aiokafka_lite.admin.groups.raw_groups import DescribedGroupRow, DescribeGroupsAnswer
from aiokafka_lite.protocol.messages.describe_groups import DescribedGroup, DescribedGroupMember


def test_a_row_has_aiokafkas_fields() -> None:
    member = DescribedGroupMember(
        member_id="m", client_id="c", client_host="/h", member_metadata=b"1", member_assignment=b"2"
    )
    group = DescribedGroup(
        group_id="g",
        group_state="Stable",
        protocol_type="consumer",
        protocol_data="range",
        members=[member],
        authorized_operations=8,
    )
    row = DescribedGroupRow.of(group)
    assert tuple(row) == (0, "g", "Stable", "consumer", "range", [("m", "c", "/h", b"1", b"2")])
    assert row.authorized_operations == 8
    answer = DescribeGroupsAnswer(3, [row])
    assert answer.throttle_time_ms == 3
    assert answer.to_object()["groups"][0]["members"][0]["member_metadata"] == b"1"
    assert set(answer.to_object()) == {"throttle_time_ms", "groups"}
